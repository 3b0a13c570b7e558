"""How far every source is: what was ingested of it, what waits, and why it is stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow.compute as pc

from weir.errors import ConfigurationError
from weir.ingest.endings import stays, undeclared_sources, what_to_do
from weir.ingest.pending import Pending, pending_change_sets, source_positions
from weir.ingest.source_files import changed_files
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.stopped_sources import StoppedSource, stopped_sources
from weir.lake.lake import Lake
from weir.lake.tables import TRANSACTIONS
from weir.project import Project


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How far a source is, a stream or one that changes the graph.

    Attributes:
        state: `current`; `behind`: it has change sets that are not ingested; `stopped`: the next
            one cannot be ingested; `waiting`: the files of the next one have not settled yet;
            `removed`: it is not declared any more; what stays of it is the reason.
        position: the last change set that was ingested.
        epoch: its newest epoch; None before the first.
        age: how long ago that was ingested.
        pending: change sets that can be ingested and are not.
        rejected: lines and documents that could not be used, in all.
        rejected_last: those of the last change set: the graph is without them, or has an earlier
            version of them.
        since: when a run first found it stopped, or waiting for the same change set.
        reason: why it is.
        changed: files that were changed after they were read.
        unread: how many files beside its change sets are not read, and why.
        missing: which change sets seem to be missing before the pending ones.
    """

    source: str
    state: str
    position: str | None
    epoch: int | None
    age: timedelta | None
    pending: int
    rejected: int
    rejected_last: int = 0
    since: datetime | None = None
    reason: str | None = None
    changed: tuple[str, ...] = ()
    unread: str | None = None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class SourceStatuses:
    """All sources, and why none can be ingested, if their declaration is wrong."""

    sources: tuple[SourceStatus, ...]
    error: str | None = None


def source_statuses(project: Project) -> SourceStatuses:
    """Every source that is declared or was ingested, by name."""
    lake = project.open_lake()
    try:
        declared = {source.name: source for source in all_sources(project.settings)}
        error = None
    except ConfigurationError as wrong:
        declared, error = {}, str(wrong)
    ingested = _ingested(lake)
    positions = source_positions(lake)
    pending = pending_change_sets(project, [*declared.values()], positions)
    numbers = Counter(each.source.name for each in pending.change_sets)
    recorded = stopped_sources(lake)
    changed = changed_files(lake, declared.values()).changed
    stay = {} if error else undeclared_sources(lake, positions, declared)
    gone = {name for name, each in positions.items() if each.ended} - {*declared}
    found = []
    for name in sorted({*declared, *ingested} - gone):
        of_source = ingested.get(name, {})
        at = of_source.get("ingested_at")
        state, reason, since = _not_ready(name, pending, recorded.get(name))
        # The change sets before the first that waits are ingested.
        if state is None or (state == "waiting" and numbers[name]):
            state, reason, since = "behind" if numbers[name] else "current", None, None
        # Without a correct declaration nothing is known of what is declared.
        if error is None and name not in declared:
            state, since = "removed", None
            reason = f"{stays(stay[name])}: {what_to_do(name)}" if name in stay else None
        found.append(
            SourceStatus(
                source=name,
                state=state,
                position=positions[name].last if name in positions else None,
                epoch=of_source.get("epoch"),
                age=None if at is None else datetime.now(UTC) - at,
                pending=numbers[name],
                rejected=of_source.get("rejected", 0),
                rejected_last=of_source.get("rejected_last", 0),
                since=since,
                reason=reason,
                changed=tuple(each.path for each in changed if each.source == name),
                unread=pending.unread.get(name),
                missing=pending.missing.get(name),
            )
        )
    return SourceStatuses(tuple(found), error)


def _not_ready(
    name: str, pending: Pending, recorded: StoppedSource | None
) -> tuple[str | None, str | None, datetime | None]:
    """State, reason and since when, of a source that is stopped or waits; None of another."""
    stopped = recorded if recorded is not None and recorded.state == "stopped" else None
    if name in pending.errors:
        return "stopped", str(pending.errors[name]), None if stopped is None else stopped.since
    waiting = pending.waiting.get(name)
    if waiting is not None:
        known = recorded if recorded is not None and recorded.waits_at(waiting.position) else None
        return "waiting", waiting.reason, None if known is None else known.since
    # What a run found at a change set shows only when that is read; whether files have settled
    # shows at any time.
    return (None, None, None) if stopped is None else ("stopped", stopped.reason, stopped.since)


def _ingested(lake: Lake) -> Mapping[str, Mapping[str, Any]]:
    """By source: its newest epoch, when that was ingested, and what was rejected, in all and then.

    Keys: epoch, ingested_at, rejected, rejected_last.
    """
    if not lake.exists(TRANSACTIONS.name):
        return {}
    columns = ["source", "epoch", "ingested_at", "rejected", "position"]
    rows = lake.rows(TRANSACTIONS.name, columns)
    found = rows.group_by("source").aggregate(
        [("epoch", "max"), ("ingested_at", "max"), ("rejected", "sum")]
    )
    # An epoch of a stream in which nothing came has no position.
    read = rows.filter(pc.is_valid(rows["position"])).sort_by("epoch")
    # The last one is that of the newest epoch only if the rows stay in order.
    newest = read.group_by("source", use_threads=False).aggregate([("rejected", "last")])
    last = {row["source"]: row["rejected_last"] for row in newest.to_pylist()}
    return {
        row["source"]: {
            "epoch": row["epoch_max"],
            "ingested_at": row["ingested_at_max"],
            "rejected": row["rejected_sum"],
            "rejected_last": last.get(row["source"], 0),
        }
        for row in found.to_pylist()
    }
