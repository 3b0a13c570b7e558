"""Rules at epochs: the delta of a program that gives a graph, over a range of epochs.

The atoms of the graph hold for intervals of epochs, and so do those that rules derive. Over a
range, the atoms are derived again that the changes may concern (`touched`); the others hold
throughout it, or not at all. What is derived again are intervals, whose ends in the range are the
delta: a conclusion whose last derivation ends, ends with it, also in a cycle. If the changes may
concern most atoms, all are derived over the range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp

from weir.compute.protocol import SqlEngine
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
    sum_of,
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
from weir.plan.plan import ANSWER
from weir.plan.scope import Scope
from weir.rules.atoms import AtomReader, predicates_read
from weir.rules.literals import Literals, RuleColumns
from weir.rules.points import PointAxis, PointRange
from weir.rules.present import Present
from weir.rules.products import ProductLimit
from weir.rules.relations import arguments
from weir.rules.strata import derive, rows_by, shared_kinds
from weir.rules.touched import touched_atoms
from weir.timeline.evaluation import EpochInputs

_AXIS = PointAxis()
"""The points are the epochs."""
_CELLS = ("v0", "v1", "v2")
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
    if epochs.from_nothing and scope in leg.graph:
        graph = leg.graph[scope]
    else:
        known = predicates_read(program.read_patterns)
        graph = read_whole(engine, scope, epochs, f"{prefix}_w", known, reason="rules").relation
    first = epochs.start if epochs.from_nothing else epochs.after
    points = PointRange(first, first, epochs.last)
    given = AtomReader(engine, program, points, _AXIS, prefix, graph).given(())
    shared = shared_kinds(program.rules)
    literals = Literals(engine, given, points, _AXIS, prefix, shared, products=products)
    again = None if epochs.from_nothing else _derived_again(program, literals, leg)
    if again is None:
        derived = derive(program.rules, literals)
        again = {name: one.plain for name, one in derived.items() if one.plain is not None}
    parts = [_ends(program, name, relation, epochs) for name, relation in again.items()]
    rows = union_all(parts) if parts else _nothing()
    return PlanDelta((), Statement(f"{prefix}_new", rows), ())


def _derived_again(program: Program, literals: Literals, leg: EpochInputs) -> Names | None:
    """By predicate, the intervals of the atoms that may change; None if these are most of all."""
    engine = literals.engine
    known, rules = _known(program, engine, leg), program.rules.rules
    present = Present.of(engine, rules)
    touched = touched_atoms(rules, literals, known, leg.epochs, present)
    if sum(map(engine.count, touched.values())) > MOST_TOUCHED * sum(
        map(engine.count, known.values())
    ):
        return None
    return _Again(program, literals, known, touched, present).derived()


def _known(program: Program, engine: SqlEngine, leg: EpochInputs) -> Names:
    """By predicate, the relation of the atoms that hold before the range."""
    relations = {}
    for name in program.rules.derived:
        key = arguments(program_arity(program, name))
        cells = [alias(column(cell), own) for cell, own in zip(_CELLS, key, strict=False)]
        held = select(
            *cells,
            from_=rows_of(leg.stored),
            where=[column("node").eq(text(_node(program, name)))],
            group_by=columns(_CELLS[: len(key)]),
            having=sum_of(column("weight")) > number(0),
        )
        relation = f"{leg.prefix}_known_{name}"
        engine.make(Statement(relation, held, "cache"))
        if engine.count(relation):
            relations[name] = relation
    return relations


def program_arity(program: Program, name: str) -> int:
    """How many arguments the atoms of a predicate have that rules derive."""
    rules = program.rules.rules
    return next(len(r.head.atom.arguments) for r in rules if r.head.atom.predicate == name)


@dataclass(frozen=True, slots=True)
class _Again:
    """Derives again the atoms that may change.

    Attributes:
        program: has the rules.
        literals: has the atoms that it reads.
        known: by predicate, the atoms that hold before the range.
        touched: by predicate, the atoms that are derived again.
        present: looks for the constants of the rules.
    """

    program: Program
    literals: Literals
    known: Names
    touched: Names
    present: Present

    def derived(self) -> Names:
        """By predicate, the intervals of the touched atoms; without those that never hold."""
        made: dict[str, str] = {}
        kept = {name: self._kept(name) for name in self.known}
        for number_, stratum in enumerate(self.program.rules.strata):
            rules = [rule for rule in map(_with_goal, stratum.rules) if self._may_derive(rule)]
            prefix = f"{self.literals.prefix}_again{number_}"
            made |= self._stratum(rules, kept, made, prefix)
        return made

    def _stratum(self, rules: Sequence[Rule], kept: Names, earlier: Names, prefix: str) -> Names:
        """The same of the predicates of a stratum, after those of earlier ones."""
        keys = {rule.head.atom.predicate: _arguments(rule.head.atom) for rule in rules}

        def heads(known: Names, through: Names | None) -> Mapping[str, exp.Query]:
            """What follows from what is kept and known: at least one atom of it is new."""
            parts: dict[str, list[exp.Query]] = {}
            for rule in rules:
                for new in self._through(rule, through):
                    read = partial(self._reading, RuleColumns.of(rule), (kept, known), new)
                    rows = rows_by(rule, self.literals, read)
                    if rows is not None:
                        parts.setdefault(rule.head.atom.predicate, []).append(rows)
            return {name: union_all(queries) for name, queries in parts.items()}

        def step(new: Names, known: Names) -> Mapping[str, exp.Query]:
            return heads({**earlier, **known}, new)

        keep = self.literals.keep
        seed = heads(earlier, None)
        return interval_fixpoint(self.literals.engine, keys, seed, step, prefix, keep)

    def _may_derive(self, rule: Rule) -> bool:
        """Whether a rule, whose goal is the first of its literals, may derive a touched atom."""
        background = self.literals.given.background
        for nth, literal in enumerate(rule.literals):
            name = literal.atom.predicate
            # What holds is known or touched; the goal is touched.
            derived = (self.touched,) if nth == 0 else (self.known, self.touched)
            where = (background,) if name in background else derived
            relations = [names[name] for names in where if name in names]
            if not literal.negated and not self.present.may_match(literal, relations):
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

    def _reading(
        self,
        names: RuleColumns,
        known: Sequence[Names],
        new: tuple[int, str] | None,
        nth: int,
        literal: Literal,
    ) -> exp.Query | None:
        """The rows of a literal: of the goal, of what is read, or of what is derived."""
        predicate, atom = literal.atom.predicate, literal.atom
        if predicate in self.literals.given.background:
            return self.literals.rows(literal, names)
        if nth == 0:
            rows: exp.Query = self._throughout(self.touched[predicate], atom)
        elif new is not None and new[0] == nth:
            rows = _intervals(new[1], atom)
        else:
            relations = [own[predicate] for own in known if predicate in own]
            if not relations:
                return None
            rows = union_all([_intervals(relation, atom) for relation in relations])
        return self.literals.matching(literal, rows, names)

    def _kept(self, name: str) -> str:
        """The atoms that hold before the range and throughout it."""
        known, touched = self.known[name], self.touched.get(name)
        key = arguments(program_arity(self.program, name))
        joins = [] if touched is None else [anti_join(rows_of(touched, "t"), *equal(key, "k", "t"))]
        points = self.literals.points
        return self.literals.make(
            select(
                *columns(key, "k"),
                alias(number(points.first), "since"),
                alias(number(points.end), "until"),
                from_=rows_of(known, "k"),
                joins=joins,
            ),
            "view",
        )

    def _throughout(self, relation: str, atom: Atom) -> exp.Select:
        points = self.literals.points
        return select(
            *columns(_arguments(atom)),
            alias(number(points.first), "since"),
            alias(number(points.end), "until"),
            from_=rows_of(relation),
        )


def _with_goal(rule: Rule) -> Rule:
    """The rule with its head before its body: only atoms are derived that are asked for."""
    return replace(rule, body=(Literal(rule.head.atom, place=rule.place), *rule.body))


def _intervals(relation: str, atom: Atom) -> exp.Select:
    return select(*columns((*_arguments(atom), *INTERVAL)), from_=rows_of(relation))


def _arguments(atom: Atom) -> tuple[str, ...]:
    return arguments(len(atom.arguments))


def _node(program: Program, name: str) -> str:
    """The node under which the atoms of a predicate are stored."""
    return ANSWER if name == program.answer else f"atoms of {name}"


def _ends(program: Program, name: str, relation: str, epochs: EpochRange) -> exp.Query:
    """The rows of a predicate's atoms that begin or end in the range."""
    key = arguments(program_arity(program, name))
    weighed = select(
        *columns((*key, *INTERVAL)), alias(number(1), "weight"), from_=rows_of(relation)
    )
    log = net(differentiate(weighed, key, epochs), key)
    cells = [alias(column(own), cell) for own, cell in zip(key, _CELLS, strict=False)]
    named = select(*cells, *columns(CHANGE), from_=subquery(log, "ends"))
    have = _CELLS[: len(key)]
    return select(
        alias(text(_node(program, name)), "node"),
        *padded_columns(_CELLS, have),
        *columns(CHANGE),
        from_=subquery(named, "named"),
    )


def _nothing() -> exp.Select:
    cells = [alias(text(""), name) for name in ("node", *_CELLS)]
    return select(*cells, *(alias(number(0), name) for name in CHANGE), where=[exp.false()])
