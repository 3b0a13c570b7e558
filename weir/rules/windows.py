"""Literals over the atoms of a stream: when an atom, seen through a window, holds.

With occurrences at the points P of one atom, and t1 the first point of the stream:

    a                  [u, u] for u in P
    @u a               [u, ..) for u in P
    win^n @u a         [u, u + n] for u in P
    win^n diamond a    the union of [u, u + n]
    win^n box a        of each maximal run [x, y] of P: [x, y] if x = t1, else [x + n, y]
    win^#n             tuple i is in the window until tuple i + n arrives

(004, Section 2, Definitions 3 and 4; here intervals are half-open.) A window that hops has u while
`weir.rules.sight` says; a box over it holds from its first pivot in the run on until its end leaves
the run. Where a window counts some of the tuples, only these have numbers.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from weir.compute.sql import (
    alias,
    ascending,
    case,
    coalesce,
    column,
    columns,
    equal,
    greatest,
    inner_join,
    least,
    left_join,
    number,
    row_number,
    rows_of,
    select,
    subquery,
)
from weir.engine.coverage import coalesced, coalesced_where_several
from weir.engine.relations import INTERVAL
from weir.engine.sweep import Key
from weir.lars.syntax import (
    At,
    Box,
    FilteredTupleWindow,
    HoppingWindow,
    Modality,
    PointWindow,
    TimeWindow,
    TupleWindow,
    Window,
)
from weir.rules import sight
from weir.rules.points import PointRange
from weir.rules.relations import NTH, POINT


def stream_intervals(
    relation: str,
    key: Key,
    window: Window | None,
    modality: Modality | None,
    points: PointRange,
    tuples: str | None,
    *,
    many: bool = False,
) -> exp.Query:
    """When the atoms of a stream hold; intervals of an atom (and point) do not overlap.

    Args:
        relation: of the atoms: key, point; nth, if the window counts tuples.
        key: the arguments.
        window: of the literal.
        modality: of the literal.
        points: at which rules are evaluated.
        tuples: the relation of the tuples that the window counts, if it does.
        many: whether there are so many atoms that it is better not to sort them all.

    Returns:
        key, with `At` also the point, since, until; cut to `points`.
    """
    match window:
        case None:
            return _held(relation, key, points, None) if modality else _now(relation, key, points)
        case TimeWindow() | HoppingWindow():
            if isinstance(modality, Box):
                return _box(relation, key, points, window)
            held = _held(relation, key, points, window)
        case TupleWindow(size) | FilteredTupleWindow(size):
            assert tuples is not None, "tuples are counted where a window has a number of them"
            if isinstance(modality, Box):
                return _tuple_box(relation, key, points, size, tuples)
            held = _among_last(relation, key, points, size, tuples)
        case _:
            assert_never(window)
    if isinstance(modality, At):
        return held
    rows = select(*columns((*key, *INTERVAL)), from_=subquery(held, "h"))
    return coalesced_where_several(rows, key) if many else coalesced(rows, key)


def _now(relation: str, key: Key, points: PointRange) -> exp.Select:
    """At the point itself."""
    return select(
        *columns(key),
        alias(column(POINT), "since"),
        alias(column(POINT) + number(1), "until"),
        from_=rows_of(relation),
        where=[column(POINT) >= number(points.first), column(POINT) <= number(points.last)],
    )


def _held(relation: str, key: Key, points: PointRange, window: PointWindow | None) -> exp.Select:
    """While the window has the point; from the point on, without an end, if that is None."""
    begin: exp.Expr = column(POINT)
    end: exp.Expr = number(points.end)
    oldest = points.start
    if window is not None:
        oldest = sight.oldest(window, points.first, points.start)
        begin = sight.seen_from(window, begin)
        end = least(sight.seen_until(window, column(POINT)), end)
    held = select(
        *columns((*key, POINT)),
        alias(greatest(begin, number(points.first)), "since"),
        alias(end, "until"),
        from_=rows_of(relation),
        where=[column(POINT) <= number(points.last), column(POINT) >= number(oldest)],
    )
    # A window that slides has every point for some time.
    is_seen = window is None or window.step == 1
    return held if is_seen else sight.not_empty(held, (*key, POINT))


def _runs(relation: str, key: Key, names: Key, since: int, last: int) -> exp.Select:
    """The atoms at the points since, .., last, with a number that is the same within a run."""
    nth = row_number(columns(key), [ascending(column(POINT))])
    return select(
        *columns(names),
        alias(column(POINT) - nth, "run"),
        from_=rows_of(relation),
        where=[column(POINT) >= number(since), column(POINT) <= number(last)],
    )


def _box(relation: str, key: Key, points: PointRange, window: PointWindow) -> exp.Select:
    """From the point on at which a run fills the window, or the whole window since the start."""
    # A run that begins before what is read fills the window of the first point already.
    read = sight.oldest(window, points.first, points.start)
    runs = select(
        *columns(key),
        alias(exp.Min(this=column(POINT)), "begin"),
        alias(exp.Max(this=column(POINT)) + number(1), "until"),
        from_=subquery(_runs(relation, key, (*key, POINT), read, points.last), "r"),
        group_by=columns((*key, "run")),
    )
    from_start = number(sight.first_with_points(window, points.start))
    full = case(
        (column("begin").eq(number(points.start)), from_start),
        otherwise=sight.next_pivot(
            exp.Paren(this=column("begin") + number(window.before)), window.step
        ),
    )
    until: exp.Expr = column("until")
    if window.step > 1:
        # The end of the window does not move from some points after the pivot on.
        last = exp.Paren(this=column("until") - number(window.after + 1))
        stays = sight.pivot(last, window.step) + number(window.step)
        until = least(greatest(until, stays), number(points.end))
    filled = select(
        *columns(key),
        alias(greatest(full, number(points.first)), "since"),
        alias(until, "until"),
        from_=subquery(runs, "runs"),
    )
    return sight.not_empty(filled, key)


def _among_last(relation: str, key: Key, points: PointRange, size: int, tuples: str) -> exp.Select:
    """From the point on, until so many later tuples have arrived."""
    displaced = coalesce(column(POINT, "d"), number(points.end))
    held = select(
        *columns((*key, POINT), "o"),
        alias(greatest(column(POINT, "o"), number(points.first)), "since"),
        alias(least(displaced, number(points.end)), "until"),
        from_=rows_of(relation, "o"),
        joins=[
            left_join(rows_of(tuples, "d"), column(NTH, "d").eq(column(NTH, "o") + number(size)))
        ],
    )
    return select(
        *columns((*key, POINT, *INTERVAL)),
        from_=subquery(held, "held"),
        where=[column("since") < column("until")],
    )


def _tuple_box(relation: str, key: Key, points: PointRange, size: int, tuples: str) -> exp.Select:
    """The points whose window a run fills; at its first point only the last tuples count."""
    newest = select(
        column(POINT),
        alias(exp.Max(this=column(NTH)) - number(size - 1), "oldest"),
        from_=rows_of(tuples),
        group_by=columns((POINT,)),
    )
    # Before so many tuples have arrived, the window reaches back to the start of the stream.
    frontier = select(
        column(POINT, "n"),
        column("oldest", "n"),
        alias(coalesce(column(POINT, "t"), number(points.start)), "begin"),
        from_=subquery(newest, "n"),
        joins=[left_join(rows_of(tuples, "t"), column(NTH, "t").eq(column("oldest", "n")))],
    )

    def runs() -> exp.Select:
        return _runs(relation, key, (*key, POINT, NTH), points.start, points.last)

    return select(
        *columns(key, "o"),
        alias(column(POINT, "o"), "since"),
        alias(column(POINT, "o") + number(1), "until"),
        from_=subquery(runs(), "o"),
        joins=[
            inner_join(subquery(frontier, "f"), *equal((POINT,), "o", "f")),
            inner_join(
                subquery(runs(), "l"),
                *equal((*key, "run"), "l", "o"),
                column(POINT, "l").eq(column("begin", "f")),
                column(NTH, "l") >= column("oldest", "f"),
            ),
        ],
        where=[column(POINT, "o") >= number(points.first)],
    )
