"""Literals over the atoms of a stream: when an atom, seen through a window, holds.

With occurrences at the points P of one atom, and t1 the first point of the stream:

    a                  [u, u] for u in P
    @u a               [u, ..) for u in P
    win^n @u a         [u, u + n] for u in P
    win^n diamond a    the union of [u, u + n]
    win^n box a        of each maximal run [x, y] of P: [x, y] if x = t1, else [x + n, y]
    win^#n             tuple i is in the window until tuple i + n arrives

(004, Section 2, Definitions 3 and 4; here intervals are half-open.)
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
from weir.engine.coverage import coalesced
from weir.engine.relations import INTERVAL
from weir.engine.sweep import Key
from weir.lars.syntax import At, Box, Modality, TimeWindow, TupleWindow, Window
from weir.rules.points import PointRange
from weir.rules.relations import NTH, POINT


def stream_intervals(
    relation: str,
    key: Key,
    window: Window | None,
    modality: Modality | None,
    points: PointRange,
    tuples: str | None,
) -> exp.Query:
    """When the atoms of a stream hold; intervals of an atom (and point) do not overlap.

    Args:
        relation: of the atoms: key, point, nth.
        key: the arguments.
        window: of the literal.
        modality: of the literal.
        points: at which rules are evaluated.
        tuples: the relation of all tuples, if the window counts them.

    Returns:
        key, with `At` also the point, since, until; cut to `points`.
    """
    match window:
        case None:
            return _held(relation, key, points, None) if modality else _now(relation, key, points)
        case TimeWindow(size):
            if isinstance(modality, Box):
                return _box(relation, key, points, size)
            held = _held(relation, key, points, size)
        case TupleWindow(size):
            assert tuples is not None, "tuples are counted where a window has a number of them"
            if isinstance(modality, Box):
                return _tuple_box(relation, key, points, size, tuples)
            held = _among_last(relation, key, points, size, tuples)
        case _:
            assert_never(window)
    if isinstance(modality, At):
        return held
    return coalesced(select(*columns((*key, *INTERVAL)), from_=subquery(held, "h")), key)


def _now(relation: str, key: Key, points: PointRange) -> exp.Select:
    """At the point itself."""
    return select(
        *columns(key),
        alias(column(POINT), "since"),
        alias(column(POINT) + number(1), "until"),
        from_=rows_of(relation),
        where=[column(POINT) >= number(points.first), column(POINT) <= number(points.last)],
    )


def _held(relation: str, key: Key, points: PointRange, size: int | None) -> exp.Select:
    """From the point on, for `size` more points; without an end if that is None."""
    inside = [column(POINT) <= number(points.last), column(POINT) >= number(points.start)]
    end: exp.Expr = number(points.end)
    if size is not None:
        inside.append(column(POINT) >= number(points.first - size))
        end = least(column(POINT) + number(size + 1), end)
    return select(
        *columns((*key, POINT)),
        alias(greatest(column(POINT), number(points.first)), "since"),
        alias(end, "until"),
        from_=rows_of(relation),
        where=inside,
    )


def _runs(relation: str, key: Key, names: Key, since: int, last: int) -> exp.Select:
    """The atoms at the points since, .., last, with a number that is the same within a run."""
    nth = row_number(columns(key), [ascending(column(POINT))])
    return select(
        *columns(names),
        alias(column(POINT) - nth, "run"),
        from_=rows_of(relation),
        where=[column(POINT) >= number(since), column(POINT) <= number(last)],
    )


def _box(relation: str, key: Key, points: PointRange, size: int) -> exp.Select:
    """From the point on at which a run fills the window, or the whole window since the start."""
    # A run that begins before what is read fills the window of the first point already.
    read = max(points.start, points.first - size)
    runs = select(
        *columns(key),
        alias(exp.Min(this=column(POINT)), "begin"),
        alias(exp.Max(this=column(POINT)) + number(1), "until"),
        from_=subquery(_runs(relation, key, (*key, POINT), read, points.last), "r"),
        group_by=columns((*key, "run")),
    )
    full = case(
        (column("begin").eq(number(points.start)), column("begin")),
        otherwise=column("begin") + number(size),
    )
    filled = select(
        *columns(key),
        alias(greatest(full, number(points.first)), "since"),
        column("until"),
        from_=subquery(runs, "runs"),
    )
    return select(
        *columns((*key, *INTERVAL)),
        from_=subquery(filled, "filled"),
        where=[column("since") < column("until")],
    )


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
