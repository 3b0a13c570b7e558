"""One derivation of an atom by the rules of a program at a point, down to what is read.

The rules are evaluated at the point as always. From the atom on, the solutions of the bodies that
derive it are looked up, then what these need, and so on. Of atoms that need each other (recursion),
those are kept that can be derived in some order, so that nothing supports itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import assert_never

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    column,
    columns,
    descending,
    number,
    rows_of,
    select,
    subquery,
    sum_of,
    text,
)
from weir.engine.graph import POSITIONS, scope_log
from weir.engine.windows import EVENT
from weir.lars.atoms import AtomPattern
from weir.lars.columns import predicate_term
from weir.lars.syntax import (
    At,
    Box,
    CountingWindow,
    Diamond,
    FilteredTupleWindow,
    HoppingWindow,
    Literal,
    Rule,
    TimeWindow,
    TupleWindow,
    points_of,
)
from weir.rules.atoms import AtomReader
from weir.rules.bodies import body_of
from weir.rules.leg_rows import Rules
from weir.rules.literals import Literals, RuleColumns
from weir.rules.points import PointRange
from weir.rules.relations import NTH, POINT, arguments
from weir.rules.strata import derive, shared_kinds
from weir.sparql.algebra.expressions import Constant, Variable
from weir.timeline.graph_log import GraphLog
from weir.why.atom_triples import made_of, triples_of
from weir.why.derivation_tree import MOST_SOLUTIONS, Absent, AtomAt, RuleBody, Tree, supported
from weir.why.explanation import Derivation, Event, ReadAtom, Row, Triple

_MOST_GOALS = 300
"""No more atoms are looked at."""
_HELD = "why_d_held"
"""The relation of the triples of the graph that hold."""
_MOST_EVENTS = 20_000
"""Of one point, no more events are looked at for the triples of an atom."""


@dataclass(frozen=True, slots=True)
class World:
    """What a program reads at a point.

    Attributes:
        engine: has the relations; those that are made stay in it.
        rules: the program, and how it is read.
        point: the point.
        start: the first of the streams.
        events: by stream, the relation of its events (`EVENT`).
        graph: the log of the graph, up to `settled` of which it holds; None if none is read.
    """

    engine: SqlEngine
    rules: Rules
    point: int
    start: int
    events: Mapping[str, str]
    graph: GraphLog | None


def derivation_of(world: World, row: Row) -> Derivation | None:
    """A derivation of a row of the answer; None if it is not there, or needs too much.

    Args:
        world: the point.
        row: the predicate and the arguments, as the answer has them.
    """
    shown, *cells = row
    predicates = world.rules.program.output
    predicate = next(name for name in predicates if predicate_term(name) == shown)
    values = tuple(cell for cell in cells if cell is not None)
    return _Search(world).derivation((predicate, values, world.point))


@dataclass(slots=True)
class _Search:
    world: World
    bodies: dict[AtomAt, list[RuleBody]] = field(default_factory=dict)
    literals: Literals = field(init=False)
    _relations: dict[int, tuple[str, tuple[str, ...]] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        world = self.world
        engine, axis, program = world.engine, world.rules.axis, world.rules.program
        points = PointRange(world.start, world.point, world.point)
        if world.graph is not None:
            world.graph.on_axis(engine, world.point - 1, world.point)
            held = select(
                *columns(POSITIONS),
                from_=subquery(scope_log(world.rules.scope, world.point), "log"),
                group_by=columns(POSITIONS),
                having=sum_of(column("weight")) > number(0),
            )
            engine.make(Statement(_HELD, held))
        reader = AtomReader(engine, program, points, axis, "why_d", world.rules.scope)
        given = reader.given([*world.events.values()])
        shared = shared_kinds(program.rules)
        self.literals = Literals(engine, given, points, axis, "why_d", shared)
        derive(program.rules, self.literals)

    def derivation(self, goal: AtomAt) -> Derivation | None:
        """A derivation of an atom."""
        self._collect(goal)
        chosen = supported(self.bodies)
        if goal not in chosen:
            return None
        return Tree(chosen, self.world.rules.axis.instant, self._place, self._read_atom).of(goal)

    def _collect(self, goal: AtomAt) -> None:
        """Look up the bodies of an atom, and of all that they need."""
        waiting = [goal]
        while waiting and len(self.bodies) < _MOST_GOALS:
            atom = waiting.pop(0)
            if atom in self.bodies:
                continue
            self.bodies[atom] = [*self._bodies(atom)]
            waiting += [needed for body in self.bodies[atom] for needed in body.derived]

    def _place(self, rule: Rule) -> str:
        return f"{self.world.rules.file}:{rule.place}"

    def _bodies(self, atom: AtomAt) -> Iterator[RuleBody]:
        predicate, values, point = atom
        for rule in self.world.rules.program.rules.rules:
            if rule.head.atom.predicate != predicate:
                continue
            if rule.head.time is None and point != self.world.point:
                continue
            yield from self._bodies_by(rule, values, point)

    def _bodies_by(self, rule: Rule, values: Sequence[str], point: int) -> Iterator[RuleBody]:
        """The solutions of a rule's body by which it derives an atom."""
        names = RuleColumns.of(rule)
        relation = self._relation(rule, names)
        if relation is None:
            return
        name, known = relation
        where: list[exp.Expr] = []
        for term, value in zip(rule.head.atom.arguments, values, strict=True):
            if isinstance(term, Variable):
                where.append(column(names.column(term.name)).eq(text(value)))
            elif term.term != value:
                return
        match rule.head.time:
            case None:
                pass
            case Variable(variable) if variable in names.points:
                where.append(column(names.points[variable]).eq(number(point)))
            case Variable(variable):
                at = self.world.rules.axis.point_of_term_sql(column(names.terms[variable]))
                where.append(at.eq(number(point)))
            case time:
                if time != point:
                    return
        cells = columns(known) or [number(1)]
        rows = select(*cells, from_=rows_of(name), where=where, limit=MOST_SOLUTIONS)
        for row in self.world.engine.rows(rows):
            solution = dict(zip(known, row, strict=False))
            yield from islice(self._ground(rule, names, solution), MOST_SOLUTIONS)

    def _relation(self, rule: Rule, names: RuleColumns) -> tuple[str, tuple[str, ...]] | None:
        """The relation of the solutions of a body, and its columns; None if it never holds."""
        key = id(rule)
        if key not in self._relations:
            body = body_of(
                rule, names, self.literals, lambda _, literal: self.literals.rows(literal, names)
            )
            made = None if body is None else (self.literals.make(body.rows), body.names)
            self._relations[key] = made
        return self._relations[key]

    def _ground(
        self, rule: Rule, names: RuleColumns, solution: Mapping[str, object]
    ) -> Iterator[RuleBody]:
        """The body with the values of a solution, in each way in which it is satisfied."""
        ways: list[Sequence[tuple[AtomAt, ...]]] = []
        absent: list[Absent] = []
        for literal in rule.literals:
            values = tuple(
                term.term if isinstance(term, Constant) else str(solution[names.column(term.name)])
                for term in literal.atom.arguments
            )
            if literal.negated:
                absent.append((literal.atom.predicate, values))
            else:
                ways.append(self._ways(literal, values, self._time(literal, names, solution)))
        program = self.world.rules.program
        for way in product(*ways):
            atoms = dict.fromkeys(atom for some in way for atom in some)
            derived = [atom for atom in atoms if atom[0] in program.rules.derived]
            read = [atom for atom in atoms if atom[0] not in program.rules.derived]
            yield RuleBody(rule, tuple(derived), tuple(read), tuple(absent))

    def _time(
        self, literal: Literal, names: RuleColumns, solution: Mapping[str, object]
    ) -> int | None:
        """The point of `@T`."""
        match literal.time:
            case None:
                return None
            case Variable(variable) if variable in names.points:
                return int(str(solution[names.points[variable]]))
            case Variable(variable):
                term = text(str(solution[names.terms[variable]]))
                at = self.world.rules.axis.point_of_term_sql(term)
                ((point,),) = self.world.engine.rows(select(alias(at, "point")))
                return int(str(point))
            case point:
                return point

    def _ways(
        self, literal: Literal, values: tuple[str, ...], time: int | None
    ) -> Sequence[tuple[AtomAt, ...]]:
        """The sets of atoms by which a literal holds; each has what it needs."""
        predicate, now = literal.atom.predicate, self.world.point
        if predicate in self.literals.given.background:
            return [((predicate, values, now),)]
        match literal.modality:
            case None:
                return [((predicate, values, now),)]
            case At():
                assert time is not None, "it has one"
                return [((predicate, values, time),)]
            case Diamond():
                points = self._points(literal, values)
                return [((predicate, values, point),) for point in points]
            case Box():
                inside = self._inside(literal)
                return [tuple((predicate, values, point) for point in inside)]
            case _:
                assert_never(literal.modality)

    def _inside(self, literal: Literal) -> range:
        """The points of a literal's window."""
        start, now = self.world.start, self.world.point
        match literal.window:
            case TimeWindow() | HoppingWindow():
                return points_of(literal.window, now, start)
            case TupleWindow(size) | FilteredTupleWindow(size):
                last = self._last_tuples(literal.window)
                return range(last[-1][0] if len(last) == size else start, now + 1)
            case None:
                return range(start, now + 1)
            case _:
                assert_never(literal.window)

    def _last_tuples(self, window: CountingWindow) -> Sequence[tuple[int, int]]:
        """The points and numbers of the last tuples of a window, from the last on."""
        tuples = self.literals.given.counted[window.counted].tuples
        last = select(
            *columns((POINT, NTH)),
            from_=rows_of(tuples),
            order_by=[descending(column(NTH))],
            limit=window.size,
        )
        return [(int(str(point)), int(str(nth))) for point, nth in self.world.engine.rows(last)]

    def _points(self, literal: Literal, values: Sequence[str]) -> Sequence[int]:
        """The points of a window at which an atom is, from the last on; not too many."""
        predicate, now, window = literal.atom.predicate, self.world.point, literal.window
        points_inside = self._inside(literal)
        key = arguments(len(values))
        is_atom = [column(name).eq(text(value)) for name, value in zip(key, values, strict=True)]
        inside = [
            column(POINT) >= number(points_inside.start),
            column(POINT) < number(points_inside.stop),
        ]
        points: list[int] = []
        relation = self.literals.given.stream.get(predicate)
        if relation is None:
            derived = self.literals.derived[predicate]
            relation = derived.placed
            if derived.plain is not None and now in points_inside:
                there = select(number(1), from_=rows_of(derived.plain), where=is_atom, limit=1)
                points += [now for _ in self.world.engine.rows(there)]
        elif isinstance(window, CountingWindow):
            relation = self.literals.given.counted[window.counted].atoms[predicate]
            (*_, (_, first)) = self._last_tuples(window)
            inside.append(column(NTH) >= number(first))
        if relation is not None:
            at = select(
                column(POINT),
                from_=rows_of(relation),
                where=[*(condition.copy() for condition in is_atom), *inside],
                distinct=True,
                order_by=[descending(column(POINT))],
                limit=3,
            )
            points += [int(str(point)) for (point,) in self.world.engine.rows(at)]
        return [*dict.fromkeys(points)]

    def _read_atom(self, atom: AtomAt) -> ReadAtom:
        """An atom of a stream, of the graph or a fact, with what makes it."""
        predicate, values, point = atom
        pattern = self.world.rules.program.patterns.get(predicate)
        if pattern is None:
            return ReadAtom(predicate, values, None, ())
        if pattern.origin == "graph":
            triples = triples_of(self.world.engine, _HELD, pattern, values)
            return ReadAtom(predicate, values, None, tuple(triples))
        instant = self.world.rules.axis.instant(point)
        return ReadAtom(predicate, values, instant, tuple(self._events(pattern, values, point)))

    def _events(self, pattern: AtomPattern, values: Sequence[str], point: int) -> Sequence[Event]:
        """Events at a point whose triples make an atom, of each triple the first."""
        axis = self.world.rules.axis
        first, unit = axis.instant(point), axis.unit
        events: dict[Triple, Event] = {}
        for stream, relation in self.world.events.items():
            at = select(
                *columns(EVENT),
                from_=rows_of(relation),
                where=[
                    column("instant") >= number(first),
                    column("instant") < number(first + unit),
                ],
                limit=_MOST_EVENTS,
            )
            for s, p, o, *rest in self.world.engine.rows(at):
                instant, epoch, line = (int(str(value)) for value in rest)
                event = Event(stream, (str(s), str(p), str(o)), instant, epoch, line)
                known = events.setdefault(event.triple, event)
                if _order(event) < _order(known):
                    events[event.triple] = event
        return [events[triple] for triple in made_of(pattern, values, lambda _: [*events])]


def _order(event: Event) -> tuple[int, int, int]:
    return event.instant, event.epoch, event.line
