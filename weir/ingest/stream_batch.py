"""One batch of a stream: change sets in, epochs with dated events out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import column, columns, rows_of, select, union_all
from weir.ingest import clock, event_time, lateness
from weir.ingest.batch import BatchResult, refuse_excess
from weir.ingest.changesets import AcceptedChangeSets, ChangeSet, SourcePosition
from weir.ingest.instants import zone_offsets
from weir.ingest.journal import Journal, Transaction
from weir.ingest.lateness import Bounds, StreamState
from weir.ingest.reading import BatchReading, read_batch, stop_if_much_is_rejected
from weir.ingest.rejections import located
from weir.ingest.rows import REJECTION_COLUMNS
from weir.ingest.source_files import read_files
from weir.ingest.sources.stream import Stream
from weir.ingest.stopped_sources import StoppedSource
from weir.ingest.stream_journal import StreamEpoch, StreamEpochs, StreamJournal
from weir.lake.instants import microseconds
from weir.project import Project

_NUMBERED, _DATED, _EVENTS, _REJECTIONS = "numbered", "dated", "events", "rejections"


def ingest_stream_batch(
    engine: Engine,
    project: Project,
    journal: Journal,
    streams: StreamJournal,
    change_sets: Sequence[ChangeSet],
    positions: Mapping[str, SourcePosition],
    permits: Mapping[str, StoppedSource],
) -> BatchResult:
    """Make epochs of change sets of one stream, in their order.

    Args:
        engine: makes the relations.
        project: whose sources are read.
        journal: where rejected rows and the epochs are committed.
        streams: where the events are.
        change_sets: of one source.
        positions: by name, how far each source is ingested.
        permits: what may be beyond the guards of its source, by name of the source.
    """
    source = change_sets[0].source
    declared = source.stream
    assert declared is not None, "the batch is one of a stream"
    accepted = AcceptedChangeSets(dict(enumerate(change_sets)))
    batch = read_batch(project, engine, accepted, positions)
    if not accepted.change_sets and not accepted.refused:
        return BatchResult.of(accepted)
    now, head = clock.now(), journal.head()
    _date(engine, project, declared, accepted, batch)
    rejected = _rejected(engine)
    _stop_beyond_guards(project, accepted, batch, rejected, permits)
    ordinals = sorted(accepted.change_sets)
    epochs = {ordinal: head + i for i, ordinal in enumerate(ordinals, start=1)}
    until = max(epochs.values(), default=head)

    _reject(engine, journal, accepted, rejected, until)
    if not epochs:
        return BatchResult.of(accepted)
    files = read_files(accepted.change_sets.values(), project.settings.limits.driver_parse_bytes)
    journal.record_read(files, until)

    latest = microseconds(now) + declared.ahead
    before = streams.state(source.name)
    bounds = _bounds(engine, declared, before, epochs, latest)
    engine.load("bounds", lateness.bounds_table(bounds))
    engine.make(Statement(_EVENTS, lateness.events(_DATED, "bounds"), "cache"))
    counts = _counts(engine)
    found = [
        StreamEpoch(
            each.epoch,
            source.name,
            each.after,
            *counts.get(each.epoch, (0, 0, 0)),
            run_id=journal.run_id,
        )
        for each in bounds
    ]
    transactions = [
        Transaction(
            epoch=epochs[ordinal],
            source=source.name,
            position=accepted.change_sets[ordinal].position,
            change_id=batch.change_sets[ordinal].change_id,
            event_time=batch.change_sets[ordinal].event_time,
            ingested_at=now,
            inserted=0,
            deleted=0,
            rejected=rejected.get(ordinal, 0),
            run_id=journal.run_id,
        )
        for ordinal in ordinals
    ]
    late = sum(each.late for each in found)
    if late:
        streams.quarantine(engine, source.name, _EVENTS, until, late)
    starts = bounds[-1].starts
    lateness_, deleted = declared.lateness, before.deleted
    streams.commit(
        engine, _EVENTS, StreamEpochs(transactions, found, starts, latest, lateness_, deleted)
    )
    operations = sum(batch.change_sets[ordinal].changes for ordinal in ordinals)
    return BatchResult.of(accepted, transactions, operations, found)


def _stop_beyond_guards(
    project: Project,
    accepted: AcceptedChangeSets,
    batch: BatchReading,
    rejected: Mapping[int, int],
    permits: Mapping[str, StoppedSource],
) -> None:
    """Stop the stream at its first change set beyond its guards.

    Events without a time are rejected, too.
    """
    for ordinal, change_set in sorted(accepted.change_sets.items()):
        read = batch.change_sets[ordinal]
        total = rejected.get(ordinal, 0)
        stop_if_much_is_rejected(accepted, ordinal, change_set, total, project.settings)
        if ordinal not in accepted.change_sets:
            return
        undated = total - read.rejections
        malformed, dated = read.malformed + undated, read.changes - undated
        reading = replace(read, malformed=malformed, changes=dated)
        excess = change_set.source.guards.exceeded_by(reading, held=0, inserted=0, deleted=0)
        if refuse_excess(accepted, ordinal, change_set, excess, permits):
            return


def _date(
    engine: Engine,
    project: Project,
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
                "document": pa.array([each.document for each in results], pa.int32()),
                "file": pa.array([each.name for each in results], pa.string()),
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
    undated = event_time.undated(_NUMBERED, _DATED, project.settings.limits.raw_bytes)
    engine.make(Statement(_REJECTIONS, union_all([malformed, undated])))


def _moment(ordinal: int, change_set: ChangeSet, batch: BatchReading) -> int | None:
    """The instant of a change set: of its header or commit, else when its files were written."""
    stated = batch.change_sets[ordinal].event_time
    written = [each.modified for each in change_set.documents if each.modified is not None]
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


def _reject(
    engine: Engine,
    journal: Journal,
    accepted: AcceptedChangeSets,
    counts: Mapping[int, int],
    until: int,
) -> None:
    """Record the rejected rows, of which each change set has so many."""
    recorded = accepted.change_sets | accepted.refused
    if counts.keys() & recorded.keys():
        rows = located(engine, recorded, _REJECTIONS)
        journal.reject(engine, rows, [each.position for each in recorded.values()], until)


def _bounds(
    engine: Engine,
    declared: Stream,
    before: StreamState,
    epochs: Mapping[int, int],
    latest: int,
) -> list[Bounds]:
    """The bounds of the epochs, by ordinal."""
    starts = before.starts if declared.starts_at is None else declared.starts_at
    found = _instants(engine, epochs, latest, starts)
    if starts is None and found:
        starts = found[min(found)][0]
        found = _instants(engine, epochs, latest, starts)
    newest = {ordinal: last for ordinal, (_, last) in found.items()}
    return lateness.bounds_of(declared, before, epochs, newest, starts, latest)


def _instants(
    engine: Engine, ordinals: Collection[int], latest: int, starts: int | None
) -> dict[int, tuple[int, int]]:
    """The least and the greatest instant of change sets, by ordinal."""
    rows = engine.rows(lateness.instants_found(_DATED, latest, starts))
    found = {int(str(o)): (int(str(first)), int(str(last))) for o, first, last in rows}
    # A change set at which the stream stopped is dated, and gives no events.
    return {ordinal: each for ordinal, each in found.items() if ordinal in ordinals}


def _counts(engine: Engine) -> dict[int, tuple[int, int, int]]:
    """How many events of each epoch are taken, are not, and are too early."""
    return {
        int(str(epoch)): (int(str(rows)), int(str(late)), int(str(early)))
        for epoch, rows, late, early in engine.rows(lateness.counts(_EVENTS))
    }
