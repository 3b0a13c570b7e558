"""How fresh the replica of every declared remote is now, from the tables alone (no Spark)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weir.lake.delta.commit import arrow_schema
from weir.lake.lake import Lake
from weir.lake.tables import FRESHNESS, SERVICES, Table
from weir.project import open_lake
from weir.remotes.declarations import Remote, load_remotes
from weir.remotes.freshness import RemoteState, remote_state
from weir.remotes.inbox import why_not_stored
from weir.remotes.schedule import asking_queries
from weir.remotes.states import Row
from weir.settings import Settings

Filter = tuple[str, str, Any]


def current_states(settings: Settings, now: datetime) -> list[RemoteState]:
    """The state of each declared remote, in the order of their declaration.

    Raises:
        ConfigurationError: remotes.yml is wrong, or there is no folder of queries.
    """
    remotes = load_remotes(settings.remotes).values()
    if not remotes:
        return []
    lake = open_lake(settings)
    newest = [(remote, _newest_rows(lake, remote.name)) for remote in remotes]
    return states_of(settings, lake, newest, now)


def states_of(
    settings: Settings, lake: Lake, newest: Sequence[tuple[Remote, Sequence[Row]]], now: datetime
) -> list[RemoteState]:
    """The state of some remotes.

    Args:
        settings: of the project.
        lake: has the tables.
        newest: each remote with the rows of `freshness` of its last evaluation.
        now: the time.

    Raises:
        ConfigurationError: there is no folder of queries.
    """
    services, asking = services_of(lake), _asking_names(settings)
    return [
        remote_state(remote, rows, services, asking, why_not_stored(lake, remote, services), now)
        for remote, rows in newest
    ]


def _asking_names(settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """By the id of a pattern, the names of the queries that ask for it."""
    names: dict[str, dict[str, None]] = {}
    for query in asking_queries(settings):
        for block in query.services.blocks:
            names.setdefault(block.pattern, {})[query.name] = None
    return {pattern: tuple(queries) for pattern, queries in names.items()}


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
    """Those rows of `freshness` that are of the newest evaluation."""
    newest = max(((row["evaluation"], row["round"]) for row in rows), default=None)
    return [row for row in rows if (row["evaluation"], row["round"]) == newest]


def _newest_rows(lake: Lake, remote: str) -> list[dict[str, Any]]:
    """The rows of `freshness` of the last evaluation of a remote."""
    if not lake.exists(FRESHNESS.name):
        return []
    of_remote = ("remote", "=", remote)
    newest = pc.max(lake.rows(FRESHNESS.name, ["evaluation"], [of_remote])["evaluation"]).as_py()
    return newest_of(rows_of(lake, FRESHNESS, [of_remote, ("evaluation", "=", newest)]).to_pylist())
