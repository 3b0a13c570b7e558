"""Checks see what Great Expectations sees, and changes alone decide what a row decides alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import cache
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.checks.arguments import (
    EXPECTATIONS,
    Arguments,
    CompoundUnique,
    OfColumn,
    RowCount,
    Vanishing,
)
from weir.checks.rows import (
    Outcome,
    column_outcome,
    compound_outcome,
    count_outcome,
    delta_outcome,
)
from weir.expectations.run import library
from weir.rdf.terms import literal
from weir.typed.layout import Layout
from weir.typed.rows import decided_types, typed_state
from weir.validate.whole_rows import appeared

XSD = "http://www.w3.org/2001/XMLSchema#"
INTEGERS = [None, *(literal(text, f"{XSD}integer") for text in ("1", "2", "03", "3", "-4", "x"))]
TEXTS = [None, literal("a"), literal("ab", language="en"), literal("ab"), "<urn:a>", "_:b"]
ROW_CHECKS: list[tuple[str, dict[str, Any]]] = [
    ("expect_column_values_to_not_be_null", {"column": "n"}),
    ("expect_column_values_to_not_be_null", {"column": "t"}),
    ("expect_column_values_to_be_between", {"column": "n", "min_value": 1, "max_value": 3}),
    (
        "expect_column_values_to_be_between",
        {"column": "n", "min_value": 1, "max_value": 3, "strict_min": True, "strict_max": True},
    ),
    ("expect_column_values_to_be_in_set", {"column": "n", "value_set": [1, 3]}),
    ("expect_column_values_to_be_in_set", {"column": "t", "value_set": ["ab", "urn:a"]}),
    ("expect_column_values_to_match_regex", {"column": "t", "regex": "^a"}),
]
WHOLE_CHECKS: list[tuple[str, dict[str, Any]]] = [
    *((name, {**kwargs, "mostly": 0.5}) for name, kwargs in ROW_CHECKS),
    ("expect_column_values_to_be_unique", {"column": "n"}),
    ("expect_column_values_to_be_unique", {"column": "t"}),
    ("expect_compound_columns_to_be_unique", {"column_list": ["n", "t"]}),
    (
        "expect_compound_columns_to_be_unique",
        {"column_list": ["n", "t"], "ignore_row_if": "any_value_is_missing"},
    ),
    (
        "expect_compound_columns_to_be_unique",
        {"column_list": ["n", "t"], "ignore_row_if": "never"},
    ),
    ("expect_table_row_count_to_be_between", {"min_value": 2, "max_value": 4}),
]
CHECKS = [*ROW_CHECKS, *WHOLE_CHECKS]
terms = st.tuples(st.sampled_from(INTEGERS), st.sampled_from(TEXTS))
Row = tuple[str | None, str | None]


def table(rows: Sequence[Row], weights: Sequence[int] | None = None) -> pa.Table:
    columns = [pa.array([row[i] for row in rows], pa.string()) for i in (0, 1)]
    weight = pa.array(weights if weights is not None else [1] * len(rows), pa.int64())
    return pa.table([*columns, weight], names=["n", "t", "weight"])


def outcome(name: str, kwargs: dict[str, Any], rows: pa.Table) -> Outcome:
    said: Arguments = EXPECTATIONS[name].model_validate(kwargs)
    match said:
        case OfColumn():
            return column_outcome(said, rows)
        case CompoundUnique():
            return compound_outcome(said, rows)
        case RowCount():
            return count_outcome(said, pc.sum(rows["weight"]).as_py() or 0)
        case _:
            raise AssertionError(said)


def by_the_library(rows: pa.Table) -> list[Any]:
    """Success and number of unexpected rows of each check, over the typed rows."""
    sample = pa.concat_tables([rows, table([(INTEGERS[1], TEXTS[1])])])
    typed = decided_types(sample.select(["n", "t"]), {})
    layout = Layout.of({name: typed[name] for name in ("n", "t")}, is_set=False)
    frame = typed_state(layout, rows)[1].to_pandas(integer_object_nulls=True)[["n", "t"]]
    frame = frame.astype(object)
    frame[frame.isna()] = None
    batches, suite = prepared()
    batch = batches.get_batch(batch_parameters={"dataframe": frame})
    results = []
    for said in batch.validate(suite).results:
        assert not said.exception_info.get("raised_exception"), said.exception_info
        unexpected = said.result.get("unexpected_count", 0)
        results.append((said.expectation_config.meta["number"], said.success, unexpected))
    return [(success, unexpected) for _, success, unexpected in sorted(results)]


@cache
def prepared() -> tuple[Any, Any]:
    """The batches of frames, and the suite of all checks."""
    gx = library()
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    classes = {"_".join(parts(name)): name for name in dir(gx.expectations)}
    suite = gx.ExpectationSuite("own")
    for number, (name, kwargs) in enumerate(CHECKS):
        expectation = getattr(gx.expectations, classes[name])
        suite.add_expectation(expectation(**kwargs, meta={"number": number}))
    asset = context.data_sources.pandas_default.add_dataframe_asset("a")
    return asset.add_batch_definition_whole_dataframe("a"), context.suites.add(suite)


def parts(name: str) -> list[str]:
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).split()


@pytest.mark.parametrize("seed", range(12))
def test_a_check_sees_what_great_expectations_sees(seed: int) -> None:
    """Random tables, but few: the library takes a third of a second for each."""
    chosen, size = Random(seed), 1 + seed % 7
    checked = table([(chosen.choice(INTEGERS), chosen.choice(TEXTS)) for _ in range(size)])
    own = [outcome(name, kwargs, checked) for name, kwargs in CHECKS]
    expected = by_the_library(checked)
    for check, seen, (success, unexpected) in zip(CHECKS, own, expected, strict=True):
        assert seen.success == success, check
        if check[0] != "expect_table_row_count_to_be_between":
            assert seen.unexpected == unexpected, check


@given(st.lists(st.tuples(terms, st.integers(0, 3))), st.lists(st.tuples(terms, st.integers(0, 3))))
def test_if_an_answer_passed_the_rows_that_appear_decide(
    first: list[tuple[Row, int]], then: list[tuple[Row, int]]
) -> None:
    before, after = Counter(dict(first)), Counter(dict(then))
    changes = Counter(after)
    changes.subtract(before)
    delta = table([*changes], [*changes.values()])
    delta = delta.append_column("epoch", pa.array([2] * len(changes), pa.int64()))
    for name, kwargs in ROW_CHECKS:
        if outcome(name, kwargs, _state(before)).success:
            whole = outcome(name, kwargs, _state(after))
            assert outcome(name, kwargs, appeared(delta)) == whole


def _state(rows: Counter[Row]) -> pa.Table:
    kept = {row: weight for row, weight in rows.items() if weight}
    return table([*kept], [*kept.values()])


def test_a_row_that_is_there_twice_is_not_unique() -> None:
    rows = table([(INTEGERS[1], None)], [2])
    assert not outcome("expect_column_values_to_be_unique", {"column": "n"}, rows).success
    kwargs = {"column_list": ["n", "t"]}
    assert not outcome("expect_compound_columns_to_be_unique", kwargs, rows).success


@pytest.mark.parametrize(("percent", "rows_before", "success"), [(50, 2, True), (49, 2, False)])
def test_a_share_of_the_answer_may_vanish_in_an_epoch(
    percent: float, rows_before: int, *, success: bool
) -> None:
    changes = table([(INTEGERS[1], None)], [-1]).append_column("epoch", pa.array([7]))
    seen = delta_outcome(Vanishing(percent=percent), changes, rows_before)
    assert seen.success == success
    if not success:
        assert seen.detail == "1 row gone in epoch 7, at most 49 % of 2 may be"


def test_the_limit_is_of_each_epoch() -> None:
    rows = [(term, None) for term in INTEGERS[1:4]]
    apart = table(rows, [-1] * 3).append_column("epoch", pa.array([1, 2, 3]))
    together = table(rows, [-1] * 3).append_column("epoch", pa.array([1, 1, 1]))
    assert delta_outcome(Vanishing(rows=1), apart, 3).success
    assert delta_outcome(Vanishing(rows=1), together, 3).unexpected == 3


DATES = [f'"{text}"^^<{XSD}date>' for text in ("2001-01-01", "2002-01-01")]
TIMES = [f'"{text}"^^<{XSD}dateTime>' for text in ("2001-01-01T00:00:00Z", "2002-01-01T12:00:00")]


@pytest.mark.parametrize("terms", [DATES, TIMES], ids=["date", "dateTime"])
@pytest.mark.parametrize("written", ["2001-01-01", date(2001, 1, 1), "2001-01-01T00:00:00Z"])
def test_a_quoted_date_is_that_date(terms: Sequence[str], written: object) -> None:
    column = pa.table([pa.array(terms, pa.string()), pa.array([1, 1])], names=["d", "weight"])
    in_set = outcome(
        "expect_column_values_to_be_in_set", {"column": "d", "value_set": [written]}, column
    )
    until = outcome(
        "expect_column_values_to_be_between", {"column": "d", "max_value": written}, column
    )
    assert [*in_set.examples] == [*until.examples]
    assert [row["d"][:4] for row in in_set.examples] == ["2002"]


@pytest.mark.parametrize("written", ["2001-01-01", "2001-13-01", "10000-01-01", "x"])
def test_a_text_that_looks_like_a_date_is_still_a_text(written: str) -> None:
    column = pa.table([pa.array([literal(written)]), pa.array([1])], names=["d", "weight"])
    kwargs = {"column": "d", "value_set": [written]}
    assert outcome("expect_column_values_to_be_in_set", kwargs, column).success
    bounds = {"column": "d", "min_value": written, "max_value": written}
    assert outcome("expect_column_values_to_be_between", bounds, column).success
