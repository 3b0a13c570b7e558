"""A stream as what a batch writes: when events happened, and which of them it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import column, columns, rows_of, select, union_all
from weir.ingest import event_time, lateness
from weir.ingest.changesets import AcceptedChangeSets, ChangeSet
from weir.ingest.epochs import StreamEpoch, StreamEpochs, Transaction
from weir.ingest.instants import zone_offsets
from weir.ingest.journal import Journal
from weir.ingest.lateness import Bounds, StreamState, stream_state
from weir.ingest.reading import BatchReading, ChangeSetReading, stop_if_much_is_rejected
from weir.ingest.rows import REJECTION_COLUMNS
from weir.ingest.sources.source import Source
from weir.ingest.sources.stream import Stream
from weir.lake.counted import counted
from weir.lake.instants import microseconds
from weir.lake.lake import Lake
from weir.settings import Settings

_NUMBERED, _DATED, _EVENTS, _REJECTIONS = "numbered", "dated", "events", "rejections"


@dataclass(frozen=True, slots=True)
class EventEpochs:
    """What change sets become of a stream.

    Attributes:
        numbers: the epochs by ordinal.
        target: the stream.
        bounds: what each epoch takes, in order.
        counts: by epoch, how many events are taken, are not, and are too early.
    """

    numbers: Mapping[int, int]
    target: StreamTarget
    bounds: Sequence[Bounds] = ()
    counts: Mapping[int, tuple[int, int, int]] = field(default_factory=dict)

    def changed_by(self, ordinal: int) -> tuple[int, int]:
        """No quads of the graph appear or vanish by events."""
        del ordinal
        return 0, 0

    def prepare(self, engine: Engine, journal: Journal, until: int) -> None:
        """Commit nothing: a stream belongs to its source."""

    def commit(self, engine: Engine, journal: Journal, transactions: Sequence[Transaction]) -> str:
        """Commit the epochs; returns how many events they bring, in words."""
        target, stream = self.target, self.target.stream
        epochs = [
            StreamEpoch(
                bound.epoch,
                target.name,
                bound.after,
                *self.counts.get(bound.epoch, (0, 0, 0)),
                run_id=journal.run_id,
            )
            for bound in self.bounds
        ]
        starts, deleted = self.bounds[-1].starts, target.before.deleted
        begun = StreamEpochs(transactions, epochs, starts, target.latest, stream.lateness, deleted)
        journal.commit_events(engine, _EVENTS, begun)
        events, late = (sum(getattr(epoch, part) for epoch in epochs) for part in ("rows", "late"))
        return f"{counted(events, 'event')}{f', {late:,} late' if late else ''}"


@dataclass(frozen=True, slots=True)
class StreamTarget:
    """Change sets of one stream, dated.

    Attributes:
        name: of the stream.
        stream: its keys.
        readings: what is known of each change set, by ordinal; events without a time are rejected,
            too.
        before: how far the stream was.
        latest: last instant that is not too early.
        rejections: the relation of their rejected rows.
    """

    name: str
    stream: Stream
    readings: Mapping[int, ChangeSetReading]
    before: StreamState
    latest: int
    rejections: str = _REJECTIONS

    @classmethod
    def of(
        cls,
        engine: Engine,
        settings: Settings,
        lake: Lake,
        source: Source,
        accepted: AcceptedChangeSets,
        batch: BatchReading,
        now: datetime,
    ) -> Self:
        """The change sets of a batch that is read; the stream stops at one that is not used."""
        stream, readings = source.stream, dict(batch.change_sets)
        assert stream is not None, "the batch is one of a stream"
        _date(engine, settings, stream, accepted, batch)
        rejected = _rejected(engine)
        for ordinal, change_set in sorted(accepted.change_sets.items()):
            reading, total = readings[ordinal], rejected.get(ordinal, 0)
            stop_if_much_is_rejected(accepted, ordinal, change_set, total, settings)
            undated = total - reading.rejections
            malformed, dated = reading.malformed + undated, reading.changes - undated
            readings[ordinal] = replace(
                reading, rejections=total, malformed=malformed, changes=dated
            )
        before, latest = stream_state(lake, source.name), microseconds(now) + stream.ahead
        return cls(source.name, stream, readings, before, latest)

    def epochs(self, engine: Engine, accepted: AcceptedChangeSets, head: int) -> EventEpochs:
        """Number the accepted change sets after `head`, and decide which events are taken."""
        numbers = accepted.numbered(head)
        if not numbers:
            return EventEpochs({}, self)
        bounds = _bounds(engine, self.stream, self.before, numbers, self.latest)
        engine.load("bounds", lateness.bounds_table(bounds))
        engine.make(Statement(_EVENTS, lateness.events(_DATED, "bounds"), "cache"))
        return EventEpochs(numbers, self, bounds, _counts(engine))


def _date(
    engine: Engine,
    settings: Settings,
    declared: Stream,
    accepted: AcceptedChangeSets,
    batch: BatchReading,
) -> None:
    """Make the relations of `event_time` and that of rejected rows."""
    moments = {
        ordinal: _moment(ordinal, change_set, batch)
        for ordinal, change_set in accepted.change_sets.items()
    }
    results = batch.rows.results
    relations = {
        "moments": pa.table(
            {
                "ordinal": pa.array([*moments], pa.int32()),
                "moment": pa.array([*moments.values()], pa.int64()),
            }
        ),
        "documents": pa.table(
            {
                "document": pa.array([result.document for result in results], pa.int32()),
                "file": pa.array([result.name for result in results], pa.string()),
            }
        ),
        "offsets": zone_offsets(declared.timezone),
    }
    for name, rows in relations.items():
        engine.load(name, rows)
    engine.load("changes", batch.rows.changes)
    engine.load("malformed", batch.rows.rejections)
    # All of them are read more than once.
    numbered = event_time.numbered("changes", "moments", "documents")
    engine.make(Statement(_NUMBERED, numbered, "cache"))
    dated = event_time.dated(_NUMBERED, declared.time, "moments", "offsets")
    engine.make(Statement(_DATED, dated, "cache"))
    malformed = select(*columns(REJECTION_COLUMNS), from_=rows_of("malformed"))
    undated = event_time.undated(_NUMBERED, _DATED, settings.limits.raw_bytes)
    engine.make(Statement(_REJECTIONS, union_all([malformed, undated])))


def _moment(ordinal: int, change_set: ChangeSet, batch: BatchReading) -> int | None:
    """The instant of a change set: of its header or commit, else when its files were written."""
    stated = batch.change_sets[ordinal].event_time
    written = [
        document.modified for document in change_set.documents if document.modified is not None
    ]
    time = stated if stated is not None else max(written, default=None)
    return None if time is None else microseconds(time)


def _rejected(engine: Engine) -> dict[int, int]:
    """How many rows are rejected, by ordinal."""
    per_change_set = select(
        column("ordinal"),
        exp.Count(this=exp.Star()),
        from_=rows_of(_REJECTIONS),
        group_by=[column("ordinal")],
    )
    return {int(str(key)): int(str(n)) for key, n in engine.rows(per_change_set)}


def _bounds(
    engine: Engine,
    declared: Stream,
    before: StreamState,
    epochs: Mapping[int, int],
    latest: int,
) -> list[Bounds]:
    """The bounds of the epochs, by ordinal."""
    starts = before.starts if declared.starts_at is None else declared.starts_at
    instants = _instants(engine, epochs, latest, starts)
    if starts is None and instants:
        starts = instants[min(instants)][0]
        instants = _instants(engine, epochs, latest, starts)
    newest = {ordinal: last for ordinal, (_, last) in instants.items()}
    return lateness.bounds_of(declared, before, epochs, newest, starts, latest)


def _instants(
    engine: Engine, ordinals: Collection[int], latest: int, starts: int | None
) -> dict[int, tuple[int, int]]:
    """The least and the greatest instant of change sets, by ordinal."""
    rows = engine.rows(lateness.instants_found(_DATED, latest, starts))
    instants = {int(str(o)): (int(str(first)), int(str(last))) for o, first, last in rows}
    # A change set at which the stream stopped is dated, and gives no events.
    return {ordinal: interval for ordinal, interval in instants.items() if ordinal in ordinals}


def _counts(engine: Engine) -> dict[int, tuple[int, int, int]]:
    """How many events of each epoch are taken, are not, and are too early."""
    return {
        int(str(epoch)): (int(str(rows)), int(str(late)), int(str(early)))
        for epoch, rows, late, early in engine.rows(lateness.counts(_EVENTS))
    }
