"""Literals over derived atoms and over background: when an atom, seen through a window, holds.

At every t there are the atoms that rules derive at t, and no others: those of plain heads at t,
those of `@u` heads at u (004, Definitions 5 and 6: nothing of an earlier evaluation is in an answer
stream). So at t a window of n + 1 points has of an atom

    plain at t, and placed at u at t for t - n <= u <= t

and a box holds if these are as many points as the window has: n + 1, or t - t1 + 1 if that is less.
A window that hops may end before t, and then what is plain at t is not in it.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from weir.compute.sql import (
    alias,
    all_of,
    any_of,
    case,
    column,
    columns,
    each_of,
    equal,
    greatest,
    least,
    number,
    rows_of,
    select,
    semi_join,
    subquery,
    union_all,
)
from weir.engine.coverage import coalesced
from weir.engine.relations import INTERVAL
from weir.engine.sweep import Key, ends, sweep
from weir.lars.syntax import (
    At,
    Box,
    CountingWindow,
    Diamond,
    Modality,
    PointWindow,
    Window,
)
from weir.rules import sight
from weir.rules.points import PointRange
from weir.rules.relations import POINT, Derived


def derived_intervals(
    derived: Derived, key: Key, window: PointWindow | None, modality: Modality | None, start: int
) -> exp.Query:
    """When derived atoms hold; intervals of an atom (and point) do not overlap.

    Args:
        derived: the relations of the predicate, not both None.
        key: the arguments.
        window: of the literal.
        modality: of the literal.
        start: the first point of the stream.

    Returns:
        key, with `At` also the point, since, until.
    """
    match modality:
        case None:
            return now(derived, key)
        case At():
            return _merged(_seen_at(derived, key, window), (*key, POINT))
        case Diamond():
            assert window is not None, "a diamond is read in a window"
            plain, seen = _plain(derived, key), _seen(derived, key, window, 0)
            if plain is not None:
                plain = sight.with_own_point(plain, key, window)
            return coalesced(union_all([part for part in (plain, seen) if part]), key)
        case Box():
            assert window is not None, "a box is read in a window"
            return box(derived, key, window, start)
        case _:
            assert_never(modality)


def now(derived: Derived, key: Key) -> exp.Query:
    """The points t at which an atom is derived for t."""
    parts = [part for part in (_plain(derived, key), _placed_now(derived, key)) if part]
    return _merged(parts, key)


def box(
    derived: Derived, key: Key, window: PointWindow, start: int, only: Derived | None = None
) -> exp.Query:
    """The points in whose window an atom is everywhere.

    Args:
        derived: the relations of the predicate.
        key: the arguments.
        window: that the box is read in.
        start: the first point of the stream.
        only: the relations that have the atoms that are asked for; None for all.
    """
    # The plain atom at t and the one that is placed at t are at the same point.
    parts = [sight.with_own_point(now(derived, key), key, window)]
    earlier = _seen(derived, key, window, 1)
    if earlier is not None:
        parts.append(earlier)
    covering: exp.Query = select(
        *columns((*key, *INTERVAL)),
        alias(number(1), "weight"),
        from_=subquery(union_all(parts), "covering"),
    )
    if only is not None:
        covering = _restricted(covering, key, only)
    segments = sweep(ends(covering, key), key, {"held": column("weight")})
    if window.step > 1:
        return sight.filled(segments, key, window, start)
    return _filled_sliding(segments, key, window.before, start)


def _filled_sliding(segments: exp.Query, key: Key, size: int, start: int) -> exp.Query:
    """The same as `weir.rules.sight.filled`, without a row for each point."""
    # While the window begins at the start, t has held points only if it is this one.
    early = number(start - 1) + column("held")
    is_full = column("held").eq(number(size + 1))
    filled = select(
        *columns(key),
        alias(
            case((is_full, greatest(column("since"), number(start + size))), otherwise=early),
            "since",
        ),
        alias(case((is_full.copy(), column("until")), otherwise=early + number(1)), "until"),
        from_=subquery(segments, "segments"),
        where=[
            any_of(
                [
                    is_full.copy(),
                    all_of(
                        [
                            column("held") > number(0),
                            early >= column("since"),
                            early < column("until"),
                        ]
                    ),
                ]
            )
        ],
    )
    return sight.not_empty(filled, key)


def background_intervals(
    relation: str, key: Key, window: Window | None, modality: Modality | None, points: PointRange
) -> exp.Query:
    """When background atoms hold: at every point of every window.

    Args:
        relation: key, since, until.
        key: the arguments.
        window: of the literal.
        modality: of the literal.
        points: at which rules are evaluated.

    Returns:
        key, with `At` also the point, since, until; cut to `points`.
    """
    # In a window without points nothing holds.
    first = points.first
    if isinstance(window, PointWindow):
        first = max(first, sight.first_with_points(window, points.start))
    cut = select(
        *columns(key),
        alias(greatest(column("since"), number(first)), "since"),
        alias(least(column("until"), number(points.end)), "until"),
        from_=rows_of(relation),
        where=[column("since") < number(points.end), column("until") > number(first)],
    )
    if isinstance(window, CountingWindow):
        raise ValueError("background is in no tuple window")
    if not isinstance(modality, At):
        return cut
    oldest = points.start
    if window is not None:
        oldest = sight.oldest(window, points.first, points.start)
    spread = select(
        *columns((*key, *INTERVAL)),
        alias(each_of(number(oldest), number(points.last)), POINT),
        from_=subquery(cut, "cut"),
    )
    begin, end = _while_seen(window)
    held = select(
        *columns((*key, POINT)),
        alias(greatest(column("since"), begin), "since"),
        alias(end, "until"),
        from_=subquery(spread, "spread"),
    )
    return sight.not_empty(held, (*key, POINT))


def _plain(derived: Derived, key: Key) -> exp.Query | None:
    if derived.plain is None:
        return None
    return select(*columns((*key, *INTERVAL)), from_=rows_of(derived.plain))


def _placed_now(derived: Derived, key: Key) -> exp.Query | None:
    """The points t at which a rule places the atom at t."""
    if derived.placed is None:
        return None
    return select(
        *columns(key),
        alias(column(POINT), "since"),
        alias(column(POINT) + number(1), "until"),
        from_=rows_of(derived.placed),
        where=[column("since").eq(column(POINT))],
    )


def _seen(derived: Derived, key: Key, window: PointWindow, age: int) -> exp.Query | None:
    """For how long what is placed is in a window, from `age` points after its point on."""
    if derived.placed is None:
        return None
    begin, end = _while_seen(window)
    held = select(
        *columns(key),
        alias(greatest(column("since"), column(POINT) + number(age), begin), "since"),
        alias(end, "until"),
        from_=rows_of(derived.placed),
    )
    return sight.not_empty(held, key)


def _while_seen(window: PointWindow | None) -> tuple[exp.Expr, exp.Expr]:
    """From when on a window has the point of an atom, and until when, at most `until`."""
    if window is None:
        return column(POINT), column("until")
    until = least(column("until"), sight.seen_until(window, column(POINT)))
    return sight.seen_from(window, column(POINT)), until


def _seen_at(derived: Derived, key: Key, window: PointWindow | None) -> list[exp.Query]:
    """Where atoms are: those of plain heads at each point t by itself."""
    parts: list[exp.Query] = []
    plain = _plain(derived, key)
    if plain is not None:
        if window is not None:
            plain = sight.with_own_point(plain, key, window)
        spread = select(
            *columns(key),
            alias(each_of(column("since"), column("until") - number(1)), POINT),
            from_=subquery(plain, "plain"),
        )
        parts.append(
            select(
                *columns((*key, POINT)),
                alias(column(POINT), "since"),
                alias(column(POINT) + number(1), "until"),
                from_=subquery(spread, "spread"),
            )
        )
    if derived.placed is not None:
        begin, end = _while_seen(window)
        held = select(
            *columns((*key, POINT)),
            alias(greatest(column("since"), begin), "since"),
            alias(end, "until"),
            from_=rows_of(derived.placed),
        )
        parts.append(sight.not_empty(held, (*key, POINT)))
    return parts


def _restricted(intervals: exp.Query, key: Key, only: Derived) -> exp.Query:
    """The intervals of the atoms that some relations have."""
    atoms = [
        select(*columns(key), alias(number(1), "one"), from_=rows_of(name))
        for name in (only.plain, only.placed)
        if name is not None
    ]
    return select(
        *columns((*key, *INTERVAL, "weight"), "c"),
        from_=subquery(intervals, "c"),
        joins=[semi_join(subquery(union_all(atoms), "o"), *equal(key, "c", "o"))],
    )


def _merged(parts: list[exp.Query], key: Key) -> exp.Query:
    """One relation of several; intervals of a key do not overlap."""
    if len(parts) == 1:
        return parts[0]
    return coalesced(union_all(parts), key)
