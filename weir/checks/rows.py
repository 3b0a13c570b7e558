"""Whether rows of an answer meet the expectations that need no SQL, and which do not.

Rows are an Arrow table with a column of terms for each variable, and `weight`: how often the answer
has the row, or by how much that changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weir.checks.arguments import (
    Between,
    CompoundUnique,
    InSet,
    MatchRegex,
    NotNull,
    OfColumn,
    OfDelta,
    RowCount,
    Unique,
    Vanishing,
)
from weir.checks.values import Plain, is_within, key_as, key_of, lexical_of, value_of
from weir.lake.counted import counted

_OTHERS = ("epoch", "weight", "event_time")
SHOWN = 20
"""Most rows that are shown as examples."""
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check saw.

    Attributes:
        success: whether it holds.
        unexpected: how many rows do not meet it.
        examples: at most `SHOWN` of them, in order.
        detail: the figures, in a few words.
        is_mistake: whether the check names what is not there: then nobody knows what it would say.
    """

    success: bool
    unexpected: int = 0
    examples: tuple[Row, ...] = ()
    detail: str = ""
    is_mistake: bool = False


def column_outcome(said: OfColumn, rows: pa.Table) -> Outcome:
    """Whether the values of a column meet an expectation; but for NotNull, nulls count as met."""
    codes, values = _coded(rows[said.column], as_text=isinstance(said, MatchRegex))
    is_null = pc.is_null(codes)
    if isinstance(said, NotNull):
        unexpected, counts = is_null, rows["weight"]
    elif isinstance(said, Unique):
        often = _sums(codes, rows["weight"])
        repeated = pa.array([code for code, weight in often.items() if weight > 1], pa.int64())
        unexpected = pc.is_in(codes, repeated)
        counts = rows["weight"].filter(pc.invert(is_null))
    else:
        unexpected = pc.fill_null(pc.take(_misses(said, values), codes), False)
        counts = rows["weight"].filter(pc.invert(is_null))
    return _outcome(rows, unexpected, pc.sum(counts).as_py() or 0, said.mostly)


def compound_outcome(said: CompoundUnique, rows: pa.Table) -> Outcome:
    """Whether each combination of values is there once; two nulls are equal."""
    codes = [_coded(rows[name])[0] for name in said.column_list]
    nulls = [pc.is_null(code) for code in codes]
    names = [f"k{i}" for i in range(len(codes))]
    table = pa.table([*(pc.fill_null(code, -1) for code in codes), rows["weight"]], [*names, "w"])
    ignored = pa.repeat(False, rows.num_rows)
    if said.ignore_row_if != "never":
        is_all = said.ignore_row_if == "all_values_are_missing"
        ignored = nulls[0]
        for more in nulls[1:]:
            ignored = pc.and_(ignored, more) if is_all else pc.or_(ignored, more)
    table = table.append_column("ignored", ignored).append_column(
        "row", pa.array(range(rows.num_rows), pa.int64())
    )
    kept = table.filter(pc.invert(table["ignored"]))
    sums = kept.group_by(names).aggregate([("w", "sum"), ("row", "list")])
    repeated = sums.filter(pc.field("w_sum") > 1)["row_list"]
    unexpected = pc.is_in(table["row"], pc.list_flatten(repeated.combine_chunks()))
    return _outcome(rows, unexpected, pc.sum(kept["w"]).as_py() or 0, 1.0)


def count_outcome(said: RowCount, rows: int) -> Outcome:
    """Whether the number of rows is within bounds."""
    bounds = {"strict_min": said.strict_min, "strict_max": said.strict_max}
    success = is_within(rows, said.min_value, said.max_value, **bounds)
    return Outcome(success, 0 if success else rows, (), counted(rows, "row"))


def delta_outcome(said: OfDelta, changes: pa.Table, rows_before: int) -> Outcome:
    """Whether few rows appear, or vanish, in each epoch.

    Args:
        said: the limits.
        changes: with the column `epoch`, too; over streams with `event_time`, the instant.
        rows_before: the rows of the answer before the first epoch.
    """
    verb, sign = ("gone", -1) if isinstance(said, Vanishing) else ("new", 1)
    # Within an epoch, a row may come and go.
    names = [name for name in changes.column_names if name not in ("epoch", "weight")]
    net = changes.group_by(["epoch", *names]).aggregate([("weight", "sum")])
    net = net.rename_columns(["epoch", *names, "weight"]).sort_by("epoch")
    before = rows_before
    for epoch in pc.unique(net["epoch"]).to_pylist():
        own = net.filter(pc.field("epoch") == epoch)
        moved = own.filter(pc.field("weight") * sign > 0)
        number = abs(pc.sum(moved["weight"]).as_py() or 0)
        for limit, text in _limits(said, before):
            if number > limit:
                detail = f"{counted(number, 'row')} {verb} in epoch {epoch}, {text}"
                return Outcome(False, number, _examples(moved), detail)
        before += pc.sum(own["weight"]).as_py() or 0
    return Outcome(True)


def _limits(said: OfDelta, before: int) -> list[tuple[float, str]]:
    limits = list[tuple[float, str]]()
    if said.rows is not None:
        limits.append((said.rows, f"at most {said.rows:,} may be"))
    if said.percent is not None and before > 0:
        share = f"at most {said.percent:g} % of {before:,} may be"
        limits.append((before * said.percent / 100, share))
    return limits


def _outcome(rows: pa.Table, unexpected: Any, total: int, mostly: float) -> Outcome:
    wrong = rows.filter(unexpected)
    number = pc.sum(wrong["weight"]).as_py() or 0
    success = number == 0 or (total - number) / total >= mostly
    share = f" of {total:,}" if mostly < 1 else ""
    detail = f"{number:,}{share} unexpected" if number else ""
    return Outcome(success, number, _examples(wrong), detail)


def _examples(rows: pa.Table) -> tuple[Row, ...]:
    """The first rows in the order of their terms, as values."""
    names = [name for name in rows.column_names if name not in _OTHERS]
    if names:
        rows = rows.sort_by([(name, "ascending") for name in names])
    return tuple(
        {name: row[name] if row[name] is None else lexical_of(row[name]) for name in names}
        for row in rows.slice(0, SHOWN).to_pylist()
    )


def _coded(column: Any, *, as_text: bool = False) -> tuple[Any, list[Plain]]:
    """A number for each value, equal for equal values and null for none; and the values.

    as_text: whether the values are the lexical forms.
    """
    encoded = column.combine_chunks().dictionary_encode()
    numbers, values, of_terms = dict[Any, int](), list[Plain](), list[int | None]()
    for term in encoded.dictionary.to_pylist():
        value = value_of(term)
        if value is None:
            of_terms.append(None)
            continue
        value = lexical_of(term) if as_text else value
        key = key_of(value)
        if key not in numbers:
            numbers[key] = len(values)
            values.append(value)
        of_terms.append(numbers[key])
    return pc.take(pa.array(of_terms, pa.int64()), encoded.indices), values


def _sums(codes: Any, weights: Any) -> dict[int, int]:
    sums = pa.table({"c": codes, "w": weights}).group_by("c").aggregate([("w", "sum")])
    codes_, sums_ = sums["c"].to_pylist(), sums["w_sum"].to_pylist()
    pairs = zip(codes_, sums_, strict=True)
    return {code: weight or 0 for code, weight in pairs if code is not None}


def _misses(said: OfColumn, values: list[Plain]) -> Any:
    """For each value, whether it does not meet an expectation."""
    match said:
        case Between():
            bounds = {"strict_min": said.strict_min, "strict_max": said.strict_max}
            meets = [is_within(v, said.min_value, said.max_value, **bounds) for v in values]
        case InSet():
            keys = {key_of(value) for value in said.value_set}
            keys |= {key for value in said.value_set if (key := key_as(value, "time")) is not None}
            meets = [key_of(value) in keys for value in values]
        case MatchRegex():
            texts = pa.array(values, pa.string())
            return pc.invert(pc.match_substring_regex(texts, said.regex))
        case _:
            raise AssertionError(f"it is no expectation of values: {said!r}")
    return pa.array([not value for value in meets], pa.bool_())
