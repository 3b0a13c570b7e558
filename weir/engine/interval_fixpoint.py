"""The fixpoint of rules over intervals: rounds follow each other until nothing more is covered.

A round adds to what is covered, and is given what the round before it has added. Of few rows, one
statement takes away what is covered already. Of many, most rows are covered already, or have a key
that nothing covers yet; these are not sorted, and what is covered is not copied.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Statement
from weir.compute.sql import (
    anti_join,
    column,
    columns,
    equal,
    rows_of,
    select,
    semi_join,
    subquery,
    union_all,
)
from weir.engine.coverage import coalesced, coalesced_where_several, difference
from weir.engine.relations import INTERVAL
from weir.engine.sweep import Key

Intervals = Mapping[str, exp.Query]
"""By name, an interval relation: its key, since, until."""
Names = Mapping[str, str]
"""By name, the relation that has its rows."""
_MANY = 10_000
"""Of so many rows, sorting takes longer than some statements."""


def interval_fixpoint(
    engine: SqlEngine,
    keys: Mapping[str, Key],
    seed: Intervals,
    step: Callable[[Names, Names], Intervals],
    prefix: str,
    keep: Keep = "small",
    *,
    timeless: bool = False,
) -> Names:
    """The least coverage that has `seed` and, with any points, what `step` makes of them.

    Semi-naive on coverage: a round is given what the round before it has added. It ends if `step`
    makes finitely many keys and ends of intervals.

    Args:
        engine: makes the relations.
        keys: of each of the relations that are made together; no value of a key is null.
        seed: the first intervals; relations that have none may be missing.
        step: from what is new and from all that is known, both as coalesced relations, to the
            intervals that follow. Relations without rows are missing in both.
        prefix: begins the names of the relations.
        keep: how the rows of a round are stored.
        timeless: all intervals that are made are the same one.

    Returns:
        The relations, coalesced; those without rows are missing.
    """
    covered: dict[str, _Covered] = {}
    latest = seed
    for number_ in count():
        new: dict[str, str] = {}
        for name, intervals in latest.items():
            if name not in covered:
                covered[name] = _Covered(engine, keys[name], f"{prefix}_{name}", keep, timeless)
            added = covered[name].add(intervals, number_)
            if added is not None:
                new[name] = added
        known = {name: own.relation for name, own in covered.items() if own.rows}
        if not new:
            return known
        latest = step(new, known)
    raise AssertionError("count() does not end")


@dataclass(slots=True)
class _Covered:
    """What one relation covers after some rounds.

    Attributes:
        engine: makes relations.
        key: of the intervals.
        prefix: begins the names of relations.
        keep: how rows are stored.
        timeless: all intervals are the same one.
        relation: has the intervals, coalesced.
        rows: how many intervals these are.
    """

    engine: SqlEngine
    key: Key
    prefix: str
    keep: Keep
    timeless: bool = False
    relation: str = ""
    rows: int = 0
    _parts: list[str] = field(default_factory=list)

    def add(self, intervals: exp.Query, number_: int) -> str | None:
        """The relation of what intervals cover that was not covered before; None if nothing is."""
        added = f"{self.prefix}_new{number_}"
        if self.timeless:
            self._make(added, self._of_sets(intervals))
            meets: bool | None = False
        elif self.rows > _MANY and self.engine.is_on_driver(self.relation):
            meets = self._make_of_many(added, intervals, number_)
            if meets is None:
                return None
        else:
            self._make(added, self._of_few(intervals))
            meets = self.rows > 0
        rows = self.engine.count(added)
        if not rows:
            return None
        self._extend(added, rows, number_, meets=bool(meets))
        return added

    def _of_sets(self, intervals: exp.Query) -> exp.Query:
        joins = []
        if self.rows:
            same = equal(self.key, "d", "c")
            joins = [anti_join(rows_of(self.relation, "c"), *same)]
        names = columns((*self.key, *INTERVAL), "d")
        return select(*names, from_=subquery(intervals, "d"), joins=joins, distinct=True)

    def _of_few(self, intervals: exp.Query) -> exp.Query:
        if not self.rows:
            return coalesced(intervals, self.key)
        return coalesced(difference(intervals, self._all(self.relation), self.key), self.key)

    def _make_of_many(self, added: str, intervals: exp.Query, number_: int) -> bool | None:
        """Make it; whether a key of it was covered elsewhere. None if nothing is added."""
        derived, left, held = (
            f"{self.prefix}_{what}{number_}" for what in ("derived", "left", "held")
        )
        self._make(derived, intervals)
        if not self.engine.count(derived):
            return None
        within = [
            *equal(self.key, "d", "c"),
            column("since", "c") <= column("since", "d"),
            column("until", "d") <= column("until", "c"),
        ]
        self._make(left, self._joined(derived, anti_join(rows_of(self.relation, "c"), *within)))
        if not self.engine.count(left):
            return None
        same = equal(self.key, "d", "c")
        self._make(held, self._joined(self.relation, semi_join(rows_of(left, "c"), *same)))
        if meets := self.engine.count(held) > 0:
            rest = difference(self._all(left), self._all(held), self.key)
            self._make(added, coalesced(rest, self.key))
        else:
            self._make(added, coalesced_where_several(self._all(left), self.key))
        return meets

    def _extend(self, added: str, rows: int, number_: int, *, meets: bool) -> None:
        """Take what was added to what is covered."""
        if not self._parts:
            self._parts, self.relation, self.rows = [added], added, rows
            return
        parts = [*self._parts, added]
        both = union_all([self._all(part) for part in parts])
        together = f"{self.prefix}_known{number_}"
        if meets:
            self._make(together, coalesced(both, self.key))
            parts = [together]
        else:
            self.engine.make(Statement(together, both))
        self._parts, self.relation = parts, together
        self.rows = self.engine.count(together) if meets else self.rows + rows

    def _make(self, name: str, query: exp.Query) -> None:
        self.engine.make(Statement(name, query, self.keep))

    def _all(self, relation: str) -> exp.Select:
        return select(*columns((*self.key, *INTERVAL)), from_=rows_of(relation))

    def _joined(self, relation: str, join: exp.Join) -> exp.Select:
        names = columns((*self.key, *INTERVAL), "d")
        return select(*names, from_=subquery(self._all(relation), "d"), joins=[join])
