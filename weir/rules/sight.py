"""When a window of points has a point: with pivot(t) the last multiple of its step d up to t,

    window at t    [max(t1, pivot(t) - before), min(t, pivot(t) + after)]
    u is in it     from max(u, the first multiple of d from u - after on), until d points after the
                   last multiple of d up to u + before

A window that slides has d = 1 and after = 0, so u is in it from u until u + before + 1.
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import (
    alias,
    case,
    column,
    columns,
    each_of,
    greatest,
    least,
    number,
    quotient,
    select,
    subquery,
)
from weir.engine.relations import INTERVAL
from weir.engine.sweep import Key
from weir.lars.syntax import PointWindow

_BLOCK = "block"
"""The column of the number of a pivot: the pivot is so many steps."""


def pivot(point: exp.Expr, step: int) -> exp.Expr:
    """The last multiple of `step` up to a point."""
    if step == 1:
        return point
    return exp.Paren(this=quotient(point, step) * number(step))


def next_pivot(point: exp.Expr, step: int) -> exp.Expr:
    """The first multiple of `step` from a point on."""
    return point if step == 1 else pivot(exp.Paren(this=point + number(step - 1)), step)


def seen_from(window: PointWindow, point: exp.Expr) -> exp.Expr:
    """The first t whose window may have a point."""
    if window.after == window.step - 1:
        return point
    return greatest(
        point, next_pivot(exp.Paren(this=point.copy() - number(window.after)), window.step)
    )


def seen_until(window: PointWindow, point: exp.Expr) -> exp.Expr:
    """The first t whose window no longer has a point; not after `seen_from` if none ever has it."""
    last = exp.Paren(this=point + number(window.before))
    return pivot(last, window.step) + number(window.step)


def first_with_points(window: PointWindow, start: int) -> int:
    """The first t whose window has any point, if `start` is the first point of the stream."""
    return max(start, -(-(start - window.after) // window.step) * window.step)


def oldest(window: PointWindow, first: int, start: int) -> int:
    """The first point that windows have at `first` or later."""
    return max(start, first // window.step * window.step - window.before)


def with_own_point(intervals: exp.Query, key: Key, window: PointWindow) -> exp.Query:
    """Intervals, cut to the t that are in the window at t themselves."""
    if window.after == window.step - 1:
        return intervals
    since, until = _in_block(window, window.after + 1)
    cut = select(
        *columns(key),
        alias(greatest(column("since"), since), "since"),
        alias(least(column("until"), until), "until"),
        from_=subquery(in_blocks(intervals, key, window.step), "blocks"),
    )
    return not_empty(cut, key)


def in_blocks(intervals: exp.Query, names: Key, step: int) -> exp.Select:
    """Intervals, once for each pivot that some of their t have."""
    return select(
        *columns((*names, *INTERVAL)),
        alias(
            each_of(
                quotient(column("since"), step),
                quotient(exp.Paren(this=column("until") - number(1)), step),
            ),
            _BLOCK,
        ),
        from_=subquery(intervals, "intervals"),
    )


def filled(segments: exp.Query, key: Key, window: PointWindow, start: int) -> exp.Query:
    """The t whose whole window is covered, of segments during which `held` of its points are.

    In a block the window begins at one point and grows up to `after` points after the pivot: it has
    `held` points at one t, or from its full size on until the block ends.
    """
    # What covers nothing has no end.
    covered = select(
        *columns((*key, *INTERVAL, "held")),
        from_=subquery(segments, "segments"),
        where=[column("held") > number(0)],
    )
    begin, full = _in_block(window, window.after)
    lowest = greatest(begin - number(window.before), number(start))
    _, end = _in_block(window, window.step)
    sized = select(
        *columns((*key, *INTERVAL)),
        alias(lowest + column("held") - number(1), "reached"),
        alias(full, "full"),
        alias(end, "ends"),
        from_=subquery(in_blocks(covered, (*key, "held"), window.step), "blocks"),
    )
    grown = case(
        (column("reached").eq(column("full")), column("ends")),
        otherwise=column("reached") + number(1),
    )
    cut = select(
        *columns(key),
        alias(greatest(column("since"), column("reached")), "since"),
        alias(least(column("until"), grown), "until"),
        from_=subquery(sized, "sized"),
    )
    return not_empty(cut, key)


def not_empty(intervals: exp.Query, key: Key) -> exp.Select:
    """The intervals that have a point."""
    return select(
        *columns((*key, *INTERVAL)),
        from_=subquery(intervals, "held"),
        where=[column("since") < column("until")],
    )


def _in_block(window: PointWindow, size: int) -> tuple[exp.Expr, exp.Expr]:
    """The pivot of a block, and the point so many points later."""
    begin = exp.Paren(this=column(_BLOCK) * number(window.step))
    return begin, begin.copy() + number(size)
