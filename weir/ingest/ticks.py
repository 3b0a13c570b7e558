"""Epochs in which only time passes, so that a stream without input goes on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from weir.ingest import clock
from weir.ingest.changesets import SourcePosition
from weir.ingest.epochs import StreamEpoch, StreamEpochs, Transaction
from weir.ingest.journal import Journal
from weir.ingest.lateness import stream_state
from weir.ingest.sources.source import Source
from weir.lake.instants import microseconds
from weir.lake.lake import Lake


def due_ticks(
    lake: Lake,
    sources: Sequence[Source],
    positions: Mapping[str, SourcePosition],
    busy: Collection[str],
    now: datetime,
) -> list[Source]:
    """The streams that had events, but no epoch for as long as `idle`.

    Args:
        lake: which holds the streams.
        sources: the declared sources.
        positions: by name, how far each source is ingested.
        busy: sources that have or had input in this run, or that stopped.
        now: the time.
    """
    return [
        source
        for source in sources
        if source.name not in busy
        and _is_idle(source, positions[source.name].ingested_at, now)
        and stream_state(lake, source.name).frontier is not None
    ]


def _is_idle(source: Source, ingested_at: datetime | None, now: datetime) -> bool:
    if source.stream is None or source.stream.idle is None or ingested_at is None:
        return False
    return now - ingested_at >= timedelta(microseconds=source.stream.idle)


def tick(journal: Journal, source: Source) -> Transaction:
    """Commit an epoch in which time passes in a stream that had events."""
    declared, before = source.stream, stream_state(journal.lake, source.name)
    assert declared is not None, "only streams have ticks"
    assert before.frontier is not None, "and only those that had events"
    now, epoch, run_id = clock.now(), journal.head() + 1, journal.run_id
    transaction = Transaction(
        epoch=epoch, source=source.name, position=None, ingested_at=now, run_id=run_id
    )
    instant = microseconds(now)
    frontier = max(before.frontier, instant - declared.delay)
    passed = StreamEpoch(epoch, source.name, frontier, 0, 0, 0, run_id)
    latest, lateness = instant + declared.ahead, declared.lateness
    journal.commit_passed_time(
        StreamEpochs((transaction,), (passed,), before.starts, latest, lateness, before.deleted)
    )
    return transaction
