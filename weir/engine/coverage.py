"""Coverage: interval relations as sets of points per key.

An interval relation without weights covers, per key, the points of all its intervals. The functions
here look at what is covered only: intervals of a key may overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Statement
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
    rows_of,
    select,
    semi_join,
    small_number,
    subquery,
    union_all,
)
from weir.engine.relations import INTERVAL
from weir.engine.sweep import Key, plus_and_minus, sweep

Intervals = Mapping[str, exp.Query]
"""By name, an interval relation: its key, since, until."""
Names = Mapping[str, str]
"""By name, the relation that has its rows."""


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


def interval_fixpoint(
    engine: SqlEngine,
    keys: Mapping[str, Key],
    seed: Intervals,
    step: Callable[[Names, Names], Intervals],
    prefix: str,
    keep: Keep = "small",
) -> Names:
    """The least coverage that has `seed` and, with any points, what `step` makes of them.

    Semi-naive on coverage: a round is given what the round before it has added. It ends if `step`
    makes finitely many keys and ends of intervals.

    Args:
        engine: makes the relations.
        keys: of each of the relations that are made together.
        seed: the first intervals; relations that have none may be missing.
        step: from what is new and from all that is known, both as coalesced relations, to the
            intervals that follow. Relations without rows are missing in both.
        prefix: begins the names of the relations.
        keep: how the rows of a round are stored.

    Returns:
        The relations, coalesced; those without rows are missing.
    """
    known: dict[str, str] = {}
    latest = seed
    for number_ in count():
        new: dict[str, str] = {}
        for name, intervals in latest.items():
            added = f"{prefix}_{name}_new{number_}"
            engine.make(Statement(added, _added(intervals, known.get(name), keys[name]), keep))
            if engine.count(added):
                new[name] = added
        if not new:
            return known
        for name, added in new.items():
            if name not in known:
                known[name] = added
                continue
            together = f"{prefix}_{name}_known{number_}"
            both = union_all([_all(relation, keys[name]) for relation in (known[name], added)])
            engine.make(Statement(together, coalesced(both, keys[name]), keep))
            known[name] = together
        latest = step(new, dict(known))
    raise AssertionError("count() does not end")


def _added(intervals: exp.Query, known: str | None, key: Key) -> exp.Query:
    """What a round covers and no round before it."""
    if known is None:
        return coalesced(intervals, key)
    return coalesced(difference(intervals, _all(known, key), key), key)


def _all(relation: str, key: Key) -> exp.Select:
    return select(*columns((*key, *INTERVAL)), from_=rows_of(relation))
