"""The rows of tables about remotes (no Spark)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weir.lake.delta.commit import arrow_schema
from weir.lake.lake import Lake
from weir.lake.tables import FRESHNESS, SERVICES, Table

Filter = tuple[str, str, Any]


def rows_of(lake: Lake, table: Table, filters: Sequence[Filter] = ()) -> pa.Table:
    """The rows of a table that meet all filters; none if there is no such table."""
    schema = arrow_schema(table)
    if not lake.exists(table.name):
        return schema.empty_table()
    rows = lake.rows(table.name, None, filters or None)
    for column in schema:
        # A table of an earlier version of Weir lacks columns until it is written again.
        if column.name not in rows.column_names:
            rows = rows.append_column(column, pa.nulls(rows.num_rows, column.type))
    return rows.select(list(table.column_names)).cast(schema)


def services_of(lake: Lake) -> list[dict[str, Any]]:
    """The rows of `services`: one per pattern."""
    return list(rows_of(lake, SERVICES).to_pylist())


def newest_of(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of `freshness` that belong to the newest evaluation."""
    newest = max(((row["evaluation"], row["round"]) for row in rows), default=None)
    return [row for row in rows if (row["evaluation"], row["round"]) == newest]


def newest_rows(lake: Lake, remote: str) -> list[dict[str, Any]]:
    """The rows of `freshness` of the last evaluation of a remote."""
    if not lake.exists(FRESHNESS.name):
        return []
    of_remote = ("remote", "=", remote)
    newest = pc.max(lake.rows(FRESHNESS.name, ["evaluation"], [of_remote])["evaluation"]).as_py()
    return newest_of(rows_of(lake, FRESHNESS, [of_remote, ("evaluation", "=", newest)]).to_pylist())
