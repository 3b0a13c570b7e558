"""Rows of the tables about remotes; of each table only those that are wanted (no Spark)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from weir.lake.delta.commit import arrow_schema
from weir.lake.delta.metadata import Metadata
from weir.lake.instants import time_at
from weir.lake.lake import Lake
from weir.lake.tables import FRESHNESS, REPLICAS, SERVICES, Table

Filter = tuple[str, str, Any]


@dataclass(frozen=True, slots=True)
class RoundCommit:
    """A commit of `replicas/<remote>`.

    Attributes:
        round: its number.
        changed_round: the newest round, up to this one, that changed a mapping; 0 if none did.
        not_before: until when the remote had asked to be left alone, or None.
        address: what stands for where it was asked, or empty.
    """

    round: int
    changed_round: int
    not_before: datetime | None
    address: str


def rows_of(lake: Lake, table: Table, filters: Sequence[Filter] = ()) -> pa.Table:
    """The rows of a table that meet all filters; none if there is no such table."""
    schema = arrow_schema(table)
    if not lake.exists(table.name):
        return schema.empty_table()
    found = lake.rows(table.name, None, filters or None)
    for column in schema:
        # A table of an earlier version of Weir lacks columns until it is written again.
        if column.name not in found.column_names:
            found = found.append_column(column, pa.nulls(found.num_rows, column.type))
    return found.select(list(table.column_names)).cast(schema)


def services_of(lake: Lake) -> list[dict[str, Any]]:
    """The rows of `services`: one per pattern."""
    found: list[dict[str, Any]] = rows_of(lake, SERVICES).to_pylist()
    return found


def newest_evaluation(lake: Lake, remote: str) -> datetime | None:
    """The instant of the last evaluation of a remote; None before the first."""
    if not lake.exists(FRESHNESS.name):
        return None
    found = lake.rows(FRESHNESS.name, ["evaluation"], [("remote", "=", remote)])
    newest: datetime | None = pc.max(found["evaluation"]).as_py()
    return newest


def newest_rows(lake: Lake, remote: str) -> list[dict[str, Any]]:
    """The rows of `freshness` of the last evaluation of a remote."""
    evaluation = newest_evaluation(lake, remote)
    if evaluation is None:
        return []
    filters = [("remote", "=", remote), ("evaluation", "=", evaluation)]
    return of_newest_round(rows_of(lake, FRESHNESS, filters).to_pylist())


def of_newest_round(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those rows of `freshness` that are of the newest round."""
    newest = max((row["round"] for row in rows), default=0)
    return [row for row in rows if row["round"] == newest]


def round_commits(lake: Lake, remote: str, round: int, ingested: int) -> Iterator[RoundCommit]:
    """The commits of the rounds of a remote, newest first, down to the first one that is not later
    than `round` and has no change after the round `ingested`.

    It costs as much as there are commits since.
    """
    for commit in lake.commits(REPLICAS.name(remote)):
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is None or "round" not in metadata.extra:
            continue
        extra = metadata.extra
        until = extra.get("not_before")
        found = RoundCommit(
            int(extra["round"]),
            int(extra["changed_round"]),
            None if until is None else time_at(until),
            extra.get("address") or "",
        )
        yield found
        if found.round <= round and found.changed_round <= ingested:
            return
