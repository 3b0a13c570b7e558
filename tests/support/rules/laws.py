"""The laws of programs, at every epoch and point."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise

from tests.support.generators.basic_cases import Triple
from tests.support.lars.definitions import DataStream, output
from tests.support.lars.programs import GroundAtom, Program
from tests.support.rules.cases import RuleCase
from tests.support.rules.memory import Evaluated, LogRow, memory_of, state
from tests.support.rules.vocabulary import atoms_of, counts, value
from tests.support.streams.definitions import Meaning
from tests.support.streams.histories import Epochs, GraphChange, StreamBatch
from weir.engine.windows import SlidingWindow
from weir.rules.points import PointAxis

Content = tuple[tuple[int, tuple[Triple, ...]], ...]
"""The tuples of each point that has any, in order."""
Evaluate = Callable[[Program, DataStream[Triple], Collection[GroundAtom]], frozenset[GroundAtom]]
"""Gives the output of a program over a data stream and background at its last point."""


def broken_laws(case: RuleCase) -> list[str]:
    """Which laws a case breaks, and how; none if all hold.

    The log of several runs is held against the definitions, and in a third of the cases also
    against the log of one run.
    """
    last = len(case.epochs)
    evaluated: Evaluated = {}
    rng = random.Random(case.seed)
    cuts = sorted(rng.sample(range(1, last), min(last - 1, rng.choice((1, 1, 2)))))
    cut = memory_of(case, evaluated)
    for after, until in pairwise((0, *cuts, last)):
        cut.run(after, until)
    log = cut.log()
    meaning = ProgramMeaning(case)
    broken = [*different_states(case, meaning, log), *_local(case, meaning, log)]
    if case.seed % 3 == 0:
        at_once = memory_of(case, evaluated)
        at_once.run(0, last)
        broken += _difference(at_once.log(), log, f"runs up to {cuts}")
    if cut.run(last, last):
        broken.append("a run over no epoch has a leg")
    return [f"seed {case.seed}: {what}" for what in broken]


def _difference(expected: list[LogRow], log: list[LogRow], runs: str) -> Iterator[str]:
    if log != expected:
        extra, missing = Counter(log) - Counter(expected), Counter(expected) - Counter(log)
        yield f"{runs}: {[*extra][:4]} too many, {[*missing][:4]} missing"


class ProgramMeaning:
    """What a program reads at every epoch and point, and its output, from the definitions."""

    def __init__(self, case: RuleCase, evaluate: Evaluate = output) -> None:
        self.case, self._evaluate = case, evaluate
        streams = {name: name for name in case.checked.streams}
        self.epochs = on_points(case.epochs, case.axis)
        # A change that corrects some of the instants of a point corrects the point.
        back = -(-case.corrects_back // case.axis.unit)
        windows = {name: SlidingWindow(1) for name in streams}
        self.times = Meaning(windows, streams, self.epochs, back, case.derive)
        self._outputs: dict[tuple[int, Content, frozenset[Triple]], frozenset[GroundAtom]] = {}

    def tuples(self, epoch: int, point: int) -> Content:
        """The tuples up to a point that are known at an epoch; of repeated ones the first."""
        origin = self.times.origin
        assert origin is not None, "there is a horizon"
        events = [
            (instant, number, line, triple)
            for number, change in enumerate(self.case.epochs[:epoch], start=1)
            if isinstance(change, StreamBatch) and change.stream in self.case.checked.streams
            for line, (triple, instant) in enumerate(change.events)
        ]
        by_point: dict[int, dict[Triple, None]] = {}
        for instant, _, _, triple in sorted(events):
            at = self.case.axis.point(instant)
            if origin <= at <= point:
                by_point.setdefault(at, {})[triple] = None
        return tuple((at, tuple(triples)) for at, triples in by_point.items())

    def output(self, epoch: int, point: int) -> frozenset[GroundAtom]:
        """The output at a point as known at an epoch (Definition 6)."""
        origin = self.times.origin
        assert origin is not None, "there is a horizon"
        content = self.tuples(epoch, point)
        reads = self.case.checked.reads_graph
        graph = self.times.graph(epoch, point) if reads else frozenset()
        key = (point, content, graph)
        if key not in self._outputs:
            data = DataStream(origin, point, dict(content), atoms_of, counts)
            self._outputs[key] = self._evaluate(self.case.program, data, atoms_of(graph))
        return self._outputs[key]


def on_points(epochs: Epochs, axis: PointAxis) -> Epochs:
    """The history with points in the place of instants: an instant is in the point before it."""

    def point(instant: int) -> int:
        number, rest = divmod(instant - axis.origin, axis.unit)
        assert 0 <= rest < axis.unit
        return number

    changed: list[StreamBatch | GraphChange] = []
    for epoch in epochs:
        match epoch:
            case StreamBatch(stream, events, frontier):
                at = tuple((triple, point(instant)) for triple, instant in events)
                changed.append(StreamBatch(stream, at, point(frontier)))
            case GraphChange(vanish, appear, time):
                changed.append(GraphChange(vanish, appear, None if time is None else point(time)))
    return tuple(changed)


def different_states(case: RuleCase, meaning: ProgramMeaning, log: list[LogRow]) -> Iterator[str]:
    """At every epoch and point the state of the log is the output by the definitions."""
    origin = meaning.times.origin
    if origin is None:
        if log:
            yield "rows before every stream has an event"
        return
    for epoch in range(1, len(case.epochs) + 1):
        horizon = meaning.times.horizons[epoch]
        if horizon is None:
            continue
        for point in range(origin - 1, horizon + 1):
            answer = state(log, epoch, case.axis.instant(point), value)
            expected = Counter(meaning.output(epoch, point)) if point >= origin else Counter()
            if answer != expected:
                yield (
                    f"at epoch {epoch} and point {point}: {answer - expected} too many,"
                    f" {expected - answer} missing"
                )
                return


def _local(case: RuleCase, meaning: ProgramMeaning, log: list[LogRow]) -> Iterator[str]:
    """An epoch records points up to its horizon only, each row once."""
    for epoch, instant, *_ in log:
        horizon = meaning.times.horizons[epoch]
        if horizon is None or instant > case.axis.instant(horizon):
            yield f"epoch {epoch} records the instant {instant}, which was not final"
            return
    if len({(epoch, instant, row) for epoch, instant, _, row in log}) != len(log):
        yield "a row has two weights at one epoch and instant"
