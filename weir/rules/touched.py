"""The atoms that the changes of a range may concern: a superset of those that they do.

An atom changes within a range only if a body that derives it has an atom that does. So what
follows from a changed atom is touched, beside any atoms that hold at some time of the range: those
that were derived before it, and what is touched itself. Rules are followed without negation: what a
negated atom does not allow any more, or allows again, is touched if the atom is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from weir.compute.sql import (
    alias,
    any_of,
    column,
    columns,
    number,
    rows_of,
    select,
    union_all,
)
from weir.engine.coverage import Names, interval_fixpoint
from weir.engine.relations import EpochRange
from weir.engine.sweep import Key
from weir.lars.columns import TRIPLE_COLUMNS
from weir.lars.syntax import Literal, Rule
from weir.rules.literals import Literals, RuleColumns
from weir.rules.relations import arguments
from weir.rules.strata import rows_by
from weir.sparql.algebra.expressions import Constant

_MOST_VALUES = 1_000
"""So many predicates of new triples are looked at, to leave out rules that are about others."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A rule through one of its literals, the nth, which is touched."""

    rule: Rule
    nth: int

    @property
    def literal(self) -> Literal:
        """The literal."""
        return self.rule.literals[self.nth]


def touched_atoms(
    rules: Sequence[Rule], literals: Literals, known: Names, epochs: EpochRange
) -> Names:
    """By predicate that rules derive, the relation of the atoms that may change.

    Its columns are the arguments, since and until, which say nothing. Relations without rows are
    missing.

    Args:
        rules: of a program without windows.
        literals: has the atoms that the program reads.
        known: by predicate, the relation of the atoms that were derived before the range.
        epochs: the range.
    """
    search = _Search(literals, known, epochs)
    ways = [*_ways(rules)]
    keys = {way.rule.head.atom.predicate: _key(way.rule) for way in ways}
    read = [way for way in ways if way.literal.atom.predicate in literals.given.background]
    followed = [way for way in ways if way not in read]
    seed = search.heads(read, None, {})

    def step(new: Names, touched: Names) -> Mapping[str, exp.Query]:
        present = {
            name: search.values(relation) if len(keys[name]) == len(TRIPLE_COLUMNS) else None
            for name, relation in new.items()
        }
        usable = (way for way in followed if way.literal.atom.predicate in new)
        return search.heads(
            [way for way in usable if _may_match(way.literal, present)], new, touched
        )

    prefix = f"{literals.prefix}_touched"
    return interval_fixpoint(literals.engine, keys, seed, step, prefix, literals.keep)


@dataclass(frozen=True, slots=True)
class _Search:
    literals: Literals
    known: Names
    epochs: EpochRange

    def heads(
        self, ways: Sequence[_Way], new: Names | None, touched: Names
    ) -> Mapping[str, exp.Query]:
        """What follows by some ways: from what is new, or from the changes of what is read."""
        parts: dict[str, list[exp.Query]] = {}
        for way in ways:
            reader = partial(self._reading, way, RuleColumns.of(way.rule), new, touched)
            rows = rows_by(way.rule, self.literals, reader)
            if rows is not None:
                parts.setdefault(way.rule.head.atom.predicate, []).append(rows)
        return {name: union_all(queries) for name, queries in parts.items()}

    def _reading(
        self,
        way: _Way,
        names: RuleColumns,
        new: Names | None,
        touched: Names,
        nth: int,
        literal: Literal,
    ) -> exp.Query | None:
        """The rows of a literal of a way: of what changes, or of all that holds at some time."""
        if nth != way.nth:
            atoms = self._ever(literal, touched)
        elif new is None:
            atoms = self._read(literal, within=True)
        else:
            atoms = _always(new[literal.atom.predicate], literal)
        return None if atoms is None else self.literals.matching(literal, atoms, names)

    def values(self, relation: str) -> frozenset[str] | None:
        """The predicates of the triples of a relation; None if they are many."""
        second, rows = column("a2"), rows_of(relation)
        some = self.literals.engine.rows(
            select(second, from_=rows, distinct=True, limit=_MOST_VALUES + 1)
        )
        if len(some) > _MOST_VALUES:
            return None
        return frozenset(str(value) for (value,) in some)

    def _ever(self, literal: Literal, touched: Names) -> exp.Query | None:
        """The atoms of a literal that hold at some time of the range."""
        predicate = literal.atom.predicate
        if predicate in self.literals.given.background:
            return self._read(literal, within=False)
        both = [names[predicate] for names in (self.known, touched) if predicate in names]
        return union_all([_always(relation, literal) for relation in both]) if both else None

    def _read(self, literal: Literal, *, within: bool) -> exp.Query:
        """The atoms that are read which hold, or with `within` change, at a time of the range."""
        relation = self.literals.given.background[literal.atom.predicate]
        after, last = number(self.epochs.after), number(self.epochs.last)
        where: list[exp.Expr] = [column("until") > after, column("since") <= last]
        if within:
            where.append(any_of([column("since") > after.copy(), column("until") <= last.copy()]))
        return _always(relation, literal, where)


def _ways(rules: Sequence[Rule]) -> Iterator[_Way]:
    for rule in rules:
        for literal in rule.literals:
            # A negated literal is taken for one that is not; other negated ones are left out.
            body = tuple(
                replace(element, negated=False) if element is literal else element
                for element in rule.body
                if element is literal or not (isinstance(element, Literal) and element.negated)
            )
            changed = replace(rule, body=body)
            positive = replace(literal, negated=False)
            nth = next(i for i, one in enumerate(changed.literals) if one == positive)
            yield _Way(changed, nth)


def _may_match(literal: Literal, present: Mapping[str, frozenset[str] | None]) -> bool:
    """Whether new atoms may match a literal, by the predicates that they have as triples."""
    _, *others = literal.atom.arguments or (None,)
    values = present[literal.atom.predicate]
    match others:
        case [Constant(term), *_]:
            return values is None or term in values
        case _:
            return True


def _always(relation: str, literal: Literal, where: Sequence[exp.Expr] = ()) -> exp.Select:
    """The atoms of a relation, as if they held all the time."""
    return select(
        *columns(arguments(len(literal.atom.arguments))),
        alias(number(0), "since"),
        alias(number(1), "until"),
        from_=rows_of(relation),
        where=where,
    )


def _key(rule: Rule) -> Key:
    return arguments(len(rule.head.atom.arguments))
