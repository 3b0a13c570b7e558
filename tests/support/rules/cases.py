"""Random programs with histories of streams and of the graph; a seed gives the same everywhere."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from tests.support.generators.basic_cases import Triple
from tests.support.lars.definitions import DataStream, output
from tests.support.lars.programs import (
    Argument,
    At,
    Comparison,
    Counted,
    Element,
    Expression,
    GroundAtom,
    Program,
    Rule,
    Sum,
    Value,
    Var,
    Window,
    text,
)
from tests.support.rules.vocabulary import (
    ARITIES,
    FACTS,
    GRAPH,
    NAMES,
    STREAM,
    atoms_of,
    counts,
    declared_for,
    name,
    triples,
)
from tests.support.streams.definitions import Derive
from tests.support.streams.histories import Arriving, Declared, Epochs, GraphChange, Tick, ingested
from weir.lars import program as checked
from weir.lars.errors import ProgramError
from weir.rules.points import PointAxis

VALUES: tuple[Value, ...] = ("a", 1, 2, 3)
_G2, _IS_G1 = name("g2"), triples("g1", "a")[0][1:]
_DERIVED: Mapping[str, Derive] = {
    "{ ?y :g2 ?x } WHERE { ?x :g2 ?y }": lambda triples: frozenset(
        (o, p, s) for s, p, o in triples if p == _G2 and o[:1] == "<"
    ),
    "{ ?x :g2 ?z } WHERE { ?x :g2 ?y . ?y :g2 ?z }": lambda triples: frozenset(
        (s, p, last)
        for s, p, o in triples
        for first, q, last in triples
        if p == q == _G2 and o == first and s[:1] == "<"
    ),
    "{ ?x a :g1 } WHERE { ?x :g2 ?y MINUS { ?x a :g1 } }": lambda triples: (
        frozenset((s, *_IS_G1) for s, p, _ in triples if p == _G2 and s[:1] == "<")
        - frozenset(triple for triple in triples if triple[1:] == _IS_G1)
    ),
}
"""What CONSTRUCT queries give of a graph; subjects that are literals are no triples of theirs."""
_X = tuple(Var(name) for name in ("X", "X", "Y", "Y", "Z"))
_T = (Var("T"), Var("U"))


@dataclass(frozen=True)
class RuleCase:
    """A program and a history.

    Attributes:
        seed: of the case.
        program: what it means.
        checked: what is evaluated.
        epochs: what was ingested, in instants.
        axis: the points of the program.
        corrects_back: as declared, in instants.
        template: of a query whose triples the graph has, too, with its WHERE; None if none.
    """

    seed: int
    program: Program
    checked: checked.Program
    epochs: Epochs
    axis: PointAxis
    corrects_back: int
    template: str | None = None

    @property
    def construct(self) -> str | None:
        """The text of that query."""
        return None if self.template is None else f"PREFIX : <{NAMES}> CONSTRUCT {self.template}"

    @property
    def derive(self) -> Derive | None:
        """What it gives, by definition."""
        return None if self.template is None else _DERIVED[self.template]


def rule_case(seed: int) -> RuleCase:
    """The case of a seed: of some random programs, the one that derives most predicates.

    One in five is large; the others, of one or two derived predicates, cost a third of it.
    """
    rng = random.Random(f"rules {seed}")
    large = seed % 5 == 0
    streams = ("s", "t") if rng.random() < 0.15 else ("s",)
    unit = rng.choice((1, 1, 1, 10))
    axis = PointAxis(unit, rng.choice((0, 0, 0, 3, -7)))
    read = _Read.some(rng)
    epochs = _history(rng, read, streams, axis, rng.randint(*((5, 7) if large else (3, 5))))
    best: tuple[int, Program, checked.Program] | None = None
    attempts = 0
    while attempts < (3 if large else 4):
        predicates = rng.choice((1, 2, 2, 3, 3, 4) if large else (1, 1, 2))
        program = _Writer(rng, read, predicates, tuples=len(streams) == 1).program()
        declarations = checked.Declarations(streams, {"": NAMES}, declared_for(program))
        try:
            known = checked.read_program(text(program), declarations)
        except ProgramError:
            continue
        attempts += 1
        score = _derived(program, epochs, axis)
        if best is None or score > best[0]:
            best = (score, program, known)
    assert best is not None, "there are attempts"
    back = unit * rng.choice((0, 0, 0, 2, 20))
    derived = [*_DERIVED][seed // 3 % len(_DERIVED)]
    template = derived if seed % 3 == 1 and best[2].reads_graph else None
    return RuleCase(seed, best[1], best[2], epochs, axis, back, template)


def _derived(program: Program, epochs: Epochs, axis: PointAxis) -> int:
    """How many predicates are derived at two points, with all that is ever known."""
    tuples: dict[int, dict[Triple, None]] = {}
    graph: set[Triple] = set()
    for epoch in epochs:
        if isinstance(epoch, GraphChange):
            graph |= epoch.appear
        else:
            for triple, instant in epoch.events:
                tuples.setdefault(axis.point(instant), {})[triple] = None
    if not tuples:
        return 0
    first, last = min(tuples), max(tuples)
    predicates: set[str] = set()
    for point in ((first + last) // 2, last):
        known = {at: tuple(of_point) for at, of_point in tuples.items() if at <= point}
        data = DataStream(first, point, known, atoms_of, counts)
        predicates |= {predicate for predicate, _ in output(program, data, atoms_of(graph))}
    return len(predicates)


@dataclass(frozen=True)
class _Read:
    """The predicates that the programs of a case may read."""

    stream: tuple[str, ...]
    graph: tuple[str, ...]
    facts: tuple[str, ...]

    @classmethod
    def some(cls, rng: random.Random) -> _Read:
        return cls(
            tuple(rng.sample([*STREAM], rng.choice((1, 2, 2, 3)))),
            tuple(rng.sample([*GRAPH], rng.choice((0, 1, 1, 2)))),
            tuple(rng.sample([*FACTS], rng.choice((0, 0, 1)))),
        )


class _Writer:
    """Writes one random program."""

    def __init__(self, rng: random.Random, read: _Read, predicates: int, *, tuples: bool) -> None:
        self.rng, self.read, self.tuples = rng, read, tuples
        self.derived = {f"q{i}": rng.choice((0, 1, 1, 1, 2, 2, 3)) for i in range(predicates)}
        self.arities = ARITIES | self.derived

    def program(self) -> Program:
        rules = [
            self._rule(name, level)
            for level, name in enumerate(self.derived)
            for _ in range(self.rng.choice((1, 1, 1, 2)))
        ]
        used = {element.predicate for rule in rules for element in rule.elements}
        facts: list[GroundAtom] = [
            (name, tuple(self._value() for _ in range(arity)))
            for name, arity in FACTS.items()
            if name in used
            for _ in range(self.rng.choice((1, 2, 3)))
        ]
        return Program(tuple(rules), tuple(dict.fromkeys(facts)))

    def _rule(self, name: str, level: int) -> Rule:
        rng = self.rng
        body: list[Element | Comparison] = [
            self._element(level) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))
        ]
        if rng.random() < 0.06:
            body = []
        bound = [v for element in body if isinstance(element, Element) for v in _variables(element)]
        bound = [*dict.fromkeys(bound)]
        body += self._comparisons(bound)
        for _ in range(rng.choice((0, 0, 0, 1, 1, 2)) if body else 1):
            body.append(self._negated(level, bound))
        rng.shuffle(body)
        arguments = tuple(self._of(bound, _X) for _ in range(self.arities[name]))
        point: Argument | None = None
        if rng.random() < 0.4:
            points = [v for v in bound if v in _T or v.name.startswith("N")]
            point = rng.choice(points) if points and rng.random() < 0.85 else self._of(bound, ())
            if isinstance(point, str):
                point = rng.choice((2, 5, 8))
        return Rule(name, arguments, point, tuple(body))

    def _element(self, level: int) -> Element:
        """A positive element over anything up to the level."""
        rng = self.rng
        kind = rng.random()
        names = [*self.derived]
        background = (*self.read.graph, *self.read.facts)
        if kind < 0.45 or (level == 0 and kind < 0.62):
            name = rng.choice(self.read.stream)
        elif kind < 0.62:
            name = rng.choice(names[:level])
        elif kind < 0.76:
            name = rng.choice(names[max(0, level - 1) : level + 1])
        elif kind < 0.82:
            # Recursion through a later predicate is refused or becomes one stratum.
            name = rng.choice(names)
        else:
            name = rng.choice(background or self.read.stream)
        arguments = tuple(
            rng.choice(_X) if rng.random() < 0.85 else self._value()
            for _ in range(self.arities[name])
        )
        return self._read(name, arguments, rng.choice(_T))

    def _negated(self, level: int, bound: list[Var]) -> Element:
        """A negated element over what is below the level; all variables are bound."""
        rng = self.rng
        below = [*self.derived][:level]
        read = self.read
        name = rng.choice((*read.stream, *read.graph, *read.facts, *below, *below, *below))
        arguments = tuple(self._of(bound, _X) for _ in range(self.arities[name]))
        points = [v for v in bound if v in _T]
        point: Argument = rng.choice(points) if points else rng.randint(0, 9)
        element = self._read(name, arguments, point)
        return Element(name, arguments, element.window, element.modality, True)

    def _read(self, name: str, arguments: tuple[Argument, ...], point: Argument) -> Element:
        rng = self.rng
        if rng.random() < 0.1:
            point = rng.choice((0, 3, 6))
        elif rng.random() < 0.05:
            point = rng.choice(_X)
        kind = rng.random()
        background = name in GRAPH or name in FACTS
        if kind < 0.15:
            return Element(name, arguments)
        if kind < 0.22 and not background:
            return Element(name, arguments, None, At(point))
        window = self._of_points(rng.choice((0, 1, 1, 2, 2, 3, 5, 9)))
        if self.tuples and name in STREAM and rng.random() < 0.3:
            window = Window(rng.choice((1, 2, 3, 5)), True, self._counted(name))
        modality = rng.choice(("diamond", "diamond", "box", "box", At(point), At(point)))
        return Element(name, arguments, window, modality)

    def _of_points(self, size: int) -> Window:
        """A window that slides, hops or tumbles."""
        rng = self.rng
        if rng.random() < 0.65:
            return Window(size)
        after = rng.choice((0, 0, 1, 2, 4))
        step = size + after + 1 if rng.random() < 0.5 else rng.choice((1, 2, 3, 4, 7))
        return Window(size, after=min(after, step - 1), step=step)

    def _counted(self, name: str) -> tuple[Counted, ...]:
        """What a window counts: mostly all, else some atoms with those that are read."""
        rng = self.rng
        if rng.random() < 0.5:
            return ()
        others = [other for other in self.read.stream if other != name and rng.random() < 0.3]
        return tuple(Counted(counted, self._some(counted)) for counted in (name, *others))

    def _some(self, name: str) -> tuple[Value | None, ...] | None:
        """Mostly any atoms of a predicate."""
        rng, arity = self.rng, self.arities[name]
        if not arity or rng.random() < 0.6:
            return None
        return tuple(self._value() if rng.random() < 0.5 else None for _ in range(arity))

    def _comparisons(self, bound: list[Var]) -> list[Comparison]:
        """Some comparisons; variables that they give a value become bound."""
        rng = self.rng
        comparisons: list[Comparison] = []
        for i in range(rng.choice((0, 0, 0, 1, 2))):
            if not bound:
                break
            if rng.random() < 0.5:
                given = Var(f"N{i}")
                sides: list[Expression] = [given, self._expression(bound)]
                rng.shuffle(sides)
                comparisons.append(Comparison("=", *sides))
                bound.append(given)
            else:
                symbol = rng.choice(("=", "!=", "<", "<=", ">", ">="))
                right: Expression = self._value() if rng.random() < 0.6 else rng.choice(bound)
                comparisons.append(Comparison(symbol, rng.choice(bound), right))
        return comparisons

    def _expression(self, bound: list[Var]) -> Expression:
        rng = self.rng
        one = rng.choice(bound)
        if rng.random() < 0.2:
            return one
        other: Expression = rng.choice(bound) if rng.random() < 0.2 else rng.choice((0, 1, 2, 3))
        return Sum(rng.choice(("+", "-", "-", "*")), one, other)

    def _of(self, bound: list[Var], preferred: tuple[Var, ...]) -> Argument:
        """A bound variable, or a constant."""
        choices = [v for v in bound if v in preferred] or bound
        if choices and self.rng.random() < 0.85:
            return self.rng.choice(choices if self.rng.random() < 0.8 else bound)
        return self._value()

    def _value(self) -> Value:
        return self.rng.choice(VALUES)


def _variables(element: Element) -> list[Var]:
    variables = [argument for argument in element.arguments if isinstance(argument, Var)]
    if isinstance(element.modality, At) and isinstance(element.modality.point, Var):
        variables.append(element.modality.point)
    return variables


def _history(
    rng: random.Random, read: _Read, streams: tuple[str, ...], axis: PointAxis, epochs: int
) -> Epochs:
    """Some epochs: events in time, late, tied or missing, time that passes, the graph."""
    of_stream = [*dict.fromkeys("p2" if kind == "o1" else kind for kind in read.stream)]
    of_graph = sorted({"g2" if kind == "k1" else kind for kind in read.graph})
    unit = axis.unit
    declared = {
        name: Declared(
            delay=unit * rng.choice((0, 0, 1, 3)), lateness=unit * rng.choice((0, 3, 8, 30))
        )
        for name in streams
    }
    now = dict.fromkeys(streams, axis.instant(rng.choice((0, 0, 1, 4))))
    arriving: list[Arriving] = []
    held: set[Triple] = set()
    pool = [_triples_of(rng, of_stream) for _ in range(rng.randint(1, 4))]
    for i in range(epochs):
        stream = streams[i] if i < len(streams) else rng.choice(streams)
        kind = 1.0 if i < len(streams) else rng.random()
        if of_graph and kind < 0.25:
            arriving.append(_graph_change(rng, of_graph, held, now[stream], unit))
            continue
        if kind < 0.35:
            now[stream] += unit * rng.randint(1, 4)
            arriving.append(Tick(stream, now[stream]))
            continue
        events: list[tuple[Triple, int]] = []
        for _ in range(rng.choice((0, 2, 3, 4, 6)) if i else 3):
            late = i > 1 and rng.random() < 0.2
            at = now[stream] - unit * rng.randint(1, 6) if late else now[stream]
            at += rng.randrange(unit)
            made = rng.choice(pool) if rng.random() < 0.8 else _triples_of(rng, of_stream)
            events += [(triple, at) for triple in made]
            if not late and rng.random() < 0.5:
                now[stream] += unit * rng.choice((1, 1, 1, 1, 2, 3))
        rng.shuffle(events)
        arriving.append((stream, tuple(events)))
    # Everything becomes final in the end.
    arriving += [Tick(name, max(now.values()) + 5 * unit) for name in streams]
    return ingested(declared, arriving)


def _triples_of(rng: random.Random, names: list[str]) -> list[Triple]:
    """The triples of an atom, or one of another kind, which is a tuple all the same."""
    if rng.random() < 0.08:
        return [("<http://example.org/x>", "<http://example.org/other>", '"1"')]
    chosen = rng.choice(names)
    made = triples(chosen, *(rng.choice(VALUES) for _ in range(ARITIES[chosen])))
    return made if rng.random() < 0.9 else made[:1]


def _graph_change(
    rng: random.Random, names: list[str], held: set[Triple], now: int, unit: int
) -> GraphChange:
    vanish = {triple for triple in sorted(held) if rng.random() < 0.4}
    appear: set[Triple] = set()
    for _ in range(rng.choice((1, 1, 2, 3))):
        chosen = rng.choice(names)
        appear |= {*triples(chosen, *(rng.choice(VALUES) for _ in range(ARITIES[chosen])))}
    appear -= held
    held -= vanish
    held |= appear
    at = now + unit * rng.randint(-4, 3) + rng.randrange(unit)
    time = None if rng.random() < 0.4 else at
    return GraphChange(frozenset(vanish), frozenset(appear), time)
