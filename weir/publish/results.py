"""What a run did for each query, and which answers it has published (no Spark).

It is read from the tables, not from the outcome of the run, which may have been killed after its
commits, or may have held back other answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from weir.definitions.names import declared_names, folders_of
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED, SUCCEEDED
from weir.lake.tables import RUNS
from weir.progress.completion import Completion
from weir.project import open_lake
from weir.settings import Settings

_STAGES = ("maintain", "validate", "publish")
_MOST_CHARACTERS = 500
"""The longest reason."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a run did for a query.

    Attributes:
        query: its name.
        state: `published`: rows were appended to its answer; `held`: a check failed; `failed`: a
            stage did.
        mode: how it was maintained or published; None if the run was killed.
        rows: the number of rows appended; None if the run was killed.
        epoch: the epoch up to which its answer is published; None if it is not.
        version: the version of `answers/<query>` that the run committed; None if there is none.
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
    """The queries that failed, were held, or got new rows in a run, by name."""
    lake = open_lake(settings)
    results = {result.query: result for result in _recorded(lake, run_id)}
    completion = Completion.read(lake)
    names = declared_names(folders_of(settings))
    damaged = completion.damaged(names)
    for query in (name for name in names if name not in damaged and name not in results):
        published = completion.published(query)
        if published is not None and published.metadata.run_id == run_id:
            epoch, mode = published.metadata.watermark, published.metadata.mode
            results[query] = QueryResult(query, "published", mode, None, epoch, published.version)
    return tuple(results[query] for query in sorted(results))


def _recorded(lake: Lake, run_id: str) -> Iterator[QueryResult]:
    """The results that the ledger has, in the order of the stages."""
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
