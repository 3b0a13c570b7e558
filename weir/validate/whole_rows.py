"""The rows that the checks of a project read: an answer as it would be published, and its changes.

All are Arrow tables with a column of terms for each variable, and `weight`; changes also have
`epoch`. They are computed where the rows are, and fetched to this process.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import LakeQuery, StoredTable
from weir.compute.sql import (
    alias,
    all_of,
    bigint,
    column,
    columns,
    number,
    rows_of,
    select,
    sum_of,
    text,
)
from weir.definitions.definition import Definition
from weir.lake.tables import ANSWERS, EMBEDDINGS
from weir.plan.plan import ANSWER
from weir.progress.backlog import Backlog, columns_of
from weir.progress.completion import Completion
from weir.progress.watermarks import Watermark
from weir.typed.layout import Layout
from weir.typed.rows import WrongType, decided_types, typed_state

MOST_ROWS = 2_000_000
"""Of an answer, or of its changes; this process looks at them."""


class TooManyRows(Exception):  # noqa: N818  (named after what is wrong)
    """This process does not read so many rows."""


def state_of(engine: Engine, query: str, maintained: Watermark) -> pa.Table:
    """The answer that a query has computed: each row with how often it is there.

    Raises:
        TooManyRows: it is too large.
    """
    stored = columns_of(maintained.metadata)
    up_to = column("epoch") <= number(maintained.epoch)
    table = _embeddings(query, maintained, up_to)
    own = [f"v{position}" for _, position in stored]
    return _net(engine, f"whole_{query}", table, own, [name for name, _ in stored])


def changes_of(engine: Engine, work: Backlog, after: int | None = None) -> pa.Table:
    """The changes of an answer, by epoch; over streams, also by instant, in `event_time`.

    after: those of later epochs; by default, those that are not published.

    Raises:
        TooManyRows: there are too many.
    """
    since = work.from_epoch if after is None else after
    new = all_of([column("epoch") > number(since), column("epoch") <= number(work.to_epoch)])
    table = _embeddings(work.query, work.maintained, new)
    own, names = [*work.variables, "epoch"], [*(name for name, _ in work.columns), "epoch"]
    if work.is_over_streams:
        own, names = [*own, "instant"], [*names, "event_time"]
    return _net(engine, f"changes_{work.query}", table, own, names)


def appeared(changes: pa.Table) -> pa.Table:
    """The rows that there are more of after all changes; over streams, at any instant."""
    names = [name for name in changes.column_names if name not in ("epoch", "weight")]
    net = changes.group_by(names).aggregate([("weight", "sum")])
    net = net.filter(pc.field("weight_sum") > 0).rename_columns([*names, "weight"])
    return net.select([name for name in net.column_names if name != "event_time"])


def rebased_changes(engine: Engine, work: Backlog, whole: pa.Table) -> pa.Table:
    """The difference between an answer that was computed again and the published one.

    Raises:
        TooManyRows: the published one is too large.
    """
    assert work.published is not None, "it is published"
    published = columns_of(work.published.metadata)
    names = [name for name, _ in published]
    table = StoredTable(f"published_{work.query}_log", ANSWERS.name(work.query))
    before = _net(engine, f"published_{work.query}", table, names, names)
    if names != [name for name in whole.column_names if name != "weight"]:
        raise AssertionError("an answer with other columns was edited")
    gone = before.set_column(
        before.column_names.index("weight"), "weight", pc.negate(before["weight"])
    )
    both = pa.concat_tables([whole, gone]).group_by(names).aggregate([("weight", "sum")])
    both = both.filter(pc.field("weight_sum") != 0).rename_columns([*names, "weight"])
    return both.append_column("epoch", pa.repeat(work.to_epoch, both.num_rows))


def typed(completion: Completion, definition: Definition, rows: pa.Table) -> pa.Table:
    """An answer with the columns of `current/<name>`."""
    return _typed(_layout(completion, definition, rows), definition, rows)


def typed_changes(
    completion: Completion, definition: Definition, whole: pa.Table, changes: pa.Table
) -> pa.Table:
    """Changes with the same types, `epoch` and `weight`."""
    names = [name for name, _ in definition.columns]
    both = pa.concat_tables([whole.select(names), changes.select(names)])
    layout = _layout(completion, definition, both)
    rows = _typed(layout, definition, changes.select([*names, "weight"]))
    if layout.count is not None:
        rows = rows.drop_columns([layout.count])
    for own in ("epoch", "weight"):
        rows = rows.append_column(own, changes[own])
    return rows


def _layout(completion: Completion, definition: Definition, rows: pa.Table) -> Layout:
    """The columns that the table has, or would have with these values."""
    names = [name for name, _ in definition.columns]
    known = completion.layout(definition.name)
    kept = {} if known is None else {n: t for n, t in known.types.items() if t.decided}
    new = [name for name in names if name not in kept]
    try:
        quotients = definition.body.quotients if new else ()
        pins = definition.current.pins
        types = {**kept, **decided_types(rows.select(new), pins, quotients)}
        layout = Layout.of({name: types[name] for name in names}, is_set=definition.is_set)
        typed_state(layout, _weighed(rows))
    except WrongType:
        # Another check says so, and holds the answer.
        types = decided_types(rows.select(names), {}, definition.body.quotients)
        return Layout.of(types, is_set=definition.is_set)
    return layout


def _typed(layout: Layout, definition: Definition, rows: pa.Table) -> pa.Table:
    names = [name for name, _ in definition.columns]
    return typed_state(layout, rows.select([*names, "weight"]))[1]


def _weighed(rows: pa.Table) -> pa.Table:
    if "weight" in rows.column_names:
        return rows
    return rows.append_column("weight", pa.repeat(1, rows.num_rows))


def _embeddings(query: str, maintained: Watermark, where: exp.Expr) -> StoredTable:
    of_answer = all_of([column("node").eq(text(ANSWER)), where])
    return StoredTable(f"checked_{query}", EMBEDDINGS.name(query), maintained.snapshot, of_answer)


def _net(
    engine: Engine, relation: str, table: StoredTable, own: Sequence[str], names: Sequence[str]
) -> pa.Table:
    """The rows of a log added up: its columns `own` as `names`, and `weight`, without zeros."""
    weight = sum_of(column("weight"))
    net = select(
        *columns(own),
        alias(bigint(weight), "weight"),
        from_=rows_of(table.name),
        group_by=columns(own),
        having=weight.neq(number(0)),
    )
    with engine.scope() as inner:
        inner.query(relation, LakeQuery(net, (table,)), "small")
        count = inner.count(relation)
        rows = None
        if count <= MOST_ROWS:
            rows = inner.fetch_few(relation, count, most=MOST_ROWS)
        if rows is None:
            raise TooManyRows(f"these are {count:,} rows, and at most {MOST_ROWS:,} are read")
    return rows.select([*own, "weight"]).rename_columns([*names, "weight"])
