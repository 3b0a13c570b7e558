"""Which events of a stream its windows need, and at which instants windows lack deleted ones.

The events of a stream before an instant `kept_from` are deleted, and none before it is taken again.
A leg that begins after the instant `low` reads the content of its windows from `low` on, so that

    kept_from <= needed_from(window, low)   implies   complete_from(window, kept_from) <= low

and the other way round a query whose windows are complete from an instant on can begin there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias, assert_never

import pyarrow as pa
from sqlglot import exp

from weir.compute.sql import (
    alias,
    ascending,
    case,
    coalesce,
    column,
    descending,
    equal,
    greatest,
    left_join,
    number,
    rows_of,
    select,
)
from weir.engine.relations import BEFORE_ALL
from weir.engine.windows import LastElements, SlidingWindow, SteppedWindow, look_back
from weir.timeline.axis import EVERY_INSTANT, Grid
from weir.timeline.legs import Arrival, Leg

TimeWindow: TypeAlias = SlidingWindow | SteppedWindow
"""A window whose content is decided by time alone."""


def settled(
    horizon: int,
    corrects_back: int,
    bounds: Iterable[tuple[int, int]],
    grid: Grid = EVERY_INSTANT,
) -> int:
    """An instant before which no later leg begins.

    Args:
        horizon: of the query.
        corrects_back: for how many microseconds a change of the graph corrects its answers.
        bounds: of each of its streams the frontier, and for how many microseconds before it events
            are taken.
        grid: of the query.
    """
    late = [frontier - lateness for frontier, lateness in bounds]
    return grid.begin(min([horizon - corrects_back, *late])) - 2


def needed_from(window: TimeWindow, low: int) -> int:
    """The first instant of the events that a window has at the instant `low`, or later."""
    back = look_back(window)
    assert back is not None, "time decides"
    return low - back


def needed_elements(events: str, window: LastElements, low: int, known: int) -> exp.Select:
    """The instant of the first element that a window has at `low`, or later; no row if all count.

    Args:
        events: the relation of the stream's events.
        window: the window.
        low: an instant.
        known: the epoch up to which events are known at the beginning of the leg.
    """
    return select(
        column("instant"),
        from_=rows_of(events),
        where=[column("instant") <= number(low), column("epoch") <= number(known)],
        order_by=[descending(column("instant"))],
        limit=1,
    ).offset(window.elements - 1)


def complete_from(window: TimeWindow, kept_from: int) -> int:
    """The first instant from which on a window lacks no event; `BEFORE_ALL` if it never does."""
    match window:
        case SlidingWindow(width):
            return kept_from + width - 1
        case SteppedWindow(width, step, origin):
            begin = origin if window.bounds == "[)" else origin + 1
            if kept_from <= begin:
                return BEFORE_ALL
            # The first close of the grid whose window begins at `kept_from` or later.
            return origin + width + -((begin - kept_from) // step) * step
        case _:
            assert_never(window)


def elements_complete_from(
    events: str, window: LastElements, kept_from: int, horizons: str, after: int
) -> exp.Select:
    """The first instant at which as many elements are kept as a window has; no row if at none.

    That is at every later epoch: an event of a later epoch than `after` is there only at instants
    that were not final before it.

    Args:
        events: the relation of the stream's events.
        window: the window.
        kept_from: the first instant whose events are kept.
        horizons: the relation of `horizons_before`.
        after: the epoch up to which the query is maintained.
    """
    final_before = coalesce(column("horizon", "h"), number(BEFORE_ALL))
    arrived = greatest(column("instant", "e"), final_before + number(1))
    known = column("epoch", "e") <= number(after)
    at = case((known, column("instant", "e")), otherwise=arrived)
    return select(
        alias(at, "known_at"),
        from_=rows_of(events, "e"),
        joins=[left_join(rows_of(horizons, "h"), *equal(("epoch",), "e", "h"))],
        where=[column("instant", "e") >= number(kept_from)],
        order_by=[ascending(column("known_at"))],
        limit=1,
    ).offset(window.elements - 1)


def horizons_before(arrivals: Sequence[Arrival]) -> pa.Table:
    """By epoch, the last instant that was final before it; null if there was none."""
    before = [None, *(arrival.horizon for arrival in arrivals)]
    return pa.table(
        {
            "epoch": pa.array([arrival.epoch for arrival in arrivals], pa.int64()),
            "horizon": pa.array(before[: len(arrivals)], pa.int64()),
        }
    )


def begins_within(leg: Leg, origin: int, complete: int) -> bool:
    """Whether the windows of a query are complete from the first instant on that a leg reads.

    Args:
        leg: of a query.
        origin: the first instant of the query; a leg from before it reads no state.
        complete: the first instant from which on every window of the query is complete.
    """
    return leg.low + (1 if leg.low < origin else 0) >= complete
