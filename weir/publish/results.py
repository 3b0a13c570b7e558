"""What a run did for each query, and which answers it has published (no Spark).

As a program it prints that as JSON: a list of objects with the keys of `QueryResult`. The tables
decide, not the outcome of the run: it may have been killed after its commits, or have held other
answers back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from weir.catalog.names import declared_names, folders_of
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED, SUCCEEDED
from weir.lake.tables import RUNS
from weir.progress.completion import Completion
from weir.project import open_lake
from weir.settings import Settings

_STAGES = ("maintain", "validate", "publish")
_MOST_CHARACTERS = 500
"""Of a reason."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a run did for a query.

    Attributes:
        query: its name.
        state: `published`: its answer got rows; `held`: a check failed; `failed`: a stage did.
        mode: how it was maintained or published; None of a run that was killed.
        rows: how many its answer got; None of a run that was killed.
        epoch: up to which its answer is published; None if it was not.
        version: of `answers/<query>`: the commit of the run; None if there is none.
        reason: why it was held or failed, or empty.
    """

    query: str
    state: Literal["published", "held", "failed"]
    mode: str | None = None
    rows: int | None = None
    epoch: int | None = None
    version: int | None = None
    reason: str = ""


def query_results(settings: Settings, run_id: str) -> tuple[QueryResult, ...]:
    """The queries that failed, were held, or got rows in this run, by name."""
    lake = open_lake(settings)
    found = {each.query: each for each in _recorded(lake, run_id)}
    completion = Completion.read(lake)
    names = declared_names(folders_of(settings))
    damaged = completion.damaged(names)
    for query in (name for name in names if name not in damaged and name not in found):
        published = completion.published(query)
        if published is not None and published.metadata.run_id == run_id:
            epoch, mode = published.metadata.watermark, published.metadata.mode
            found[query] = QueryResult(query, "published", mode, None, epoch, published.version)
    return tuple(found[query] for query in sorted(found))


def _recorded(lake: Lake, run_id: str) -> Iterator[QueryResult]:
    """What the ledger has, in the order of the stages: others may have published on top."""
    if not lake.exists(RUNS.name):
        return
    names = ["job", "query", "mode", "reason", "to_epoch", "rows_out", "status", "table_version"]
    rows = lake.rows(RUNS.name, names, [("run_id", "=", run_id), ("job", "in", _STAGES)])
    about = [row for row in rows.to_pylist() if row["query"] is not None]
    for row in sorted(about, key=lambda row: _STAGES.index(row["job"])):
        query, mode = row["query"], row["mode"]
        if row["status"] == FAILED:
            state: Literal["held", "failed"] = "held" if row["job"] == "validate" else "failed"
            reason = (row["reason"] or "").removeprefix(f"{query}: ")[:_MOST_CHARACTERS]
            yield QueryResult(query, state, mode, reason=reason)
        elif (
            row["status"] == SUCCEEDED
            and row["job"] == "publish"
            and row["table_version"] is not None
        ):
            version = row["table_version"]
            yield QueryResult(query, "published", mode, row["rows_out"], row["to_epoch"], version)
