"""Literals over derived atoms and over background: when an atom, seen through a window, holds.

At every t there are the atoms that rules derive at t, and no others: those of plain heads at t,
those of `@u` heads at u (004, Definitions 5 and 6: nothing of an earlier evaluation is in an answer
stream). So at t a window of n + 1 points has of an atom

    plain at t, and placed at u at t for t - n <= u <= t

and a box holds if these are as many points as the window has: n + 1, or t - t1 + 1 if that is less.
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
from weir.lars.syntax import At, Box, Diamond, Modality, TimeWindow, Window
from weir.rules.points import PointRange
from weir.rules.relations import POINT, Derived


def derived_intervals(
    derived: Derived, key: Key, window: TimeWindow | None, modality: Modality | None, start: int
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
    size = None if window is None else window.size
    match modality:
        case None:
            return now(derived, key)
        case At():
            return _merged(_seen_at(derived, key, size), (*key, POINT))
        case Diamond():
            parts = [part for part in (_plain(derived, key), _seen(derived, key, size, 0)) if part]
            return coalesced(union_all(parts), key)
        case Box():
            assert size is not None, "a box is read in a window"
            return box(derived, key, size, start)
        case _:
            assert_never(modality)


def now(derived: Derived, key: Key) -> exp.Query:
    """The points t at which an atom is derived for t."""
    parts = [part for part in (_plain(derived, key), _placed_now(derived, key)) if part]
    return _merged(parts, key)


def box(
    derived: Derived, key: Key, size: int, start: int, only: Derived | None = None
) -> exp.Query:
    """The points at whose window of `size` + 1 points an atom is everywhere.

    Args:
        derived: the relations of the predicate.
        key: the arguments.
        size: of the window.
        start: the first point of the stream.
        only: the relations that have the atoms that are asked for; None for all.
    """
    # The plain atom at t and the one that is placed at t are at the same point.
    parts = [now(derived, key)]
    earlier = _seen(derived, key, size, 1)
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
    return select(
        *columns((*key, *INTERVAL)),
        from_=subquery(filled, "filled"),
        where=[column("since") < column("until")],
    )


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
    cut = select(
        *columns(key),
        alias(greatest(column("since"), number(points.first)), "since"),
        alias(least(column("until"), number(points.end)), "until"),
        from_=rows_of(relation),
        where=[column("since") < number(points.end), column("until") > number(points.first)],
    )
    if not isinstance(modality, At):
        return cut
    if window is not None and not isinstance(window, TimeWindow):
        raise ValueError("background is in no tuple window")
    size = None if window is None else window.size
    oldest = points.start if size is None else max(points.start, points.first - size)
    spread = select(
        *columns((*key, *INTERVAL)),
        alias(each_of(number(oldest), number(points.last)), POINT),
        from_=subquery(cut, "cut"),
    )
    end: exp.Expr = column("until")
    if size is not None:
        end = least(column(POINT) + number(size + 1), end)
    held = select(
        *columns((*key, POINT)),
        alias(greatest(column(POINT), column("since")), "since"),
        alias(end, "until"),
        from_=subquery(spread, "spread"),
    )
    return _not_empty(held, (*key, POINT))


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


def _seen(derived: Derived, key: Key, size: int | None, age: int) -> exp.Query | None:
    """For how long what is placed is in a window, from `age` points after its point on."""
    if derived.placed is None:
        return None
    end: exp.Expr = column("until")
    if size is not None:
        end = least(end, column(POINT) + number(size + 1))
    held = select(
        *columns(key),
        alias(greatest(column("since"), column(POINT) + number(age)), "since"),
        alias(end, "until"),
        from_=rows_of(derived.placed),
    )
    return _not_empty(held, key)


def _seen_at(derived: Derived, key: Key, size: int | None) -> list[exp.Query]:
    """Where atoms are: those of plain heads at each point t by itself."""
    parts: list[exp.Query] = []
    if derived.plain is not None:
        spread = select(
            *columns(key),
            alias(each_of(column("since"), column("until") - number(1)), POINT),
            from_=rows_of(derived.plain),
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
        end: exp.Expr = column("until")
        if size is not None:
            end = least(end, column(POINT) + number(size + 1))
        held = select(
            *columns((*key, POINT, "since")),
            alias(end, "until"),
            from_=rows_of(derived.placed),
        )
        parts.append(_not_empty(held, (*key, POINT)))
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


def _not_empty(intervals: exp.Query, key: Key) -> exp.Query:
    return select(
        *columns((*key, *INTERVAL)),
        from_=subquery(intervals, "held"),
        where=[column("since") < column("until")],
    )
