"""What a program's answer is at every epoch and point, from the definitions.

A point p of a program is the instants [origin + p * unit, origin + (p + 1) * unit).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from tests.support.generators.basic_cases import Triple
from tests.support.lars.definitions import DataStream, output
from tests.support.lars.programs import Counted, GroundAtom, Program
from tests.support.streams.histories import Epochs, GraphChange, StreamBatch

AtomsOf = Callable[[Collection[Triple]], frozenset[GroundAtom]]
_Known = tuple[int, tuple[tuple[int, tuple[Triple, ...]], ...], frozenset[Triple]]


@dataclass(frozen=True)
class Axis:
    """The points of a program, in the unit of instants."""

    unit: int = 1
    origin: int = 0

    def point(self, instant: int) -> int:
        """The point of an instant."""
        return (instant - self.origin) // self.unit


class Meaning:
    """A program over a history.

    Args:
        program: the program.
        epochs: the history; all its streams are read.
        axis: the points.
        stream_atoms: the atoms that the triples of one point make.
        graph_atoms: the atoms that the graph makes.
        counts: whether a triple is one of those that make some atoms of the stream.
        streams: that the program reads.
        starts: the declared first instant of every stream.
        corrects_back: for how many instants a change of the graph corrects answers.
    """

    def __init__(
        self,
        program: Program,
        epochs: Epochs,
        axis: Axis,
        stream_atoms: AtomsOf,
        graph_atoms: AtomsOf,
        counts: Callable[[Counted, Triple], bool],
        streams: Collection[str],
        starts: int | None = None,
        corrects_back: int = 0,
    ) -> None:
        self.program, self.epochs, self.axis = program, epochs, axis
        self._stream_atoms, self._graph_atoms = stream_atoms, graph_atoms
        self._counts = counts
        self._streams, self._starts = streams, starts
        # A unit that is corrected in part is corrected.
        self._back = -(-corrects_back // axis.unit)
        self._outputs: dict[_Known, frozenset[GroundAtom]] = {}

    @cached_property
    def first(self) -> int | None:
        """The first point; None if a stream has no event."""
        starts: dict[str, int] = {}
        for epoch in self.epochs:
            if isinstance(epoch, StreamBatch) and epoch.events:
                earliest = min(instant for _, instant in epoch.events)
                starts.setdefault(epoch.stream, earliest)
        if not {*self._streams} <= {*starts}:
            return None
        declared = self._starts
        return min(
            self.axis.point(starts[s] if declared is None else declared) for s in self._streams
        )

    @cached_property
    def finals(self) -> tuple[int | None, ...]:
        """By epoch, from 0: the last point at which the answer is final; None without one."""
        frontiers: dict[str, int] = {}
        points: list[int | None] = [None]
        for epoch in self.epochs:
            if isinstance(epoch, StreamBatch):
                frontiers[epoch.stream] = epoch.frontier
            if self.first is None or not {*self._streams} <= {*frontiers}:
                points.append(None)
                continue
            # A point is over when its last instant is before the frontier.
            final = min(self.axis.point(frontiers[name]) for name in self._streams) - 1
            points.append(final if final >= self.first else None)
        return tuple(points)

    def state(self, epoch: int, point: int) -> frozenset[GroundAtom]:
        """The output at a point by what is known at an epoch; nothing before the first point."""
        first = self.first
        if first is None or point < first:
            return frozenset()
        tuples = self._tuples(epoch, point)
        graph = self._graph(epoch, point)
        known = (point, tuple(sorted(tuples.items())), graph)
        if known not in self._outputs:
            data = DataStream(first, point, tuples, self._stream_atoms, self._counts)
            self._outputs[known] = output(self.program, data, self._graph_atoms(graph))
        return self._outputs[known]

    def first_affected(self, epoch: int) -> int | None:
        """The first point whose input an epoch changes; None if none."""
        change = self.epochs[epoch - 1]
        if isinstance(change, GraphChange):
            return dict(self._graph_times).get(epoch)
        return min((self.axis.point(instant) for _, instant in change.events), default=None)

    def _tuples(self, epoch: int, point: int) -> Mapping[int, tuple[Triple, ...]]:
        """By point, the triples in the order of instant, epoch and line, each once."""
        events = sorted(
            (instant, number, line, triple)
            for number, change in enumerate(self.epochs[:epoch], start=1)
            if isinstance(change, StreamBatch)
            for line, (triple, instant) in enumerate(change.events)
        )
        by_point: dict[int, dict[Triple, None]] = {}
        for instant, _, _, triple in events:
            if self.axis.point(instant) <= point:
                by_point.setdefault(self.axis.point(instant), {})[triple] = None
        return {at: tuple(triples) for at, triples in by_point.items()}

    def _graph(self, epoch: int, point: int) -> frozenset[Triple]:
        held: set[Triple] = set()
        for number, begins in self._graph_times:
            change = self.epochs[number - 1]
            assert isinstance(change, GraphChange), "it has a time"
            if number <= epoch and begins <= point:
                held = (held - change.vanish) | change.appear
        return frozenset(held)

    @cached_property
    def _graph_times(self) -> list[tuple[int, int]]:
        """(epoch, point): from when on each change of the graph holds."""
        if self.first is None:
            return []
        reached_by, reached = [], self.first
        for number, epoch in enumerate(self.epochs, start=1):
            if not isinstance(epoch, GraphChange) or not (epoch.vanish or epoch.appear):
                continue
            final = self.finals[number - 1]
            happened = None if epoch.event_time is None else self.axis.point(epoch.event_time)
            if final is None:
                begins = self.first if happened is None else happened
            elif happened is None:
                begins = final + 1
            else:
                begins = max(happened, final + 1 - self._back)
            reached = max(reached, begins)
            reached_by.append((number, reached))
        return reached_by
