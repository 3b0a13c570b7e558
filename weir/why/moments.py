"""A moment of an answer over streams: an instant, as known at an epoch, and the graph around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from weir.timeline.timeline import Timeline
from weir.why.marked import Mark


@dataclass(frozen=True, slots=True)
class Moment:
    """An instant of an answer, as known at an epoch.

    Attributes:
        instant: the instant.
        epoch: the epoch.
        is_first: whether it is the first instant of the answer: nothing is before it.
        corrects: whether the instant was final at an earlier epoch.
        graph: what holds of the graph.
    """

    instant: int
    epoch: int
    is_first: bool
    corrects: bool
    graph: GraphEpochs

    @classmethod
    def of(cls, timeline: Timeline, instant: int, epoch: int) -> Self:
        """The moment of a row that an epoch recorded; the timeline is that of the epoch."""
        assert timeline.origin is not None, "there is a row"
        horizon = timeline.horizon(epoch - 1)
        corrects = horizon is not None and instant <= horizon
        is_first = instant <= timeline.origin
        times = [(changed, at) for changed, at in timeline.graph_times if at <= instant]
        own = epoch if corrects and epoch in dict(times) else None
        others = [(changed, at) for changed, at in times if changed != own]
        settled = [changed for changed, at in others if at < instant and not is_first]
        graph = GraphEpochs(
            max(settled, default=0),
            tuple(changed for changed, _ in others if changed not in settled),
            own,
            own is not None and dict(times)[own] < instant,
        )
        return cls(instant, epoch, is_first, corrects, graph)


@dataclass(frozen=True, slots=True)
class GraphEpochs:
    """The epochs of the graph that hold at a moment.

    Attributes:
        settled: the newest that holds right before the instant; 0 for none.
        begin: those that hold from the instant on.
        own: that of the moment, if it corrects the instant by a change of the graph.
        own_is_earlier: whether that holds right before the instant, too.
    """

    settled: int
    begin: tuple[int, ...]
    own: int | None
    own_is_earlier: bool

    @property
    def times(self) -> tuple[tuple[int, int], ...]:
        """The epochs after `settled` on an axis: 1 for those that begin, 2 for `own`."""
        own = () if self.own is None else ((self.own, 2),)
        return (*((epoch, 1) for epoch in self.begin), *own)

    @property
    def held(self) -> Mapping[Mark, int]:
        """By mark, the newest epoch that holds."""
        begun = max((self.settled, *self.begin))
        own = begun if self.own is None else self.own
        return {
            "before": own if self.own_is_earlier else self.settled,
            "after": own,
            "before_undone": self.settled,
            "after_undone": begun,
        }

    @property
    def changes(self) -> tuple[int, ...]:
        """The epochs whose changes may be what a row comes from."""
        return self.begin if self.own is None else (self.own,)
