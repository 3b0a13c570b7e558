"""Rules over streams: the programs and parameters of the paper, microseconds per input triple.

Bazoobandi, Beck, Urbani: Expressive Stream Reasoning with Laser (ISWC 2017), section 4. What it
leaves open (the data of box and join, points per run) is stated in the notes. One thread of DuckDB,
seconds of the processor: what a leg of 100 points costs without reading and committing tables,
which other scenarios have.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import duckdb
import pyarrow as pa

from bench.clingo_rules import seconds_of_point
from bench.results import Scenario, Target, machine
from weir.compute.duck import DuckEngine
from weir.compute.relations import Statement
from weir.compute.sql import column, number, rows_of, select
from weir.engine.fixpoint import make
from weir.engine.windows import SlidingWindow
from weir.lars.program import Declarations, DeclaredAtom, Program, read_program
from weir.lars.syntax import Place
from weir.rules.points import PointAxis
from weir.rules.program import ProgramInputs, program_delta
from weir.timeline.legs import Leg
from weir.timeline.timeline import StreamHistory, Timeline

BATCH, BATCHES = 100, 3
"""Points of a leg; legs that are measured, after one that is not."""
CLINGO_POINTS = 3
"""So many points are evaluated by clingo."""
WINDOWS, RATES, RULES = (1, 20, 80), (200, 800), (10, 100)
LASER = {
    ("diamond", 1): "2",
    ("diamond", 20): "7",
    ("diamond", 80): "32",
    ("box", 1): "2.3",
    ("box", 20): "5",
    ("box", 80): "14",
    ("join", 1): "15",
    ("join", 20): "36",
    ("join", 80): "113",
    ("100 joins", 1): "14 a rule",
    ("100 joins", 20): "27 a rule",
    ("100 joins", 80): "54 a rule",
    ("cooling", 1): "5",
    ("cooling", 80): "23",
}
"""Microseconds per triple of Laser, measured on one machine like this; see docs/rules.md."""

_NAMES = "http://example.org/"
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
_COOLING = """@T steam(V) <- win^{n} @T temp(V), V >= 100.
@T liquid(V) <- win^{n} @T temp(V), V >= 1, V < 100.
@T isSteam <- win^{n} @T steam(V).
@T isLiquid <- win^{n} @T liquid(V).
alarm <- win^{n} box isSteam.
normal <- win^{n} box isLiquid.
veryHot(T) <- win^{n} @T steam(V), V >= 150.
veryCold(T) <- win^{n} @T liquid(V), V = 1.
freeze <- not alarm, not normal.
"""
_EVENT = ("subject", "predicate", "object", "instant", "epoch", "line")
_Event = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Case:
    """A program over a stream.

    Attributes:
        name: of the program in the paper.
        window: its size, points before the current one.
        rate: events per point.
        text: of the program.
        at: the events of a point.
    """

    name: str
    window: int
    rate: int
    text: str
    at: Callable[[random.Random, int], list[_Event]]


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds per input triple, medians of legs.

    Attributes:
        delta: the rows of the answer's log.
        expanded: those, and every atom of every point made of them.
        rows: of the log, per leg.
        atoms: of all points, per leg.
        clingo: of clingo, which evaluates each point by itself.
    """

    delta: float
    expanded: float
    rows: int
    atoms: int
    clingo: float


def rules(progress: Callable[[str], None]) -> Scenario:
    """The scenario: every program with every window and rate."""
    costs: dict[tuple[str, int, int], Cost] = {}
    for case in _cases():
        progress(f"{case.name}, window {case.window}, {case.rate} events a point")
        costs[case.name, case.window, case.rate] = _cost(case)
    head = (
        *("program", "window", "rate", "us a triple", "expanded", "rows", "atoms"),
        *("Laser, us", "clingo, us"),
    )
    lines = [
        (
            name,
            str(window),
            str(rate),
            f"{cost.delta:.1f}",
            f"{cost.expanded:.1f}",
            f"{cost.rows:,}",
            f"{cost.atoms:,}",
            LASER.get((name, window), ""),
            f"{cost.clingo:,.0f}",
        )
        for (name, window, rate), cost in costs.items()
    ]
    return Scenario(
        name="rules",
        title="rules over streams, the programs of the paper, microseconds per input triple",
        sizes={"points of a leg": BATCH, "legs": BATCHES},
        full=True,
        targets=[*_targets(costs)],
        notes=[
            "Time of the processor, one thread of DuckDB; legs of 100 points, the first left out;"
            " the rows of the answer's log, and apart all atoms of all points (`expanded`).",
            "clingo: Ticker's static encoding, a program for each point, read as text; the median"
            f" of {CLINGO_POINTS} points.",
            "Data that the paper leaves open: atoms of diamond are unique; those of box come at"
            " every point for half of them, else at random, so that the answers of long"
            " windows do not change; those of join and its copies have ends out of as many nodes as"
            " a window has atoms.",
        ],
        machine=machine(),
        summary=[head, *lines],
    )


def _cases() -> Iterator[Case]:
    for rate in RATES:
        for n in WINDOWS:
            yield Case("diamond", n, rate, f"q(A,B) <- win^{n} diamond p(A,B).\n", _unique(rate))
            yield Case("box", n, rate, f"q(A,B) <- win^{n} box p(A,B).\n", _repeated(rate))
            joined = f"q(A,C) <- win^{n} diamond p(A,B), win^{n} diamond p(B,C).\n"
            yield Case("join", n, rate, joined, _connected(rate, n, ("p",)))
            yield Case("cooling", n, rate, _COOLING.format(n=n), _readings(rate))
    for count in RULES:
        for n in WINDOWS:
            names = tuple(f"p{i}" for i in range(count))
            text = "".join(
                f"q{i}(A,C) <- win^{n} diamond {p}(A,B), win^{n} diamond {p}(B,C).\n"
                for i, p in enumerate(names)
            )
            yield Case(f"{count} joins", n, RATES[0], text, _connected(RATES[0], n, names))


def _name(value: object) -> str:
    return f"<{_NAMES}{value}>"


def _unique(rate: int) -> Callable[[random.Random, int], list[_Event]]:
    return lambda _, t: [(_name(f"{t}/{i}"), _name("p"), _name(i)) for i in range(rate)]


def _repeated(rate: int) -> Callable[[random.Random, int], list[_Event]]:
    def at(rng: random.Random, _: int) -> list[_Event]:
        every = [*range(rate // 2)]
        some = rng.sample(range(rate // 2, 2 * rate), rate - len(every))
        return [(_name(i), _name("p"), _name(i)) for i in (*every, *some)]

    return at


def _connected(
    rate: int, window: int, predicates: Sequence[str]
) -> Callable[[random.Random, int], list[_Event]]:
    nodes = max(2, rate * (window + 1) // len(predicates))

    def at(rng: random.Random, _: int) -> list[_Event]:
        ends = ((rng.randrange(nodes), rng.randrange(nodes)) for _ in range(rate))
        return [(_name(one), _name(rng.choice(predicates)), _name(two)) for one, two in ends]

    return at


def _readings(rate: int) -> Callable[[random.Random, int], list[_Event]]:
    def at(rng: random.Random, _: int) -> list[_Event]:
        values = (rng.randint(-20, 200) for _ in range(rate))
        return [(_name("plant"), _name("temp"), f'"{value}"^^<{_INTEGER}>') for value in values]

    return at


def _cost(case: Case) -> Cost:
    """Evaluate a program leg by leg, each of one epoch with the events of its points."""
    program, rng = _program(case), random.Random(case.name)
    engine = DuckEngine(duckdb.connect(config={"threads": 1}))
    epochs = range(1, BATCHES + 2)
    events = [
        (*event, t, epoch, line)
        for epoch in epochs
        for t in range((epoch - 1) * BATCH, epoch * BATCH)
        for line, event in enumerate(case.at(rng, t))
    ]
    engine.load("events", _table(events, _EVENT))
    begins = {epoch: (epoch - 1) * BATCH for epoch in epochs}
    history = StreamHistory(0, [(epoch, epoch * BATCH) for epoch in epochs], begins)
    timeline = Timeline.of([SlidingWindow(1)], [history], (), 0)
    log = (*program.answer_columns, "instant", "epoch", "weight")
    engine.load("stored", _table([], log))
    engine.load("log", _table([], log))
    back = program.look_back.points
    assert back is not None, "every element has a window"
    deltas, expansions, rows, atoms = [], [], 0, 0
    for epoch in epochs:
        (leg,) = timeline.legs(epoch - 1, epoch)
        with engine.scope():
            begun = time.process_time()
            rows = _evaluate(engine, program, timeline, leg, back)
            deltas.append(time.process_time() - begun)
            engine.connection.execute(f"INSERT INTO log SELECT {', '.join(log)} FROM new")
            begun = time.process_time()
            atoms = _expand(engine, program.answer_columns, leg)
            expansions.append(time.process_time() - begun)
    triples = case.rate * BATCH
    delta = median(1e6 * seconds / triples for seconds in deltas[1:])
    more = median(1e6 * seconds / triples for seconds in expansions[1:])
    return Cost(delta, delta + more, rows, atoms, _cost_by_clingo(case))


def _cost_by_clingo(case: Case) -> float:
    """Evaluate the program by clingo at some points whose windows are full."""
    rng = random.Random(case.name)
    events = {t: case.at(rng, t) for t in range(case.window + CLINGO_POINTS)}
    arity = 1 if case.name == "cooling" else 2
    seconds = []
    for now in range(case.window, case.window + CLINGO_POINTS):
        inside = {t: events[t] for t in range(now - case.window, now + 1)}
        seconds.append(seconds_of_point(case.text, inside, now, arity))
    return 1e6 * median(seconds) / case.rate


def _program(case: Case) -> Program:
    atoms: tuple[DeclaredAtom, ...] = ()
    if case.name == "cooling":
        pattern = f"<{_NAMES}plant> <{_NAMES}temp> ?V"
        atoms = (DeclaredAtom("temp(V)", pattern, Place(1, 1)),)
    return read_program(case.text, Declarations(("s",), {"": _NAMES}, atoms))


def _evaluate(engine: DuckEngine, program: Program, timeline: Timeline, leg: Leg, back: int) -> int:
    """Make the table `new` of the rows of a leg; gives how many."""
    assert timeline.origin is not None, "there is a leg"
    needed = [column("instant") >= number(leg.low - back), column("epoch") <= number(leg.last)]
    engine.make(Statement("read", select("*", from_=rows_of("events"), where=needed)))
    inputs = ProgramInputs(("read",), "stored")
    delta = program_delta(engine, program, PointAxis(), leg, timeline.origin, inputs, "q")
    for step in (*delta.statements, delta.result):
        make(engine, step)
    engine.make(Statement("new", select("*", from_=rows_of(delta.result.name)), "cache"))
    return engine.count("new")


def _expand(engine: DuckEngine, row: Sequence[str], leg: Leg) -> int:
    """Make every atom of every point of a leg of the log; gives how many."""
    key = ", ".join(row)
    until = f"LEAD(instant, 1, {leg.high + 1}) OVER (PARTITION BY {key} ORDER BY instant)"
    held = f"SUM(weight) OVER (PARTITION BY {key} ORDER BY instant)"
    spans = f"SELECT {key}, instant AS since, {until} AS until, {held} AS held FROM log"
    points = f"UNNEST(RANGE(GREATEST(since, {leg.low + 1}), until)) AS point"
    engine.bindings.table(
        "expanded",
        f"SELECT {key}, {points} FROM ({spans}) WHERE held > 0 AND until > {leg.low + 1}",
    )
    return engine.count("expanded")


def _table(rows: Sequence[tuple[object, ...]], names: Sequence[str]) -> pa.Table:
    kinds = {"instant": pa.int64(), "epoch": pa.int64(), "line": pa.int64(), "weight": pa.int64()}
    return pa.table(
        {
            name: pa.array([row[i] for row in rows], kinds.get(name, pa.string()))
            for i, name in enumerate(names)
        }
    )


def _targets(costs: Mapping[tuple[str, int, int], Cost]) -> Iterator[Target]:
    """The aims at a rate of 800, where Laser was measured."""
    for name, window, least in (
        ("diamond", 20, 3.0),
        ("diamond", 80, 10.0),
        ("box", 20, 1.0),
        ("box", 80, 1.0),
        ("join", 1, 6.0),
        ("join", 20, 6.0),
        ("join", 80, 6.0),
    ):
        ratio = float(LASER[name, window]) / costs[name, window, RATES[1]].delta
        what = f"{name}, window {window}: Laser / Weir"
        yield Target(what, f">= {least:g}", f"{ratio:.1f}", ratio >= least)
    for window in WINDOWS:
        cost = costs["100 joins", window, RATES[0]].delta
        what = f"100 rules, window {window}, microseconds a triple"
        yield Target(what, "<= 300", f"{cost:.0f}", cost <= 300)
