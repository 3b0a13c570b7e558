"""The rows to publish of queries that only append, read for many queries by one statement."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from weir.compute.arrow import RowsByKey
from weir.compute.engine import Engine
from weir.compute.relations import Statement, StoredTable, StoredTables
from weir.compute.sql import (
    column,
    columns,
    equal,
    inner_join,
    left_join,
    number,
    rows_of,
    select,
    text,
)
from weir.lake.tables import EMBEDDINGS
from weir.plan.plan import ANSWER
from weir.progress.backlog import Backlog

_KEY = "query"


def appended_rows(work: Backlog) -> StoredTable:
    """The rows of an embedding table that are not published; older files are skipped."""
    later = column("epoch") > number(work.from_epoch)
    return StoredTable(work.query, EMBEDDINGS.name(work.query), work.snapshot, later)


def make_rows_of_many(engine: Engine, name: str, work: Sequence[Backlog], times: str) -> None:
    """Make the relation `name`: query, epoch, weight, the columns of the answer, event_time.

    Args:
        engine: makes it.
        name: of the relation; also the prefix of other relations.
        work: queries that only append; a column that one of them lacks is null in its rows.
        times: the relation of `epoch_times`.
    """
    rows, ranges = f"{name}_rows", f"{name}_ranges"
    variables = sorted({name for item in work for name in item.variables})
    tables = {item.query: appended_rows(item) for item in work}
    engine.open_all(StoredTables(rows, _KEY, tables, ("node", *variables, "epoch", "weight")))
    engine.load(
        ranges,
        pa.table(
            {
                _KEY: [item.query for item in work],
                "after": pa.array([item.from_epoch for item in work], pa.int64()),
                "last": pa.array([item.to_epoch for item in work], pa.int64()),
            }
        ),
    )
    query = select(
        *columns((_KEY, "epoch", "weight", *variables), "n"),
        column("event_time", "t"),
        from_=rows_of(rows, "n"),
        joins=[
            inner_join(
                rows_of(ranges, "r"),
                *equal((_KEY,), "n", "r"),
                column("epoch", "n") > column("after", "r"),
                column("epoch", "n") <= column("last", "r"),
            ),
            left_join(rows_of(times, "t"), *equal(("epoch",), "n", "t")),
        ],
        where=[column("node", "n").eq(text(ANSWER))],
    )
    engine.make(Statement(name, query, "small"))


def by_query(rows: pa.Table) -> RowsByKey:
    """The rows of each query, in the order of epochs."""
    return RowsByKey(rows.sort_by([(_KEY, "ascending"), ("epoch", "ascending")]), _KEY)


def named(rows: pa.Table, work: Backlog, names: Sequence[str]) -> pa.Table:
    """`rows` with the columns of the answer table; `names` are those of its variables."""
    variables = work.variables
    others = ("epoch", "weight", "event_time")
    answer = rows.select([*variables, *others])
    answer = answer.rename_columns([*names[: len(variables)], *others])
    # The columns of earlier texts of the query come last.
    for name in names[len(variables) :]:
        answer = answer.append_column(name, pa.nulls(rows.num_rows, pa.string()))
    return answer
