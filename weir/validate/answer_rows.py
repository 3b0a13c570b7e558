"""The unpublished rows of queries, with the columns that `embeddings` and `answers` check.

Queries of one kind are read by one statement. It joins with a relation that has a row per query for
what differs between them: range of epochs, limits.

The rows of a query over streams are checked by instant, which is in the column `epoch`. Of every
row with an unpublished change, the log over all instants is checked, as known at the newest epoch.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Keep, Lookup, Statement, StoredTable, StoredTables
from weir.compute.sql import (
    alias,
    all_of,
    ascending,
    bigint,
    cast,
    coalesce,
    column,
    columns,
    equal,
    inner_join,
    left_join,
    number,
    over,
    rows_of,
    same_row,
    select,
    small_number,
    subquery,
    sum_of,
    text,
    union_all,
)
from weir.definitions.definition import NO_GUARDS, Form, Guards
from weir.engine.relations import BEFORE_ALL
from weir.lake.tables import EMBEDDINGS
from weir.plan.plan import ANSWER
from weir.progress.backlog import HORIZON, Backlog
from weir.validate.derived_columns import DerivedColumn, changes_at_epoch, with_derived_columns


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """The properties of a query that its answer is checked by."""

    form: Form
    is_set: bool
    guards: Guards = NO_GUARDS


_TERMS = "terms"
_LIMITS = ("max_rows", "min_rows", "max_change")
Checked = tuple[Backlog, AnswerRules]
"""The unpublished rows of a query, and the rules of its answer."""


def kind_of(checked: Checked) -> Hashable:
    """The kind of a query; queries of one kind are read by one statement.

    SELECT queries of one kind may have different columns: missing columns are unbound.
    """
    work, rules = checked
    columns_ = () if rules.form == "select" else work.variables
    return work.rebuilt, work.is_over_streams, rules.form, columns_


@dataclass(frozen=True, slots=True)
class _Read:
    """How the rows of queries of one kind are read together.

    Attributes:
        variables: the columns of their answers.
        rebuilt: whether all rows are new, so that no stored ones are looked up.
        is_ask: whether these are ASK queries, whose number of rows is checked after every change.
        over_streams: whether rows are checked by instant, not by epoch.
        together: whether there are several queries. Then the terms of a row are in one column: the
            queries may have hundreds of variables among them, and Spark compiles code for each.
    """

    variables: tuple[str, ...]
    rebuilt: bool
    is_ask: bool
    over_streams: bool
    together: bool

    @classmethod
    def of(cls, checked: Sequence[Checked]) -> _Read:
        """How `checked` are read together."""
        work, rules = checked[0]
        variables = dict.fromkeys(name for item, _ in checked for name in item.variables)
        is_ask = rules.form == "ask"
        together = len(checked) > 1
        return cls(tuple(variables), work.rebuilt, is_ask, work.is_over_streams, together)

    @property
    def has_whole_log(self) -> bool:
        """Whether all changes of a row are read, so that no stored ones are looked up."""
        return self.rebuilt or self.over_streams

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that identify a row of an answer."""
        return ("scope", *([_TERMS] if self.together else self.variables))

    def terms(self, relation: str | None = None) -> exp.Expr:
        """The terms of a row of a stored answer, as one array."""
        return exp.Array(expressions=columns(self.variables, relation))


def _new_rows(work: Backlog) -> StoredTable:
    """The rows of a query that are checked; the files of older epochs are skipped."""
    in_range = all_of(
        [
            column("node").eq(text(ANSWER)),
            column("epoch") > number(work.from_epoch),
            column("epoch") <= number(work.to_epoch),
        ]
    )
    return _answer(work, in_range)


def stored_rows(work: Backlog) -> StoredTable:
    """All rows of a query's answer."""
    return _answer(work, column("node").eq(text(ANSWER)))


def _answer(work: Backlog, where: exp.Expr) -> StoredTable:
    return StoredTable(f"log_{work.query}", EMBEDDINGS.name(work.query), work.snapshot, where)


def make_answer_rows(engine: Engine, name: str, checked: Sequence[Checked]) -> None:
    """Make the relation `name`: the unpublished changes, and one row for each answer as a whole.

    Args:
        engine: makes it.
        name: of the relation; also the prefix of other relations.
        checked: queries of one kind (`kind_of`).
    """
    read = _Read.of(checked)
    parts = ("work", "new", "changes", "changed", "stored", "before")
    work, new, changes, changed, stored, before = (f"{name}_{part}" for part in parts)
    engine.load(work, _work(checked))
    # Of a rebuilt answer, all files are read.
    opened = stored_rows if read.rebuilt else _new_rows
    _open(engine, new, read, {item.query: opened(item) for item, _ in checked})
    # It is read several times; but a whole answer may be too large to be kept.
    keep: Keep = "view" if read.rebuilt else "small"
    if read.over_streams:
        _make_changes_by_instant(engine, read, name, work, new, checked)
    else:
        engine.make(Statement(changes, _changes(read, work, new), keep))
    if not read.has_whole_log:
        keys = select(*columns(read.key), from_=rows_of(changes), distinct=True)
        # It is joined with the stored rows, which are many.
        engine.make(Statement(changed, keys, "broadcast"))
        # What has an index is checked alone (`packs`).
        if len(checked) > 1 or not _look_up(engine, stored, read, changed, checked[0][0]):
            _open(engine, stored, read, {item.query: stored_rows(item) for item, _ in checked})
        looked_up = _multiplicities_before(read, work, changed, stored)
        engine.make(Statement(before, looked_up, "small"))
    engine.make(Statement(name, _answer_rows(read, work, changes, before, new)))


def _work(checked: Sequence[Checked]) -> pa.Table:
    """The relation with a row per query: its range of epochs, its rules."""
    names = (
        *("scope", "from_epoch", "to_epoch", "after", "last"),
        *("rows_before", "rows_published", "form", "is_set", *_LIMITS),
    )
    types = (
        *(pa.string(), *[pa.int64()] * 6, pa.string(), pa.bool_()),
        *(pa.int64(), pa.int64(), pa.float64()),
    )
    rows = (
        (
            item.query,
            item.from_epoch,
            item.to_epoch,
            *_axis(item),
            item.rows_before,
            item.rows_published,
            rules.form,
            rules.is_set,
            rules.guards.max_rows,
            rules.guards.min_rows,
            # An edit is expected to change the answer.
            None if item.mode == "edited" else rules.guards.max_change,
        )
        for item, rules in checked
    )
    cells = zip(*rows, strict=True)
    return pa.table([pa.array(c, t) for c, t in zip(cells, types, strict=True)], names=[*names])


def _axis(work: Backlog) -> tuple[int, int]:
    """The range (after, last] of the column `epoch` of the checked rows: epochs, or instants."""
    if not work.is_over_streams:
        return work.from_epoch, work.to_epoch
    horizon = work.maintained.metadata.extra[HORIZON]
    return BEFORE_ALL, BEFORE_ALL if horizon is None else horizon


def _open(engine: Engine, name: str, read: _Read, tables: dict[str, StoredTable]) -> None:
    """Make a relation of stored rows of answers: the key of `read`, epoch, weight."""
    axes = (*(["instant"] if read.over_streams else []), "epoch", "weight")
    own, stored = (*read.variables, *axes), f"{name}_tables"
    if len(tables) == 1:
        ((query, table),) = tables.items()
        # Read by itself, a table may be larger than what the driver reads.
        engine.open(stored, table.table, version=table.version, where=table.where)
        scope = alias(text(query), "scope")
        engine.make(Statement(name, select(scope, *columns(own), from_=rows_of(stored))))
        return
    engine.open_all(StoredTables(stored, "scope", tables, ("node", *own)))
    rows = select(
        column("scope"),
        alias(read.terms(), _TERMS),
        *columns(axes),
        from_=rows_of(stored),
        where=[column("node").eq(text(ANSWER))],
    )
    engine.make(Statement(name, rows))


def _look_up(engine: Engine, name: str, read: _Read, changed: str, work: Backlog) -> bool:
    """Make the relation that `_open` makes of the stored rows of a query, with those in `changed`.

    Returns:
        Whether it is made. Else a scan has to find the rows.
    """
    stored = f"{name}_tables"
    wanted = select(alias(text(ANSWER), "node"), *columns(read.variables), from_=rows_of(changed))
    key = ("node", *read.variables)
    if not engine.look_up(Lookup(stored, EMBEDDINGS.name(work.query), key, wanted)):
        return False
    scope = alias(text(work.query), "scope")
    rows = select(scope, *columns((*read.variables, "epoch", "weight")), from_=rows_of(stored))
    engine.make(Statement(name, rows))
    return True


def _make_changes_by_instant(
    engine: Engine, read: _Read, name: str, work: str, new: str, checked: Sequence[Checked]
) -> None:
    """Make the relation `<name>_changes`: the whole logs of rows with unpublished changes.

    Columns: the key of `read`, epoch (which is the instant), weight.
    """
    changed, stored = f"{name}_changed", f"{name}_stored"
    _open(engine, stored, read, {item.query: stored_rows(item) for item, _ in checked})
    in_range = [
        column("epoch", "n") > column("from_epoch", "w"),
        column("epoch", "n") <= column("to_epoch", "w"),
    ]
    keys = select(
        *columns(read.key, "n"),
        from_=rows_of(new, "n"),
        joins=[inner_join(rows_of(work, "w"), *equal(("scope",), "n", "w"), *in_range)],
        distinct=True,
    )
    engine.make(Statement(changed, keys, "broadcast"))
    logs = select(
        *columns(read.key, "s"),
        alias(column("instant", "s"), "epoch"),
        alias(bigint(sum_of(column("weight", "s"))), "weight"),
        from_=rows_of(stored, "s"),
        joins=[
            inner_join(rows_of(changed, "c"), *same_row(read.key, "s", "c")),
            inner_join(
                rows_of(work, "w"),
                *equal(("scope",), "s", "w"),
                column("epoch", "s") <= column("to_epoch", "w"),
            ),
        ],
        group_by=[*columns(read.key, "s"), column("instant", "s")],
        having=sum_of(column("weight", "s")).neq(0),
    )
    engine.make(Statement(f"{name}_changes", logs, "small"))


def _changes(read: _Read, work: str, new: str) -> exp.Select:
    """The unpublished changes: the key of `read`, epoch, weight."""
    in_range = all_of(
        [
            column("epoch", "n") > column("from_epoch", "w"),
            column("epoch", "n") <= column("to_epoch", "w"),
        ]
    )
    return select(
        *columns((*read.key, "epoch"), "n"),
        alias(bigint(column("weight", "n")), "weight"),
        from_=rows_of(new, "n"),
        joins=[inner_join(rows_of(work, "w"), *equal(("scope",), "n", "w"), in_range)],
    )


def _answer_rows(read: _Read, work: str, changes: str, before: str, new: str) -> exp.Query:
    checked = _with_multiplicity(read, changes, before)
    at_epoch = over(sum_of(column("weight")), [column("scope", "c")], [ascending(column("epoch"))])
    rows_before = number(0) if read.over_streams else column("rows_before", "w")
    rows_at = rows_before + at_epoch if read.is_ask else exp.null()
    rows = select(
        alias(column(_TERMS, "c") if read.together else read.terms("c"), _TERMS),
        *columns(("epoch", "weight", "at_epoch", "multiplicity"), "c"),
        alias(bigint(rows_at), "rows_at"),
        alias(bigint(exp.null()), "rows_deleted"),
        alias(exp.false(), "is_total"),
        *_rules(),
        from_=subquery(checked, "c"),
        joins=[inner_join(rows_of(work, "w"), *equal(("scope",), "c", "w"))],
    )
    net = _net(read, work, changes, new)
    rows_after = column("rows_before", "w") + coalesce(column("net", "t"), small_number(0))
    # Which rows of a recomputed answer are new is not known before it is published.
    fewer = column("rows_published", "w") - rows_after
    deleted = fewer if read.rebuilt else coalesce(column("deleted", "t"), small_number(0))
    no_terms = exp.DataType.build("ARRAY<STRING>", dialect="spark")
    total = select(
        alias(cast(exp.null(), no_terms), "terms"),
        alias(column("last", "w"), "epoch"),
        alias(number(0), "weight"),
        alias(bigint(exp.null()), "at_epoch"),
        alias(bigint(exp.null()), "multiplicity"),
        alias(bigint(rows_after), "rows_at"),
        alias(bigint(deleted), "rows_deleted"),
        alias(exp.true(), "is_total"),
        *_rules(),
        from_=rows_of(work, "w"),
        joins=[left_join(subquery(net, "t"), *equal(("scope",), "w", "t"))],
    )
    return union_all([rows, total])


def _net(read: _Read, work: str, changes: str, new: str) -> exp.Select:
    """By how many rows each answer grows, and how many it loses: scope, net, deleted."""
    if read.has_whole_log:
        rows = subquery(_changes(read, work, new), "new") if read.over_streams else rows_of(changes)
        return select(
            column("scope"),
            alias(bigint(sum_of(column("weight"))), "net"),
            alias(bigint(number(0)), "deleted"),
            from_=rows,
            group_by=[column("scope")],
        )
    by_row = select(
        *columns(read.key),
        alias(sum_of(column("weight")), "net"),
        from_=rows_of(changes),
        group_by=columns(read.key),
    )
    lost = exp.Case(ifs=[exp.If(this=column("net") < 0, true=-column("net"))], default=number(0))
    return select(
        column("scope"),
        alias(bigint(sum_of(column("net"))), "net"),
        alias(bigint(sum_of(lost)), "deleted"),
        from_=subquery(by_row, "by_row"),
        group_by=[column("scope")],
    )


def _rules() -> list[exp.Expr]:
    """The columns that are the same for all rows of a query."""
    return [
        alias(text(ANSWER), "node"),
        *columns(("form", "is_set", *_LIMITS, "rows_published", "scope"), "w"),
        alias(column("after", "w"), "from_epoch"),
        alias(column("last", "w"), "to_epoch"),
    ]


def _with_multiplicity(read: _Read, changes: str, before: str) -> exp.Query:
    """`changes` with `at_epoch`, and with `multiplicity`: of the row after the change."""
    others: tuple[str, ...] = ("epoch", "weight")
    single: exp.Expr = column("weight")
    window: exp.Expr = over(
        sum_of(column("weight")), columns(read.key), [ascending(column("epoch"))]
    )
    rows = select(*columns((*read.key, *others)), from_=rows_of(changes))
    if not read.has_whole_log:
        rows = select(
            *columns((*read.key, *others), "new"),
            alias(
                coalesce(column("multiplicity", "before"), small_number(0)), "multiplicity_before"
            ),
            from_=rows_of(changes, "new"),
            joins=[left_join(rows_of(before, "before"), *same_row(read.key, "new", "before"))],
        )
        others = (*others, "multiplicity_before")
        earlier = column("multiplicity_before")
        single, window = earlier + single, earlier + window
    derived = (changes_at_epoch(read.key), DerivedColumn("multiplicity", single, window))
    return with_derived_columns(rows, read.key, others, derived)


def _multiplicities_before(read: _Read, work: str, changed: str, stored: str) -> exp.Select:
    """The multiplicity at `from_epoch` of the rows that change; unbound values are equal."""
    return select(
        *columns(read.key, "s"),
        alias(sum_of(column("weight", "s")), "multiplicity"),
        from_=rows_of(stored, "s"),
        joins=[
            inner_join(rows_of(changed, "c"), *same_row(read.key, "s", "c")),
            inner_join(
                rows_of(work, "w"),
                *equal(("scope",), "s", "w"),
                column("epoch", "s") <= column("from_epoch", "w"),
            ),
        ],
        group_by=columns(read.key, "s"),
    )
