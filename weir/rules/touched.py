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
    all_of,
    any_of,
    column,
    columns,
    number,
    rows_of,
    select,
    union_all,
)
from weir.engine.interval_fixpoint import Names, interval_fixpoint
from weir.engine.relations import EpochRange
from weir.engine.sweep import Key
from weir.lars.syntax import Literal, Rule
from weir.rules.held_atoms import HeldAtoms
from weir.rules.literals import Literals, RuleColumns
from weir.rules.needed import Body, Following
from weir.rules.present import Present
from weir.rules.relations import arguments
from weir.rules.strata import rows_by


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
    rules: Sequence[Rule],
    literals: Literals,
    atoms: HeldAtoms,
    epochs: EpochRange,
    present: Present,
) -> Names:
    """By predicate that rules derive, the relation of the atoms that may change.

    Its columns are the arguments, since and until, which say nothing. Relations without rows are
    missing.

    Args:
        rules: of a program without windows.
        literals: makes relations.
        atoms: has the atoms that hold before the range and in it.
        epochs: the range.
        present: looks for the constants of the rules.
    """
    own = replace(literals, prefix=f"{literals.prefix}_ways", timeless=True)
    search = _Search(own, atoms, epochs, present)
    changed = search.changed()
    ways = [*_ways(rules)]
    keys = {way.rule.head.atom.predicate: _key(way.rule) for way in ways}
    read = [way for way in ways if way.literal.atom.predicate in changed]
    followed = [way for way in ways if way.literal.atom.predicate not in atoms.background]

    def step(new: Names, touched: Names) -> Mapping[str, exp.Query]:
        usable = (way for way in followed if way.literal.atom.predicate in new)
        return search.heads([*usable], new, touched)

    prefix = f"{literals.prefix}_touched"
    seed = search.heads(read, changed, {})
    return interval_fixpoint(
        literals.engine, keys, seed, step, prefix, literals.keep, timeless=True
    )


@dataclass(frozen=True, slots=True)
class _Search:
    """What rules are followed over.

    Attributes:
        literals: makes relations.
        atoms: has the atoms that hold before the range and in it.
        epochs: the range.
        present: looks for the constants of the rules.
    """

    literals: Literals
    atoms: HeldAtoms
    epochs: EpochRange
    present: Present

    def changed(self) -> Names:
        """By predicate that is read, the atoms that change in the range."""
        after, last = number(self.epochs.after), number(self.epochs.last)
        ends = any_of([column("since") > after, column("until") <= last])
        changed = {}
        for predicate, relation in self.atoms.background.items():
            where = [self._in_range(), ends.copy()]
            made = self.literals.make(select("*", from_=rows_of(relation), where=where))
            if self.literals.engine.count(made):
                changed[predicate] = made
        return changed

    def heads(self, ways: Sequence[_Way], new: Names, touched: Names) -> Mapping[str, exp.Query]:
        """What follows by some ways from what is new."""
        bodies = [
            Body(
                way.rule,
                [way.nth],
                frozenset([way.nth]),
                partial(self._rows, way, RuleColumns.of(way.rule), new, touched),
                partial(self._sources, way, new, touched),
            )
            for way in ways
            if self.present.may_match(way.literal, [new[way.literal.atom.predicate]])
            and self.present.may_join(self._given(way, new, touched))
        ]
        literals = self.literals
        following = Following(literals.engine, self.atoms, literals.points, self.present)
        parts: dict[str, list[exp.Query]] = {}
        for body in following.follow(bodies):
            rows = rows_by(body.rule, literals, body.read)
            if rows is not None:
                parts.setdefault(body.rule.head.atom.predicate, []).append(rows)
        return {name: union_all(queries) for name, queries in parts.items()}

    def _given(
        self, way: _Way, new: Names, touched: Names
    ) -> Iterator[tuple[Literal, Sequence[str]]]:
        """The literals of a rule whose atoms are there, and the relations of these."""
        for nth, literal in enumerate(way.rule.literals):
            if nth == way.nth:
                yield literal, [new[literal.atom.predicate]]
            elif self.atoms.is_complete(literal):
                later = touched.get(literal.atom.predicate)
                own = self.atoms.all_of(literal)
                yield literal, [*own, *([] if later is None else [later])]

    def _rows(
        self, way: _Way, names: RuleColumns, new: Names, touched: Names, nth: int, literal: Literal
    ) -> exp.Query | None:
        """The rows of a literal, whenever they hold."""
        sources = self._sources(way, new, touched, nth, literal)
        if not sources:
            return None
        atoms = union_all([self._always(relation, literal) for relation in sources])
        return self.literals.matching(literal, atoms, names)

    def _sources(
        self, way: _Way, new: Names, touched: Names, nth: int, literal: Literal
    ) -> list[str]:
        """The relations of the atoms of a literal that hold at some time of the range."""
        predicate = literal.atom.predicate
        if nth == way.nth:
            return [new[predicate]]
        if predicate in self.atoms.background:
            return [self.atoms.background[predicate]]
        return [names[predicate] for names in (self.atoms.known, touched) if predicate in names]

    def _always(self, relation: str, literal: Literal) -> exp.Select:
        """The atoms of a relation, without the times at which they hold."""
        is_read = relation == self.atoms.background.get(literal.atom.predicate)
        return select(
            *columns(arguments(len(literal.atom.arguments))),
            from_=rows_of(relation),
            where=[self._in_range()] if is_read else [],
        )

    def _in_range(self) -> exp.Expr:
        """Whether an atom of the graph holds at some time of the range."""
        after, last = number(self.epochs.after), number(self.epochs.last)
        return all_of([column("until") > after, column("since") <= last])


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


def _key(rule: Rule) -> Key:
    return arguments(len(rule.head.atom.arguments))
