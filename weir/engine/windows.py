"""The content of a window over a stream, as an interval relation over instants.

The axis of a query over streams is event time: `since` and `until` are instants, in microseconds.
A window's content at an instant is a set of triples, so a triple is in it from its first occurrence
there to its last (Dell'Aglio et al., RSP-QL semantics; 003, Section 2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from sqlglot import exp

from weir.compute.sql import (
    alias,
    ascending,
    case,
    coalesce,
    column,
    columns,
    descending,
    number,
    over,
    rows_of,
    select,
    small_number,
    subquery,
    union_all,
)
from weir.engine.graph import POSITIONS
from weir.engine.relations import FOREVER, INTERVAL
from weir.engine.sweep import ends, presence

EVENT = (*POSITIONS, "instant", "epoch", "line")
"""The columns of an event; events of one instant are in the order of epoch and line."""


@dataclass(frozen=True, slots=True)
class SlidingWindow:
    """The events of the last `width` microseconds: (t - width, t] at every instant t."""

    width: int


@dataclass(frozen=True, slots=True)
class SteppedWindow:
    """The events [c - width, c) at every close c = origin + width + k * step, up to the next close.

    Attributes:
        width: of a window, in microseconds.
        step: from close to close.
        origin: where the first full window begins; events before it are in no window.
        first: whether the first window is a full one, or the closes begin right after the origin.
        bounds: which end of a window belongs to it.
    """

    width: int
    step: int
    origin: int
    first: Literal["full", "partial"] = "full"
    bounds: Literal["[)", "(]"] = "[)"


@dataclass(frozen=True, slots=True)
class LastElements:
    """The last `elements` events."""

    elements: int


Window = SlidingWindow | SteppedWindow | LastElements


def window_content(events: str, window: Window, after: int, last: int) -> exp.Select:
    """The interval relation of a window's content that matters in (after, last].

    Args:
        events: the relation of the stream's events (`EVENT`).
        window: the window.
        after: instant.
        last: instant; later events are left out.

    Returns:
        POSITIONS, since, until.
    """
    held = event_intervals(events, window, after, last)
    weighted = select(
        *columns((*POSITIONS, *INTERVAL)),
        alias(number(1), "weight"),
        from_=subquery(held, "held"),
        where=[column("since") < column("until"), column("until") > number(after)],
    )
    content = presence(ends(weighted, POSITIONS), POSITIONS)
    return select(*columns((*POSITIONS, *INTERVAL)), from_=subquery(content, "content"))


def look_back(window: Window) -> int | None:
    """For how many microseconds an event is in a window at most; None if events decide."""
    match window:
        case SlidingWindow(width):
            return width
        case SteppedWindow(width, step):
            return width + step
        case LastElements():
            return None
        case _:
            assert_never(window)


def event_intervals(
    events: str, window: Window, after: int, last: int, kept: Sequence[str] = POSITIONS
) -> exp.Query:
    """Since when until when single events are in a window; some never are.

    Args:
        events: the relation of the stream's events (`EVENT`).
        window: the window.
        after: instant; what has ended by then may be left out.
        last: instant; later events are left out.
        kept: the columns of the events.

    Returns:
        `kept`, since, until.
    """
    match window:
        case SlidingWindow(width):
            since: exp.Expr = column("instant")
            until: exp.Expr = column("instant") + number(width)
        case SteppedWindow():
            since, until = _stepped(window)
        case LastElements(elements):
            return _last_elements(events, elements, after, last, kept)
        case _:
            assert_never(window)
    inside: list[exp.Expr] = [column("instant") <= number(last)]
    back = look_back(window)
    if back is not None:
        inside.append(column("instant") > number(after - back - 1))
    if isinstance(window, SteppedWindow):
        begin = window.origin if window.bounds == "[)" else window.origin + 1
        inside.append(column("instant") >= number(begin))
    return select(
        *columns(kept),
        alias(since, "since"),
        alias(until, "until"),
        from_=rows_of(events),
        where=inside,
    )


def _stepped(window: SteppedWindow) -> tuple[exp.Expr, exp.Expr]:
    """The first close that has an event, and the first close after it that has it no more."""
    # (c - width, c] has an instant where [c - width, c) has the microsecond before it.
    shift = window.origin if window.bounds == "[)" else window.origin + 1
    width, step = window.width, window.step

    def since_origin() -> exp.Expr:
        return exp.Paren(this=column("instant") - number(shift))

    # Closes before the first full window, counted from it.
    early = 0 if window.first == "full" else -(-width // step)
    first = window.origin + width - early * step
    offset = width - early * step

    def close(nth: exp.Expr) -> exp.Expr:
        return number(first) + exp.Paren(this=nth * number(step))

    beyond = exp.Paren(this=since_origin() - number(offset))
    nth_since = exp.Paren(this=_quotient(beyond, step) + number(1))
    if window.first == "full":
        nth_since = exp.Paren(
            this=case((since_origin() < number(offset), number(0)), otherwise=nth_since)
        )
    nth_until = exp.Paren(this=_quotient(since_origin(), step) + number(early + 1))
    return close(nth_since), close(nth_until)


def _quotient(dividend: exp.Expr, divisor: int) -> exp.Expr:
    """The integer quotient of what is not negative."""
    return exp.Paren(this=exp.IntDiv(this=dividend, expression=number(divisor)))


def _last_elements(
    events: str, elements: int, after: int, last: int, kept: Sequence[str]
) -> exp.Select:
    """The intervals of events while they are among the last ones."""
    order = ("instant", "epoch", "line")
    read = (*dict.fromkeys((*EVENT, *kept)),)
    later = select(
        *columns(read),
        from_=rows_of(events),
        where=[column("instant") > number(after), column("instant") <= number(last)],
    )
    before = select(
        *columns(read),
        from_=rows_of(events),
        where=[column("instant") <= number(after)],
        order_by=[descending(column(name)) for name in order],
        limit=elements,
    )
    rows = union_all([later, select(*columns(read), from_=subquery(before, "before"))])
    # Spark takes an INT, and no BIGINT.
    lead = exp.Lead(this=column("instant"), offset=small_number(elements))
    displaced = over(lead, [], [ascending(column(name)) for name in order])
    return select(
        *columns(kept),
        alias(column("instant"), "since"),
        alias(coalesce(displaced, number(FOREVER)), "until"),
        from_=subquery(rows, "elements"),
    )
