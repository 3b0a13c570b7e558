"""How far every query is, read without Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from jobs.catalog.catalog import Catalog
from jobs.cli.views import published_queries
from jobs.progress.backlog import Unpublished, unpublished
from jobs.progress.verdicts import graph_failure, graph_validated_to, verdicts
from jobs.progress.watermarks import mark, untouched
from jobs.settings import Settings
from lake.lake import Lake
from lake.tables import RUNS, TRANSACTIONS


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a query stands.

    Attributes:
        state: `current`; `behind`: a run will publish more; `held`: a check of its rows or of the
            graph failed; `new`: not published yet; `broken`: its file cannot be used; `removed`:
            it is gone.
        watermark: the epoch up to which it is maintained.
        published: the epoch up to which it is published.
        lag_epochs: epochs that are not published yet.
        lag: how long the oldest of them has been waiting.
        rows: rows of the published answer.
        mode: what the last run that looked at it did; `reason`: why.
    """

    query: str
    state: str
    watermark: int | None
    published: int | None
    lag_epochs: int
    lag: timedelta
    rows: int | None
    mode: str | None
    reason: str | None


def standings(settings: Settings) -> list[Standing]:
    """Every registered query, and every removed one that still has answers."""
    lake = settings.open_lake()
    epochs = _epochs(lake)
    newest = int(pc.max(epochs["epoch"]).as_py() or 0)
    catalog = Catalog.of(settings)
    broken = {name: str(error) for name, error in catalog.errors.items()}
    registered = [query.name for query in catalog.members]
    known = {*registered, *broken}
    removed = [name for name in published_queries(settings) if name not in known]
    works = unpublished(lake, registered)
    waiting = {work.query for work in works}
    held = _held(lake, works)
    last = _last_maintained(lake)
    ranges = {job: untouched(lake, job) for job in ("maintain", "publish")}
    found = []
    for name in sorted({*known, *removed}):
        maintained, published = (
            mark(lake, f"{folder}/{name}", job, ranges[job].get(name, ()))
            for folder, job in (("embeddings", "maintain"), ("answers", "publish"))
        )
        to_epoch = published.watermark if published else 0
        row = last.get(name, {})
        found.append(
            Standing(
                query=name,
                state=_state(
                    name,
                    removed,
                    broken,
                    held,
                    published is None,
                    newest > to_epoch or name in waiting,
                ),
                watermark=maintained.watermark if maintained else None,
                published=published.watermark if published else None,
                lag_epochs=newest - to_epoch,
                lag=_waiting(epochs, to_epoch),
                rows=published.metadata.extra["rows"] if published else None,
                mode=row.get("mode"),
                reason=broken.get(name) or held.get(name) or row.get("reason"),
            )
        )
    return found


def _held(lake: Lake, works: Sequence[Unpublished]) -> dict[str, str]:
    """Why the rows of a query, or the graph that they come from, did not pass the checks."""
    found, graph_to = verdicts(lake), graph_validated_to(lake)
    graph = graph_failure(lake, graph_to)
    held = {}
    for work in works:
        verdict = found.get(work.query)
        if verdict and verdict.is_about(work) and not verdict.success:
            held[work.query] = verdict.reason
        elif graph and graph_to < work.to_epoch:
            held[work.query] = graph
    return held


def _state(
    name: str,
    removed: list[str],
    broken: Mapping[str, str],
    held: Mapping[str, str],
    is_new: bool,
    is_behind: bool,
) -> str:
    if name in broken:
        return "broken"
    if name in removed:
        return "removed"
    if name in held:
        return "held"
    if is_new:
        return "new"
    return "behind" if is_behind else "current"


def _epochs(lake: Lake) -> pa.Table:
    """epoch, ingested_at of every transaction."""
    table = lake.open(TRANSACTIONS.name)
    if table is None:
        schema = pa.schema([("epoch", pa.int64()), ("ingested_at", pa.timestamp("us", "UTC"))])
        return schema.empty_table()
    return table.to_pyarrow_table(columns=["epoch", "ingested_at"])


def _waiting(epochs: pa.Table, after: int) -> timedelta:
    """How long the oldest epoch after `after` has been there."""
    since = pc.min(epochs.filter(pc.greater(epochs["epoch"], pa.scalar(after)))["ingested_at"])
    return datetime.now(UTC) - since.as_py() if since.is_valid else timedelta()


def _last_maintained(lake: Lake) -> dict[str, dict[str, Any]]:
    """The last row of the ledger about the maintenance of each query."""
    table = lake.open(RUNS.name)
    if table is None:
        return {}
    rows = table.to_pyarrow_table(
        columns=["number", "query", "mode", "reason"], filters=[("job", "=", "maintain")]
    )
    of_queries = rows.filter(pc.is_valid(rows["query"])).sort_by("number")
    return {row["query"]: row for row in of_queries.to_pylist()}
