"""How far each source is ingested, what is pending, and why it is stopped or waits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from weir.errors import ConfigurationError
from weir.ingest.endings import stays, undeclared_sources, what_to_do
from weir.ingest.ingested import ingested
from weir.ingest.pending import PendingChangeSets, pending_change_sets, source_positions
from weir.ingest.source_files import changed_files
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.stopped_sources import StoppedSource, stopped_sources
from weir.project import Project


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How far a source of the graph, or a stream, is ingested.

    Attributes:
        state: `current`; `behind`: it has change sets that are not ingested; `stopped`: the next
            one cannot be ingested; `waiting`: the files of the next one have not settled yet;
            `removed`: it is no longer declared; the reason says what remains of it.
        position: the last change set that was ingested.
        epoch: its newest epoch; None before the first.
        age: how long ago its newest epoch was ingested.
        pending: the number of change sets that can be ingested and are not.
        rejected: the number of all rejected lines and documents.
        rejected_last: the number of those in the last change set; the graph lacks them, or has an
            earlier version of the document.
        since: when a run first found it stopped, or waiting for the same change set.
        reason: why it is stopped, waits, or was removed.
        changed: files that were changed after they were read.
        unread: how many files in its location are not read, and why.
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
    """The status of all sources; `error`: why none can be ingested, if the declaration is wrong."""

    sources: tuple[SourceStatus, ...]
    error: str | None = None


def source_statuses(project: Project) -> SourceStatuses:
    """The status of each source that is declared or was ingested, by name."""
    lake = project.lake
    try:
        declared = {source.name: source for source in all_sources(project.settings)}
        error = None
    except ConfigurationError as wrong:
        declared, error = {}, str(wrong)
    known = ingested(lake)
    positions = source_positions(lake)
    pending = pending_change_sets(project, [*declared.values()], positions)
    numbers = Counter(change_set.source.name for change_set in pending.change_sets)
    recorded = stopped_sources(lake)
    changed = changed_files(lake, declared.values()).changed
    stay = {} if error else undeclared_sources(lake, positions, declared)
    gone = {name for name, position in positions.items() if position.ended} - {*declared}
    statuses = []
    for name in sorted({*declared, *known} - gone):
        of_source = known.get(name)
        state, reason, since = _not_ready(name, pending, recorded.get(name))
        # A waiting source is behind if change sets before the waiting one can be ingested.
        if state is None or (state == "waiting" and numbers[name]):
            state, reason, since = "behind" if numbers[name] else "current", None, None
        # If the declaration is wrong, it is unknown which sources are declared.
        if error is None and name not in declared:
            state, since = "removed", None
            reason = f"{stays(stay[name])}: {what_to_do(name)}" if name in stay else None
        statuses.append(
            SourceStatus(
                source=name,
                state=state,
                position=positions[name].last if name in positions else None,
                epoch=None if of_source is None else of_source.epoch,
                age=None if of_source is None else datetime.now(UTC) - of_source.at,
                pending=numbers[name],
                rejected=0 if of_source is None else of_source.rejected,
                rejected_last=0 if of_source is None else of_source.rejected_last,
                since=since,
                reason=reason,
                changed=tuple(file.path for file in changed if file.source == name),
                unread=pending.unread.get(name),
                missing=pending.missing.get(name),
            )
        )
    return SourceStatuses(tuple(statuses), error)


def _not_ready(
    name: str, pending: PendingChangeSets, recorded: StoppedSource | None
) -> tuple[str | None, str | None, datetime | None]:
    """State, reason and `since` of a source that is stopped or waits; None for others."""
    stopped = recorded if recorded is not None and recorded.state == "stopped" else None
    if name in pending.errors:
        return "stopped", str(pending.errors[name]), None if stopped is None else stopped.since
    waiting = pending.waiting.get(name)
    if waiting is not None:
        known = recorded if recorded is not None and recorded.waits_at(waiting.position) else None
        return "waiting", waiting.reason, None if known is None else known.since
    # Why a change set stops its source shows only when it is read, so the record of the last run
    # counts; whether files have settled shows at any time.
    return (None, None, None) if stopped is None else ("stopped", stopped.reason, stopped.since)
