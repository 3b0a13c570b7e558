"""The tables of streams: events per stream, and for all streams their epochs and late events."""

from __future__ import annotations

from weir.lake.tables.layout import (
    GRAPH,
    MARKED,
    OBJECT,
    PREDICATE,
    RUN_ID,
    SUBJECT,
    Column,
    Table,
    TableFamily,
)

STREAM_EPOCHS = Table(
    name="stream_epochs",
    comment="One row per epoch of a stream: how far the stream is complete, and what it brought.",
    columns=(
        Column("epoch", "BIGINT", "epoch, as in `transactions`"),
        Column("stream", "STRING", "name of the stream in sources.yml"),
        Column(
            "frontier",
            "BIGINT",
            "instant before which no event is expected any more; null before the first event",
        ),
        Column("rows", "BIGINT", "events of the epoch in `streams/<name>`"),
        Column("late", "BIGINT", "events of the epoch in `late`"),
        Column("early", "BIGINT", "those of them that are too far ahead of the time of ingest"),
        RUN_ID,
    ),
    properties=MARKED,
)

_EVENT = (
    GRAPH,
    SUBJECT,
    PREDICATE,
    OBJECT,
    Column("instant", "BIGINT", "when it happened, in microseconds since 1970-01-01T00:00:00Z"),
    Column("line", "BIGINT", "its place in the order of its change set"),
    Column("epoch", "BIGINT", "epoch in which it arrived"),
)

LATE = Table(
    name="late",
    comment="Events that a stream did not take: too late, before its start, or too far ahead.",
    columns=(
        *_EVENT,
        Column("stream", "STRING", "name of the stream in sources.yml"),
        Column("frontier", "BIGINT", "frontier of the stream before the epoch, or null"),
        Column("reason", "STRING", "why"),
        RUN_ID,
    ),
    properties=MARKED,
)

STREAMS = TableFamily("streams", "stream")
"""The events of a stream."""


def stream(name: str) -> Table:
    """The table of the stream `name`: its events, in the order (instant, epoch, line)."""
    return Table(
        name=STREAMS.name(name),
        comment=f"Events of {name}: quads, each with the instant at which it happened.",
        columns=(*_EVENT, Column("weight", "INT", "always +1")),
        cluster_by=("instant",),
        properties=MARKED,
    )
