"""What bodies of rules need of the atoms that hold before a range, found by following them.

A body is followed from the literals that are given, over literals whose atoms are there, to one
whose atoms are not: the values that it shares with those before it are the keys by which its atoms
are looked up. Then it is followed further. All bodies of a round are followed together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.sql import (
    alias,
    column,
    null_text,
    select,
    small_number,
    subquery,
    text,
    union_all,
)
from weir.lars.syntax import Literal, Rule, Term
from weir.rules.bodies import Reader, joined
from weir.rules.literals import RuleColumns
from weir.rules.points import PointRange
from weir.rules.present import Present
from weir.sparql.algebra.expressions import Constant, Variable

Key = tuple[str, str | None]
"""The value of a column, and that of a second one; None for any."""


@dataclass(frozen=True, slots=True)
class Side:
    """Where atoms of a predicate are looked up: by which of their arguments, or of their triple."""

    predicate: str
    by: str


@dataclass(frozen=True, slots=True)
class Access:
    """A side on which the atoms of a literal can be looked up, by one or two of its terms."""

    side: Side
    first: Term
    second: Term | None


class Lookups(Protocol):
    """Has atoms, and looks up others."""

    def is_complete(self, literal: Literal) -> bool:
        """Whether all atoms that a literal may match are there."""

    def accesses(self, literal: Literal) -> Sequence[Access]:
        """The sides on which its atoms can be looked up, the best first."""

    def look_up(self, keys: Mapping[Side, Iterable[Key]]) -> None:
        """Look up atoms."""

    def complete(self, predicate: str) -> None:
        """Read all atoms of a predicate."""


@dataclass(slots=True)
class Body:
    """The body of a rule, as it is followed.

    Attributes:
        rule: whose body it is.
        reached: the literals that were followed, by number; at first that from which it is.
        there: the literals whose atoms are there, of any predicate.
        read: the rows of a literal, as far as its atoms are there.
        sources: the relations of these.
    """

    rule: Rule
    reached: list[int]
    there: frozenset[int]
    read: Reader
    sources: Callable[[int, Literal], Sequence[str]]
    names: RuleColumns = field(init=False)

    def __post_init__(self) -> None:
        self.names = RuleColumns.of(self.rule)

    @property
    def bound(self) -> frozenset[str]:
        """The variables that have values."""
        reached = (self.rule.literals[i] for i in self.reached)
        return frozenset(name for one in reached if not one.negated for name in one.variables)

    def left(self) -> list[int]:
        """The literals that were not followed, those that are negated last."""
        own = [i for i in range(len(self.rule.literals)) if i not in self.reached]
        return sorted(own, key=lambda i: self.rule.literals[i].negated)

    def rows(self, points: PointRange) -> exp.Query | None:
        """The values of the variables that are bound; None if there are none."""
        parts = []
        for i in self.reached:
            literal = self.rule.literals[i]
            if literal.negated:
                continue
            rows = self.read(i, literal)
            if rows is None:
                return None
            own = dict.fromkeys(self.names.column(variable) for variable in literal.variables)
            parts.append(((*own,), rows))
        return joined(parts, points, timeless=True).rows


@dataclass(frozen=True, slots=True)
class Following:
    """Follows bodies.

    Attributes:
        engine: has the relations.
        lookups: has atoms, and looks up others.
        points: at which rules are evaluated.
        present: looks for the constants of rules.
    """

    engine: SqlEngine
    lookups: Lookups
    points: PointRange
    present: Present

    def follow(self, bodies: Sequence[Body]) -> list[Body]:
        """Look up all that bodies need; gives those that may hold."""
        followed, holding = [*bodies], []
        while followed:
            wanted: list[tuple[Side, exp.Query]] = []
            asking: list[tuple[Body, int, int | None]] = []
            for body in followed:
                if not self._pass(body):
                    continue
                if (asked := self._asked(body)) is None:
                    holding.append(body)
                    continue
                literal, access = asked
                if access is None:
                    asking.append((body, literal, None))
                elif (rows := body.rows(self.points)) is not None:
                    asking.append((body, literal, len(wanted)))
                    wanted.append((access.side, _keys(body, access, rows)))
            has_keys = self._look_up(wanted)
            followed = [
                body
                for body, literal, query in asking
                if (query is None or query in has_keys or body.rule.literals[literal].negated)
                and self._reach(body, literal)
            ]
        return holding

    def _pass(self, body: Body) -> bool:
        """Follow the literals whose atoms are there and share variables; whether it may hold."""
        while True:
            for i in body.left():
                literal = body.rule.literals[i]
                shares = not body.bound.isdisjoint(literal.variables)
                if self._is_there(body, i) and (shares or not literal.variables):
                    if not self._reach(body, i):
                        return False
                    break
            else:
                return True

    def _asked(self, body: Body) -> tuple[int, Access | None] | None:
        """The literal that is looked up next, and how; None if all others are there."""
        best: tuple[int, int, Access] | None = None
        for i in body.left():
            literal = body.rule.literals[i]
            if self._is_there(body, i):
                continue
            for access in self.lookups.accesses(literal):
                if not _is_bound(body, access.first):
                    continue
                score = 1 + (access.second is not None and _is_bound(body, access.second))
                if not literal.negated and (best is None or score > best[0]):
                    best = score, i, access
                if literal.negated and best is None:
                    best = 0, i, access
        if best is not None:
            return best[1], best[2]
        missing = [i for i in body.left() if not self._is_there(body, i)]
        if not missing:
            return None
        # It shares no variable with what is known: any atom may do.
        there = [i for i in body.left() if i not in missing]
        if not there:
            self.lookups.complete(body.rule.literals[missing[0]].atom.predicate)
        return (there or missing)[0], None

    def _is_there(self, body: Body, i: int) -> bool:
        return i in body.there or self.lookups.is_complete(body.rule.literals[i])

    def _reach(self, body: Body, i: int) -> bool:
        """Note that the atoms of a literal are there; whether the body may hold."""
        literal = body.rule.literals[i]
        body.reached.append(i)
        return literal.negated or self.present.may_match(literal, body.sources(i, literal))

    def _look_up(self, wanted: Sequence[tuple[Side, exp.Query]]) -> frozenset[int]:
        """Look up the keys that are wanted, by one query for all; which of the queries have any."""
        if not wanted:
            return frozenset()
        parts = [
            select(
                alias(small_number(number_), "query"),
                column("k1"),
                column("k2"),
                from_=subquery(keys, "keys"),
                distinct=True,
            )
            for number_, (_, keys) in enumerate(wanted)
        ]
        having: set[int] = set()
        sides: dict[Side, set[Key]] = {}
        for number_, first, second in self.engine.rows(union_all(parts)):
            query = int(str(number_))
            key = str(first), None if second is None else str(second)
            having.add(query)
            sides.setdefault(wanted[query][0], set()).add(key)
        self.lookups.look_up(sides)
        return frozenset(having)


def _is_bound(body: Body, term: Term) -> bool:
    return isinstance(term, Constant) or term.name in body.bound


def _keys(body: Body, access: Access, rows: exp.Query) -> exp.Query:
    """The keys by which atoms are looked up: k1, k2."""

    def value(term: Term | None) -> exp.Expr | None:
        match term:
            case Constant(own):
                return text(own)
            case Variable(variable) if variable in body.bound:
                return column(body.names.column(variable))
            case _:
                return None

    first, second = value(access.first), value(access.second)
    assert first is not None, "a side is chosen by what is bound"
    last = null_text("k2") if second is None else alias(second, "k2")
    return select(alias(first, "k1"), last, from_=subquery(rows, "b"))
