"""Rules at epochs: the delta of a program that gives a graph, over a range of epochs.

The atoms of the graph hold for intervals of epochs, and so do those that rules derive. Over a
range, the atoms are derived again that the changes may concern (`touched`); the others hold
throughout it, or not at all. What is derived again are intervals, whose ends in the range are the
delta: a conclusion whose last derivation ends, ends with it, also in a cycle. If the changes may
concern most atoms, all are derived over the range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    anti_join,
    column,
    columns,
    equal,
    number,
    padded_columns,
    rows_of,
    select,
    subquery,
    text,
    union_all,
)
from weir.engine.interval_fixpoint import Names, interval_fixpoint
from weir.engine.plan_delta import PlanDelta
from weir.engine.read_graph import read_whole
from weir.engine.relations import CHANGE, INTERVAL, EpochRange
from weir.engine.sweep import differentiate, net
from weir.lars.program import Program
from weir.lars.syntax import Atom, Literal, Rule
from weir.plan.scope import Scope
from weir.rules.atoms import AtomReader, predicates_read
from weir.rules.derived import background_intervals
from weir.rules.held_atoms import CELLS, HeldAtoms, arity_of, node_of
from weir.rules.literals import Literals, RuleColumns
from weir.rules.needed import Body, Following
from weir.rules.points import PointAxis, PointRange
from weir.rules.present import Present
from weir.rules.products import ProductLimit
from weir.rules.relations import Given, arguments
from weir.rules.strata import derive, rows_by, shared_kinds
from weir.rules.touched import touched_atoms
from weir.timeline.evaluation import EpochInputs

_AXIS = PointAxis()
"""The points are the epochs."""
MOST_TOUCHED = 0.5
"""Of the atoms that are known, a larger share is not derived again by itself."""


def graph_program_rows(
    program: Program, scope: Scope, leg: EpochInputs, products: ProductLimit | None = None
) -> PlanDelta:
    """The statement that makes the new rows of a range: node, v0, .., epoch, weight.

    What it reads is made right away. The node `answer` has the triples.

    Args:
        program: its answer are triples (`weir.lars.triples`).
        scope: which triples it reads.
        leg: the range, and the rows that are stored.
        products: the limit of products in bodies.

    Raises:
        WeirError: a product exceeds it.
    """
    engine, epochs, prefix = leg.engine, leg.epochs, leg.prefix
    atoms = None if epochs.from_nothing else HeldAtoms.of(program, scope, leg)
    again = None if atoms is None else _derived_again(program, atoms, leg, products)
    if again is None:
        if atoms is not None:
            graph = atoms.graph()
        elif (made := leg.graph.get(scope)) is not None:
            graph = made
        else:
            known = predicates_read(program.read_patterns)
            graph = read_whole(engine, scope, epochs, f"{prefix}_w", known, reason="rules").relation
        derived = derive(program.rules, _literals(program, leg, products, graph))
        again = {name: one.plain for name, one in derived.items() if one.plain is not None}
    parts = [_ends(program, name, relation, epochs) for name, relation in again.items()]
    rows = union_all(parts) if parts else _nothing()
    return PlanDelta((), Statement(f"{prefix}_new", rows), ())


def _literals(
    program: Program, leg: EpochInputs, products: ProductLimit | None, graph: str | None
) -> Literals:
    """The literals of a program over the range; without a graph, its atoms are read elsewhere."""
    epochs, prefix = leg.epochs, leg.prefix
    first = epochs.start if epochs.from_nothing else epochs.after
    points = PointRange(first, first, epochs.last)
    given = Given()
    if graph is not None:
        given = AtomReader(leg.engine, program, points, _AXIS, prefix, graph=graph).given(())
    else:
        prefix = f"{prefix}_part"
    shared = shared_kinds(program.rules)
    return Literals(leg.engine, given, points, _AXIS, prefix, shared, products=products)


def _derived_again(
    program: Program, atoms: HeldAtoms, leg: EpochInputs, products: ProductLimit | None
) -> Names | None:
    """By predicate, the intervals of the atoms that may change; None if these are most of all."""
    engine, rules = leg.engine, program.rules.rules
    present = Present.of(engine, rules)
    literals = _literals(program, leg, products, None)
    touched = touched_atoms(rules, literals, atoms, leg.epochs, present)
    if sum(map(engine.count, touched.values())) > MOST_TOUCHED * atoms.total:
        return None
    return _Again(program, literals, atoms, touched, present, leg.prefix).derived()


@dataclass(frozen=True, slots=True)
class _Again:
    """Derives again the atoms that may change.

    Attributes:
        program: has the rules.
        literals: makes relations.
        atoms: has the atoms that hold before the range and in it.
        touched: by predicate, the atoms that are derived again.
        present: looks for the constants of the rules.
        prefix: begins the names of what is derived.
    """

    program: Program
    literals: Literals
    atoms: HeldAtoms
    touched: Names
    present: Present
    prefix: str
    _kept: dict[str, str] = field(default_factory=dict)

    def derived(self) -> Names:
        """By predicate, the intervals of the touched atoms; without those that never hold."""
        made: dict[str, str] = {}
        for number_, stratum in enumerate(self.program.rules.strata):
            rules = [rule for rule in map(with_goal, stratum.rules) if self._may_derive(rule)]
            made |= self._stratum(rules, made, f"{self.prefix}_again{number_}")
        return made

    def _stratum(self, rules: Sequence[Rule], earlier: Names, prefix: str) -> Names:
        """The same of the predicates of a stratum, after those of earlier ones."""
        keys = {rule.head.atom.predicate: _arguments(rule.head.atom) for rule in rules}

        def heads(known: Names, through: Names | None) -> Mapping[str, exp.Query]:
            """What follows from what is kept and known: at least one atom of it is new."""
            bodies = [
                self._body(rule, known, new)
                for rule in rules
                for new in self._through(rule, through)
                if self.present.may_join(self._given(rule, known, new))
            ]
            engine, points = self.literals.engine, self.literals.points
            following = Following(engine, self.atoms, points, self.present)
            parts: dict[str, list[exp.Query]] = {}
            for body in following.follow(bodies):
                rows = rows_by(body.rule, self.literals, body.read)
                if rows is not None:
                    parts.setdefault(body.rule.head.atom.predicate, []).append(rows)
            return {name: union_all(queries) for name, queries in parts.items()}

        def step(new: Names, known: Names) -> Mapping[str, exp.Query]:
            return heads({**earlier, **known}, new)

        keep = self.literals.keep
        seed = heads(earlier, None)
        return interval_fixpoint(self.literals.engine, keys, seed, step, prefix, keep)

    def _body(self, rule: Rule, known: Names, new: tuple[int, str] | None) -> Body:
        """A body, which is followed from what is new, or from its goal."""
        names, first = RuleColumns.of(rule), 0 if new is None else new[0]
        return Body(
            rule,
            [first],
            frozenset([0, first]),
            partial(self._reading, names, known, new),
            partial(self._sources, known, new),
        )

    def _given(
        self, rule: Rule, known: Names, new: tuple[int, str] | None
    ) -> Iterator[tuple[Literal, Sequence[str]]]:
        """The literals of a rule whose atoms are there, and the relations of these."""
        for nth, literal in enumerate(rule.literals):
            if literal.negated:
                continue
            if nth == 0 or (new is not None and nth == new[0]):
                yield literal, self._sources(known, new, nth, literal)
            elif self.atoms.is_complete(literal):
                later = known.get(literal.atom.predicate)
                yield literal, [*self.atoms.all_of(literal), *([] if later is None else [later])]

    def _may_derive(self, rule: Rule) -> bool:
        """Whether a rule, whose goal is the first of its literals, may derive a touched atom."""
        for nth, literal in enumerate(rule.literals):
            # What holds is known or touched; the goal is touched.
            relations = self._sources(self.touched, None, nth, literal)
            if literal.negated or (nth and not self.atoms.is_complete(literal)):
                continue
            if not self.present.may_match(literal, relations):
                return False
        return True

    def _through(self, rule: Rule, new: Names | None) -> list[tuple[int, str] | None]:
        """The literals of a rule that what is new may match, by number; without `new` one None."""
        if new is None:
            return [None]
        return [
            (nth, new[literal.atom.predicate])
            for nth, literal in enumerate(rule.literals)
            if nth
            and literal.atom.predicate in new
            and not literal.negated
            and self.present.may_match(literal, [new[literal.atom.predicate]])
        ]

    def _sources(
        self, known: Names, new: tuple[int, str] | None, nth: int, literal: Literal
    ) -> list[str]:
        """The relations of the atoms of a literal, as far as they are there."""
        predicate = literal.atom.predicate
        if nth == 0:
            return [self.touched[predicate]] if predicate in self.touched else []
        if new is not None and new[0] == nth:
            return [new[1]]
        if predicate in self.atoms.background:
            return [self.atoms.background[predicate]]
        return [own[predicate] for own in (self.atoms.known, known) if predicate in own]

    def _reading(
        self,
        names: RuleColumns,
        known: Names,
        new: tuple[int, str] | None,
        nth: int,
        literal: Literal,
    ) -> exp.Query | None:
        """The rows of a literal: of the goal, of what is read, or of what is derived."""
        atom, points = literal.atom, self.literals.points
        sources = self._sources(known, new, nth, literal)
        if not sources:
            return None
        if nth == 0:
            rows: exp.Query = self._throughout(sources[0], atom)
        elif atom.predicate in self.atoms.background:
            rows = background_intervals(sources[0], _arguments(atom), None, None, points)
        else:
            held = self.atoms.known.get(atom.predicate)
            own = (self._kept_of(atom, name) if name == held else name for name in sources)
            rows = union_all([atom_intervals(relation, atom) for relation in own])
        return self.literals.matching(literal, rows, names)

    def _kept_of(self, atom: Atom, known: str) -> str:
        """The atoms that hold before the range and throughout it."""
        if known not in self._kept:
            touched, key = self.touched.get(atom.predicate), _arguments(atom)
            same = equal(key, "k", "t")
            joins = [] if touched is None else [anti_join(rows_of(touched, "t"), *same)]
            points = self.literals.points
            kept = select(
                *columns(key, "k"),
                alias(number(points.first), "since"),
                alias(number(points.end), "until"),
                from_=rows_of(known, "k"),
                joins=joins,
            )
            self._kept[known] = self.literals.make(kept, "view")
        return self._kept[known]

    def _throughout(self, relation: str, atom: Atom) -> exp.Select:
        points = self.literals.points
        return select(
            *columns(_arguments(atom)),
            alias(number(points.first), "since"),
            alias(number(points.end), "until"),
            from_=rows_of(relation),
        )


def with_goal(rule: Rule) -> Rule:
    """The rule with its head before its body: only atoms are derived that are asked for."""
    return replace(rule, body=(Literal(rule.head.atom, place=rule.place), *rule.body))


def atom_intervals(relation: str, atom: Atom) -> exp.Select:
    return select(*columns((*_arguments(atom), *INTERVAL)), from_=rows_of(relation))


def _arguments(atom: Atom) -> tuple[str, ...]:
    return arguments(len(atom.arguments))


def _ends(program: Program, name: str, relation: str, epochs: EpochRange) -> exp.Query:
    """The rows of a predicate's atoms that begin or end in the range."""
    key = arguments(arity_of(program, name))
    weighed = select(
        *columns((*key, *INTERVAL)), alias(number(1), "weight"), from_=rows_of(relation)
    )
    log = net(differentiate(weighed, key, epochs), key)
    cells = [alias(column(own), cell) for own, cell in zip(key, CELLS, strict=False)]
    named = select(*cells, *columns(CHANGE), from_=subquery(log, "ends"))
    have = CELLS[: len(key)]
    return select(
        alias(text(node_of(program, name)), "node"),
        *padded_columns(CELLS, have),
        *columns(CHANGE),
        from_=subquery(named, "named"),
    )


def _nothing() -> exp.Select:
    cells = [alias(text(""), name) for name in ("node", *CELLS)]
    return select(*cells, *(alias(number(0), name) for name in CHANGE), where=[exp.false()])
