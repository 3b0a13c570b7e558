"""One derivation of a triple by the rules of a program over epochs, down to what is read.

What holds is stored, so nothing is derived again: of an atom, the solutions of the bodies that
derive it are looked up among what holds, then what these need, and so on, level by level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.sql import (
    alias,
    ascending,
    column,
    columns,
    number,
    over,
    select,
    subquery,
)
from weir.engine.interval_fixpoint import Names
from weir.lars.program import Program
from weir.lars.rule_sets import RuleSetName, rule_names
from weir.lars.syntax import Literal, Rule
from weir.lars.triples import ANSWER_PREDICATE
from weir.rules.atoms import AtomReader
from weir.rules.bodies import Body, body_of
from weir.rules.epochs import atom_intervals, with_goal
from weir.rules.literals import Literals, RuleColumns
from weir.rules.points import PointAxis, PointRange
from weir.rules.present import Present
from weir.rules.relations import arguments
from weir.rules.strata import shared_kinds
from weir.sparql.algebra.expressions import Constant, Variable
from weir.why.atom_triples import triples_of
from weir.why.derivation_tree import MOST_SOLUTIONS, AtomAt, RuleBody, Tree, supported
from weir.why.explanation import Derivation, ReadAtom, Triple

_MOST_GOALS = 10_000
"""No more atoms are looked at. Those of a level are looked up together, so many cost little."""
_MOST_LEVELS = 300
"""Nor deeper; a tree is made by recursion."""
_NOW = 0
"""The point of all that holds."""
DURING = {"since": _NOW, "until": _NOW + 1}
"""The interval of all that holds."""


@dataclass(frozen=True, slots=True)
class Held:
    """What holds at an epoch.

    Attributes:
        engine: has the relations; those that are made stay in it.
        graph: the relation of the triples that the program reads: `POSITIONS`, since, until.
        atoms: by predicate, the relation of the atoms that rules derive: a1, .., since, until.
    """

    engine: SqlEngine
    graph: str
    atoms: Names


@dataclass(slots=True)
class EpochSearch:
    """Looks for derivations among what holds at an epoch.

    Attributes:
        program: gives a graph.
        rules: the set whose rules it has beside its own; None if it has none.
        file: the name of its file.
        held: what holds.
    """

    program: Program
    rules: RuleSetName | None
    file: str
    held: Held
    _literals: Literals = field(init=False)
    _present: Present = field(init=False)
    _bodies: dict[AtomAt, list[RuleBody]] = field(default_factory=dict)
    _level: int = 0

    def __post_init__(self) -> None:
        engine, program = self.held.engine, self.program
        axis, points = PointAxis(), PointRange(_NOW, _NOW, _NOW)
        read = AtomReader(engine, program, points, axis, "why_d", graph=self.held.graph)
        given = read.given(())
        shared = shared_kinds(program.rules)
        self._literals = Literals(engine, given, points, axis, "why_d", shared)
        self._present = Present.of(engine, program.rules.rules)

    def derivation(self, triple: Triple) -> Derivation | None:
        """A derivation of a triple of the graph that the program gives.

        None if it does not hold, or needs more than is looked at.
        """
        assert self.program.answer is not None, "it gives a graph"
        goal: AtomAt = (self.program.answer, triple, _NOW)
        level: Sequence[AtomAt] = [goal]
        while level and len(self._bodies) < _MOST_GOALS and self._level < _MOST_LEVELS:
            looked_up = self._of_level(level)
            self._bodies |= looked_up
            level = [*dict.fromkeys(_needed(looked_up.values()))]
            level = [atom for atom in level if atom not in self._bodies]
        chosen = supported(self._bodies)
        if goal not in chosen:
            return None
        if self.program.answer == ANSWER_PREDICATE:
            # Its rules make a triple of an atom.
            (goal,) = chosen[goal].derived
        return Tree(chosen, lambda _: None, self._place, self._read_atom).of(goal)

    def _of_level(self, atoms: Sequence[AtomAt]) -> Mapping[AtomAt, list[RuleBody]]:
        """The bodies that derive some atoms, with one statement per rule."""
        bodies: dict[AtomAt, list[RuleBody]] = {atom: [] for atom in atoms}
        goals = {}
        for predicate, own in groupby(sorted(atoms), key=lambda atom: atom[0]):
            goals[predicate] = f"why_goals{self._level}_{predicate}"
            self.held.engine.load(goals[predicate], _table([values for _, values, _ in own]))
        self._level += 1
        for rule in self.program.rules.rules:
            goal = goals.get(rule.head.atom.predicate)
            if goal is None or not self._present.may_match(Literal(rule.head.atom), [goal]):
                continue
            if all(map(self._may_hold, rule.literals)):
                for atom, body in self._solutions(rule, goal):
                    bodies[atom].append(body)
        return bodies

    def _may_hold(self, literal: Literal) -> bool:
        """Whether an atom that holds may be one of a literal."""
        predicate = literal.atom.predicate
        if literal.negated or predicate in self._literals.given.background:
            return True
        own = self.held.atoms.get(predicate)
        return own is not None and self._present.may_match(literal, [own])

    def _solutions(self, rule: Rule, goals: str) -> Iterator[tuple[AtomAt, RuleBody]]:
        """The solutions of a rule's body that derive one of some atoms, with the atom of each."""
        asked = with_goal(rule)
        names = RuleColumns.of(asked)
        body = body_of(asked, names, self._literals, partial(self._reading, names, goals))
        if body is None:
            return
        for row in self.held.engine.rows(_some(body, rule, names)):
            solution = dict(zip(body.names, map(str, row), strict=False))
            goal, *others = (_atom(literal, names, solution) for literal in asked.literals)
            literals = [*zip(rule.literals, others, strict=True)]
            positive = dict.fromkeys(atom for literal, atom in literals if not literal.negated)
            yield (
                goal,
                RuleBody(
                    rule,
                    tuple(atom for atom in positive if atom[0] in self.program.rules.derived),
                    tuple(atom for atom in positive if atom[0] not in self.program.rules.derived),
                    tuple(atom[:2] for literal, atom in literals if literal.negated),
                ),
            )

    def _reading(
        self, names: RuleColumns, goals: str, nth: int, literal: Literal
    ) -> exp.Query | None:
        """The rows of a literal: of the goals, of what is read, or of what rules derive."""
        predicate = literal.atom.predicate
        if nth == 0:
            return self._literals.matching(literal, atom_intervals(goals, literal.atom), names)
        if predicate in self._literals.given.background:
            return self._literals.rows(literal, names)
        own = self.held.atoms.get(predicate)
        if own is None:
            return None
        return self._literals.matching(literal, atom_intervals(own, literal.atom), names)

    def _place(self, rule: Rule) -> str:
        """Where a rule is, or its name in the set."""
        shipped = {} if self.rules is None else rule_names(self.rules)
        return shipped.get((rule.head, rule.literals), f"{self.file}:{rule.place}")

    def _read_atom(self, atom: AtomAt) -> ReadAtom:
        """An atom of the graph, or a fact, with the triples that make it."""
        predicate, values, _ = atom
        pattern = self.program.patterns.get(predicate)
        if pattern is None:
            return ReadAtom(predicate, values, None, ())
        triples = triples_of(self.held.engine, self.held.graph, pattern, values)
        return ReadAtom(predicate, values, None, tuple(triples))


def _some(body: Body, rule: Rule, names: RuleColumns) -> exp.Select:
    """Some solutions of a body for each atom that its rule derives: none goes without."""
    terms = rule.head.atom.arguments
    key = [names.column(term.name) for term in terms if isinstance(term, Variable)]
    cells = body.names or ("since",)
    nth = over(exp.RowNumber(), columns(key), [ascending(cell) for cell in columns(cells)])
    numbered = select(*columns(cells), alias(nth, "nth_of_atom"), from_=subquery(body.rows, "b"))
    few = column("nth_of_atom") <= number(MOST_SOLUTIONS)
    return select(*columns(cells), from_=subquery(numbered, "numbered"), where=[few])


def _needed(levels: Iterable[Sequence[RuleBody]]) -> Iterator[AtomAt]:
    """What bodies need; nothing of an atom that a body derives from what is read alone."""
    for bodies in levels:
        if all(body.derived for body in bodies):
            for body in bodies:
                yield from body.derived


def _atom(literal: Literal, names: RuleColumns, solution: Mapping[str, str]) -> AtomAt:
    """The atom of a literal in a solution."""
    values = (
        term.term if isinstance(term, Constant) else solution[names.column(term.name)]
        for term in literal.atom.arguments
    )
    return literal.atom.predicate, tuple(values), _NOW


def _table(atoms: Sequence[tuple[str, ...]]) -> pa.Table:
    """A relation of atoms: a1, .., since, until."""
    cells = [pa.array(own, pa.string()) for own in zip(*atoms, strict=True)]
    during = [pa.array([at] * len(atoms), pa.int64()) for at in DURING.values()]
    return pa.table([*cells, *during], [*arguments(len(cells)), *DURING])
