"""Coverage: interval relations as sets of points per key.

An interval relation without weights covers, per key, the points of all its intervals. The functions
here look at what is covered only: intervals of a key may overlap.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from weir.compute.sql import (
    alias,
    any_of,
    ascending,
    case,
    coalesce,
    column,
    columns,
    equal,
    is_null,
    number,
    over,
    select,
    semi_join,
    small_number,
    subquery,
    union_all,
)
from weir.engine.relations import INTERVAL
from weir.engine.sweep import Key, plus_and_minus, sweep


def coalesced(intervals: exp.Query, key: Key) -> exp.Select:
    """The same coverage in as few intervals as possible: those that overlap or meet are one.

    Args:
        intervals: key, since, until; none is empty.
        key: the columns that make a key.
    """
    order = [ascending(column("since")), ascending(column("until"))]
    furthest = exp.Max(this=column("until"))
    reached = over(furthest.copy(), columns(key), order, rows_before=True)
    extents = select(
        *columns((*key, "since")),
        alias(reached, "reached"),
        alias(over(furthest, columns(key)), "furthest"),
        from_=subquery(intervals, "intervals"),
    )
    # What reaches a gap ends the interval that began before it.
    following = exp.Lead(this=column("reached"))
    end = over(following, columns(key), [ascending(column("since"))])
    return select(
        *columns((*key, "since")),
        alias(coalesce(end, column("furthest")), "until"),
        from_=subquery(extents, "extents"),
        where=[any_of([is_null(column("reached")), column("since") > column("reached")])],
    )


def coalesced_where_several(intervals: exp.Query, key: Key) -> exp.Query:
    """The same as `coalesced`, of intervals that are cheap to read several times.

    What is alone with its key stays as it is, so only the others are sorted. Of many intervals, of
    which most have a key of their own, this takes a third of the time; of few, it takes longer.

    Args:
        intervals: key, since, until; none is empty.
        key: the columns that make a key; none is null.
    """
    if not key:
        return coalesced(intervals, key)

    def keys(cells: Sequence[exp.Expr], counted: exp.Expr) -> exp.Select:
        return select(
            *columns(key),
            *cells,
            from_=subquery(intervals.copy(), "intervals"),
            group_by=columns(key),
            having=counted,
        )

    count_ = exp.Count(this=exp.Star(), big_int=True)
    ends_ = [
        alias(exp.Min(this=column("since")), "since"),
        alias(exp.Max(this=column("until")), "until"),
    ]
    several = select(
        *columns((*key, *INTERVAL), "i"),
        from_=subquery(intervals.copy(), "i"),
        joins=[
            semi_join(
                subquery(keys([], count_.copy() > number(1)), "several"),
                *equal(key, "i", "several"),
            )
        ],
    )
    alone = keys(ends_, count_.copy().eq(number(1)))
    return union_all([alone, coalesced(several, key)])


def difference(left: exp.Query, right: exp.Query, key: Key) -> exp.Select:
    """What `left` covers and `right` does not; intervals do not overlap, but may meet.

    Args:
        left: key, since, until.
        right: the same columns.
        key: the columns that make a key.
    """

    def marked(intervals: exp.Query, held: int, taken: int) -> exp.Select:
        return select(
            *columns((*key, *INTERVAL)),
            alias(small_number(held), "held"),
            alias(small_number(taken), "taken"),
            from_=subquery(intervals, "intervals"),
        )

    signed = select(
        *columns((*key, *INTERVAL, "held", "taken")),
        alias(plus_and_minus(), "sign"),
        from_=subquery(union_all([marked(left, 1, 0), marked(right, 0, 1)]), "both"),
    )
    end = case((column("sign").eq(1), column("since")), otherwise=column("until"))
    log = select(
        *columns(key),
        alias(end, "epoch"),
        alias(column("sign") * column("held"), "held"),
        alias(column("sign") * column("taken"), "taken"),
        from_=subquery(signed, "signed"),
    )
    measures = {name: column(name) for name in ("held", "taken")}
    return select(
        *columns((*key, *INTERVAL)),
        from_=subquery(sweep(log, key, measures), "segments"),
        where=[column("held") > 0, column("taken") <= 0],
    )
