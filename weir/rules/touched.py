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
from weir.rules.literals import Literals, RuleColumns
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
    known: Names,
    epochs: EpochRange,
    present: Present,
) -> Names:
    """By predicate that rules derive, the relation of the atoms that may change.

    Its columns are the arguments, since and until, which say nothing. Relations without rows are
    missing.

    Args:
        rules: of a program without windows.
        literals: has the atoms that the program reads.
        known: by predicate, the relation of the atoms that were derived before the range.
        epochs: the range.
        present: looks for the constants of the rules.
    """
    search = _Search.of(literals, known, epochs, present)
    ways = [*_ways(rules)]
    keys = {way.rule.head.atom.predicate: _key(way.rule) for way in ways}
    read = [way for way in ways if way.literal.atom.predicate in search.changed]
    followed = [way for way in ways if way.literal.atom.predicate not in search.ever]

    def step(new: Names, touched: Names) -> Mapping[str, exp.Query]:
        usable = (way for way in followed if way.literal.atom.predicate in new)
        return search.heads([*usable], new, touched)

    prefix = f"{literals.prefix}_touched"
    seed = search.heads(read, search.changed, {})
    return interval_fixpoint(literals.engine, keys, seed, step, prefix, literals.keep)


@dataclass(frozen=True, slots=True)
class _Search:
    """What rules are followed over.

    Attributes:
        literals: makes relations.
        known: by predicate, the atoms that were derived before the range.
        ever: by predicate that is read, the atoms that hold at some time of the range.
        changed: the same of those that change in it; those without any are missing.
        present: looks for the constants of the rules.
    """

    literals: Literals
    known: Names
    ever: Names
    changed: Names
    present: Present

    @classmethod
    def of(cls, literals: Literals, known: Names, epochs: EpochRange, present: Present) -> _Search:
        """That of a range."""
        after, last = number(epochs.after), number(epochs.last)
        held = all_of([column("until") > after, column("since") <= last])
        ends = any_of([column("since") > after.copy(), column("until") <= last.copy()])
        ever, changed = {}, {}
        for predicate, relation in literals.given.background.items():
            of_range = select("*", from_=rows_of(relation), where=[held.copy()])
            ever[predicate] = literals.make(of_range, "view")
            new = select("*", from_=rows_of(relation), where=[held.copy(), ends.copy()])
            made = literals.make(new)
            if literals.engine.count(made):
                changed[predicate] = made
        return cls(literals, known, ever, changed, present)

    def heads(self, ways: Sequence[_Way], new: Names, touched: Names) -> Mapping[str, exp.Query]:
        """What follows by some ways from what is new."""
        parts: dict[str, list[exp.Query]] = {}
        for way in ways:
            sources = [
                [new[literal.atom.predicate]] if nth == way.nth else self._ever(literal, touched)
                for nth, literal in enumerate(way.rule.literals)
            ]
            matching = zip(way.rule.literals, sources, strict=True)
            if not all(self.present.may_match(literal, own) for literal, own in matching):
                continue
            reader = partial(self._reading, RuleColumns.of(way.rule), sources)
            rows = rows_by(way.rule, self.literals, reader)
            if rows is not None:
                parts.setdefault(way.rule.head.atom.predicate, []).append(rows)
        return {name: union_all(queries) for name, queries in parts.items()}

    def _reading(
        self, names: RuleColumns, sources: Sequence[Sequence[str]], nth: int, literal: Literal
    ) -> exp.Query:
        """The rows of a literal, as if they held all the time."""
        atoms = union_all([_always(relation, literal) for relation in sources[nth]])
        return self.literals.matching(literal, atoms, names)

    def _ever(self, literal: Literal, touched: Names) -> list[str]:
        """The relations of the atoms of a literal that hold at some time of the range."""
        predicate = literal.atom.predicate
        if predicate in self.ever:
            return [self.ever[predicate]]
        return [names[predicate] for names in (self.known, touched) if predicate in names]


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


def _always(relation: str, literal: Literal) -> exp.Select:
    """The atoms of a relation, as if they held all the time."""
    return select(
        *columns(arguments(len(literal.atom.arguments))),
        alias(number(0), "since"),
        alias(number(1), "until"),
        from_=rows_of(relation),
    )


def _key(rule: Rule) -> Key:
    return arguments(len(rule.head.atom.arguments))
