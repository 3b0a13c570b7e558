"""Random programs over streams, with histories: a seed gives the same case everywhere."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.support.generators.basic_cases import Triple
from tests.support.lars.meaning import Axis, Meaning
from tests.support.lars.programs import Counted, GroundAtom, Program, text
from tests.support.lars.terms import NAMESPACE, atoms, is_match, term
from tests.support.lars.vocabulary import FACTS, GRAPH, STREAM, Read
from tests.support.lars.writer import Writer
from tests.support.streams.histories import (
    Arriving,
    Declared,
    Epochs,
    GraphChange,
    Tick,
    ingested,
)

_ATTEMPTS = 6
SECTIONS = 5
"""Of a history: each may have late events."""


@dataclass(frozen=True)
class LarsCase:
    """A program and a history; instants are microseconds.

    Attributes:
        seed: of the case.
        text: the file of the program, with its front matter.
        program: the same as values.
        reads: what it reads.
        streams: by name.
        axis: its points.
        epochs: what was ingested.
        starts: the declared first instant of the streams, None without one.
        corrects_back: as declared.
    """

    seed: int
    text: str
    program: Program
    reads: tuple[Read, ...]
    streams: tuple[str, ...]
    axis: Axis
    epochs: Epochs
    starts: int | None
    corrects_back: int

    def meaning(self) -> Meaning:
        """What the answer is, from the definitions."""
        return Meaning(
            self.program,
            self.epochs,
            self.axis,
            _Atoms([read for read in self.reads if read.origin == "stream"]),
            _Atoms([read for read in self.reads if read.origin == "graph"]),
            self._counts,
            self.streams,
            self.starts,
            self.corrects_back,
        )

    def _counts(self, counted: Counted, triple: Triple) -> bool:
        """Whether a triple is one of those that make some atoms."""
        (read,) = (read for read in self.reads if read.name == counted.predicate)
        given = (
            {}
            if counted.arguments is None
            else dict(zip(read.arguments, counted.arguments, strict=True))
        )
        known = {argument: term(value) for argument, value in given.items() if value is not None}
        return any(is_match(triple, pattern, known) for pattern in read.pattern)


class _Atoms:
    """The atoms that sets of triples make, remembered."""

    def __init__(self, reads: Sequence[Read]) -> None:
        self._patterns = {read.name: (read.arguments, read.pattern) for read in reads}
        self._known: dict[frozenset[Triple], frozenset[GroundAtom]] = {}

    def __call__(self, triples: Collection[Triple]) -> frozenset[GroundAtom]:
        key = frozenset(triples)
        if key not in self._known:
            self._known[key] = atoms(self._patterns, key)
        return self._known[key]


def lars_case(seed: int) -> LarsCase:
    """The case of a seed: of some random programs, mostly the one with the most outputs."""
    rng = random.Random(f"lars {seed}")
    streams = ("s",) if rng.random() < 0.8 else ("s", "t")
    axis = rng.choice((Axis(), Axis(), Axis(10), Axis(10, 7), Axis(1, 3)))
    starts = axis.origin + axis.unit * rng.randint(-1, 2) if rng.random() < 0.2 else None
    corrects_back = axis.unit * rng.choice((0, 0, 2, 100, 100))
    reads = _reads(rng)
    epochs = _history(rng, reads, streams, axis.unit, starts)

    def case() -> LarsCase:
        program = Writer(rng, reads, range(-2, 12), tuples=len(streams) == 1).program()
        written = _front_matter(rng, program, reads, streams, axis, starts, corrects_back)
        whole = written + text(program)
        return LarsCase(seed, whole, program, reads, streams, axis, epochs, starts, corrects_back)

    attempts = rng.choice((1, _ATTEMPTS, _ATTEMPTS))
    return max((case() for _ in range(attempts)), key=_different_outputs)


def _reads(rng: random.Random) -> tuple[Read, ...]:
    """What a program may read: some of the stream, and background."""
    return (
        *rng.sample(STREAM, rng.randint(2, 4)),
        *rng.sample(GRAPH, rng.choice((0, 1, 1, 2))),
        *rng.sample(FACTS, rng.choice((0, 0, 1))),
    )


def _front_matter(
    rng: random.Random,
    program: Program,
    reads: Sequence[Read],
    streams: Sequence[str],
    axis: Axis,
    starts: int | None,
    corrects_back: int,
) -> str:
    lines = [
        f"stream: {streams[0] if len(streams) == 1 else [*streams]}",
        f'prefixes: {{"": "{NAMESPACE}"}}',
        f"unit: {_duration(axis.unit)}",
        f"origin: {_time(axis.origin)}",
        f"corrects_back: {_duration(corrects_back)}",
    ]
    if starts is not None:
        lines.append(f"starts: {_time(starts)}")
    lines.append("atoms:")
    elements = [element for rule in program.rules for element in rule.elements]
    used = {element.predicate for element in elements}
    used |= {c.predicate for e in elements if e.window for c in e.window.counted}
    for read in reads:
        # What nothing reads may be declared, too.
        if read.declared and (read.name in used or rng.random() < 0.5):
            arguments = (
                f"({','.join(argument.name for argument in read.arguments)})" if read.kinds else ""
            )
            pattern = f'"{read.declared}"'
            if read.origin == "graph":
                pattern = f"{{graph: {pattern}}}"
            lines.append(f'  "{read.name}{arguments}": {pattern}')
    if lines[-1] == "atoms:":
        lines.pop()
    return "".join(f"%+ {line}\n" for line in lines)


def _duration(microseconds: int) -> str:
    return f"PT{microseconds / 1_000_000:.6f}S"


def _time(instant: int) -> str:
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant)
    return f'"{time.isoformat(timespec="microseconds")}"'


def _history(
    rng: random.Random,
    reads: Sequence[Read],
    streams: Sequence[str],
    unit: int,
    starts: int | None,
) -> Epochs:
    """Epochs with late, tied and missing events, with time that passes, and changes of the graph.

    Some atoms come again and again, for boxes.
    """
    of_streams = [read for read in reads if read.origin == "stream"]
    of_graph = [read for read in reads if read.origin == "graph"]
    pool = [rng.choice(of_streams).atom(rng) for _ in range(rng.randint(4, 9))]
    by_name = {read.name: read for read in reads}
    steady = rng.sample(pool, min(len(pool), rng.randint(0, 2)))
    delays, lateness = (0, 0, 0, unit, 3 * unit), (0, 2 * unit, 100 * unit, 100 * unit)
    declared = {name: Declared(rng.choice(delays), rng.choice(lateness)) for name in streams}
    background = sorted(
        {t for read in of_graph for _ in range(4) for t in read.triples(read.atom(rng))}
    )
    present: frozenset[Triple] = frozenset()
    now = rng.randint(0, 2) * unit
    arriving: list[Arriving] = []

    def moved(steps: int) -> int:
        return now + steps * unit + rng.randrange(unit)

    for _ in range(SECTIONS):
        backward = (-5, -3, -2, -1) if rng.random() < 0.5 else ()
        for _ in range(rng.randint(1, 3)):
            if background and rng.random() < 0.35:
                vanish = frozenset(t for t in sorted(present) if rng.random() < 0.3)
                chosen = rng.sample(background, min(len(background), rng.randint(0, 4)))
                appear = frozenset(chosen) - present
                time = None if rng.random() < 0.15 else moved(rng.randint(-6, 0))
                arriving.append(GraphChange(vanish, appear, time))
                present = (present - vanish) | appear
                continue
            events = []
            for atom in rng.choices(pool, k=rng.choice((0, 1, 2, 4, 6))):
                instant = moved(rng.choice((*backward, 0, 0, 0, 1, 1, 2)))
                events += [(triple, instant) for triple in _triples(rng, by_name, atom)]
            for atom in steady if events else ():
                for step in range(rng.randint(0, 3)):
                    instant = moved(step)
                    events += [(triple, instant) for triple in by_name[atom[0]].triples(atom)]
            rng.shuffle(events)
            stream = rng.choice(streams)
            arriving.append(
                (stream, tuple(events)) if events else Tick(stream, moved(rng.randint(0, 3)))
            )
            now = max([now, *(instant for _, instant in events)])
        now += rng.choice((0, 0, 1, 1, 3)) * unit
    return ingested(declared, arriving, starts)


def _triples(rng: random.Random, by_name: Mapping[str, Read], atom: GroundAtom) -> Sequence[Triple]:
    """The triples of an atom, rarely without one of them."""
    triples = by_name[atom[0]].triples(atom)
    return triples[:1] if rng.random() < 0.1 else triples


def _different_outputs(case: LarsCase) -> int:
    """How many different outputs there are at some points, as known in the end."""
    meaning, epoch = case.meaning(), len(case.epochs)
    final = meaning.finals[epoch]
    if meaning.first is None or final is None:
        return 0
    points = range(meaning.first, final + 1)
    return len({meaning.state(epoch, point) for point in points[:: max(1, len(points) // 5)]})
