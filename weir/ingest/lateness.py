"""Which events a stream takes, by its frontier: before an epoch, f(e-1).

    f(e)  = max(f(e-1), the newest instant that epoch e brings - delay)
    late    instant < f(e-1) - lateness, or before the stream starts or what is kept of it
    early   instant > the time of ingest + ahead

A late event never moves the frontier, because delay is not negative; an early one must not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from weir.compute.sql import (
    alias,
    as_text,
    case,
    column,
    columns,
    equal,
    inner_join,
    is_not_null,
    is_null,
    number,
    rows_of,
    select,
    small_number,
    subquery,
    text,
)
from weir.ingest.epochs import StreamEpochs
from weir.ingest.journal import newest_of_ingest
from weir.ingest.netting import QUAD
from weir.ingest.sources.stream import Stream
from weir.lake.lake import Lake
from weir.lake.tables import STREAMS
from weir.progress.streams import DeletedEvents, deleted_events

TOO_LATE = "too late: before the frontier, and more than `lateness` so"
DELETED = "events of its time have been deleted"
BEFORE_START = "before the start of the stream"
TOO_EARLY = "dated more than `ahead` after the time of ingest"
"""Why an event is not taken."""


@dataclass(frozen=True, slots=True)
class StreamState:
    """How far a stream is: its first instant and its frontier, None before its first event.

    deleted: which of its events are deleted; None for none.
    """

    starts: int | None = None
    frontier: int | None = None
    deleted: DeletedEvents | None = None


def stream_state(lake: Lake, name: str) -> StreamState:
    """How far a stream is, by its newest commit."""
    last = newest_of_ingest(lake, STREAMS.name(name))
    if last is None:
        return StreamState()
    epochs = StreamEpochs.of(last)
    return StreamState(epochs.starts, epochs.epochs[-1].frontier, deleted_events(lake, name))


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an epoch takes: the events in [starts, latest] that are not before `since` or `kept`.

    frontier: before the epoch. after: after it. Instants; None where there is no bound.
    """

    ordinal: int
    epoch: int
    frontier: int | None
    since: int | None
    kept: int | None
    starts: int | None
    latest: int
    after: int | None


def instants_found(dated: str, latest: int, starts: int | None) -> exp.Select:
    """The least and the greatest instant of each change set in [starts, latest]."""
    within: list[exp.Expr] = [column("instant") <= number(latest)]
    if starts is not None:
        within.append(column("instant") >= number(starts))
    return select(
        column("ordinal"),
        exp.Min(this=column("instant")),
        exp.Max(this=column("instant")),
        from_=rows_of(dated),
        where=within,
        group_by=[column("ordinal")],
    )


def bounds_of(
    stream: Stream,
    before: StreamState,
    epochs: Mapping[int, int],
    newest: Mapping[int, int],
    starts: int | None,
    latest: int,
) -> list[Bounds]:
    """The bounds of successive epochs.

    Args:
        stream: the keys of the stream.
        before: how far the stream was before them.
        epochs: by ordinal, in order.
        newest: the greatest instant in [starts, latest] of those that have one, by ordinal.
        starts: first instant of the stream.
        latest: last instant that is not too early.
    """
    bounds = []
    frontier = before.frontier
    kept = None if before.deleted is None else before.deleted.before
    for ordinal, epoch in epochs.items():
        reached = [newest[ordinal] - stream.delay] if ordinal in newest else []
        after = max([*reached, *([] if frontier is None else [frontier])], default=None)
        since = None if frontier is None else frontier - stream.lateness
        bounds.append(Bounds(ordinal, epoch, frontier, since, kept, starts, latest, after))
        frontier = after
    return bounds


_NAMES = ("ordinal", "epoch", "frontier", "since", "kept", "starts", "latest")


def bounds_table(bounds: list[Bounds]) -> pa.Table:
    """The bounds as the relation that `events` reads."""
    types = [pa.int32(), *[pa.int64()] * (len(_NAMES) - 1)]
    return pa.table(
        {
            name: pa.array([getattr(row, name) for row in bounds], kind)
            for name, kind in zip(_NAMES, types, strict=True)
        }
    )


def events(dated: str, bounds: str) -> exp.Select:
    """The events of each epoch: QUAD, instant, line, epoch, frontier, reason.

    A change set has an event once. reason: why it is not taken, else null.
    """
    once = select(
        *columns(("ordinal", *QUAD, "instant")),
        alias(exp.Min(this=column("line")), "line"),
        from_=rows_of(dated),
        where=[is_not_null(column("instant"))],
        group_by=columns(("ordinal", *QUAD, "instant")),
    )
    instant = column("instant", "once")
    reason = case(
        (instant > column("latest", "bounds"), text(TOO_EARLY)),
        (instant < column("starts", "bounds"), text(BEFORE_START)),
        (instant < column("since", "bounds"), text(TOO_LATE)),
        (instant < column("kept", "bounds"), text(DELETED)),
    )
    return select(
        *columns((*QUAD, "instant", "line"), "once"),
        *columns(("epoch", "frontier"), "bounds"),
        alias(as_text(reason), "reason"),
        from_=subquery(once, "once"),
        joins=[inner_join(rows_of(bounds, "bounds"), *equal(["ordinal"], "once", "bounds"))],
    )


def counts(events: str) -> exp.Select:
    """How many events of each epoch are taken, are not, and are too early."""

    def times(condition: exp.Expr) -> exp.Expr:
        return exp.Count(this=case((condition, small_number(1))))

    return select(
        column("epoch"),
        times(is_null(column("reason"))),
        times(is_not_null(column("reason"))),
        times(column("reason").eq(text(TOO_EARLY))),
        from_=rows_of(events),
        group_by=[column("epoch")],
    )
