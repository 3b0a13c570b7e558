"""What the epochs mean for a query over streams: horizons, corrections, times of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from weir.engine.windows import SteppedWindow, Window
from weir.timeline.axis import EVERY_INSTANT, Grid
from weir.timeline.graph_times import GraphEpoch, graph_times
from weir.timeline.legs import Arrival, Leg, legs


@dataclass(frozen=True, slots=True)
class StreamHistory:
    """What is recorded of a stream.

    Attributes:
        starts: the first instant of the stream.
        frontiers: (epoch, frontier) in order: from the epoch on, no event before the frontier is
            expected.
        earliest: by epoch, the instant of its first event; at least of the epochs that are yet to
            be evaluated.
    """

    starts: int
    frontiers: Sequence[tuple[int, int]]
    earliest: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The epochs that matter to a query, in order.

    Attributes:
        origin: the first instant of the query; None as long as one of its streams has no event.
        arrivals: the epochs.
        graph_times: (epoch, instant): from when on each epoch of the graph holds.
        starts: the first instant of the streams; before `origin` if the query began later.
    """

    origin: int | None
    arrivals: tuple[Arrival, ...]
    graph_times: tuple[tuple[int, int], ...]
    starts: int | None = None

    @classmethod
    def of(
        cls,
        windows: Sequence[Window],
        streams: Sequence[StreamHistory | None],
        graph: Sequence[tuple[int, int | None]],
        corrects_back: int,
        begins: int | None = None,
        *,
        grid: Grid = EVERY_INSTANT,
        starts: int | None = None,
    ) -> Self:
        """The timeline of a query.

        Args:
            windows: of the query.
            streams: that it reads; None for one that has had no event.
            graph: (epoch, event time as an instant) of the epochs that change the graph, in order;
                empty if the query does not read it.
            corrects_back: for how many microseconds a change of the graph corrects answers.
            begins: the first instant, if earlier events had been deleted when the query began.
            grid: which instants count as one: it is final when they all are.
            starts: the first instant, if it is declared; else it is that of the streams.
        """
        known = [stream for stream in streams if stream is not None]
        if len(known) < len(streams):
            return cls(None, (), ())
        known = [_on_grid(stream, grid) for stream in known]
        first = min(stream.starts for stream in known) if starts is None else grid.begin(starts)
        origin = first if begins is None else max(first, grid.next_begin(begins))
        # An event at u is in [c - width, c) for c > u only, and in any other window from u on.
        closed = all(
            isinstance(window, SteppedWindow) and window.bounds == "[)" for window in windows
        )
        shift = 1 if closed else 0
        event_times = {epoch: None if time is None else grid.begin(time) for epoch, time in graph}
        frontiers = [dict(stream.frontiers) for stream in known]
        reached: list[int | None] = [None] * len(known)
        horizon: int | None = None
        arrivals: list[Arrival] = []
        on_axis: list[GraphEpoch] = []
        # A stream out of a query may change with an epoch that moves no frontier.
        corrected = (stream.earliest for stream in known)
        for epoch in sorted({*event_times}.union(*frontiers, *corrected)):
            earliest = [
                stream.earliest[epoch] + shift for stream in known if epoch in stream.earliest
            ]
            if epoch in event_times:
                on_axis.append(GraphEpoch(epoch, event_times[epoch], horizon))
            for i, frontier in enumerate(frontiers):
                reached[i] = frontier.get(epoch, reached[i])
            values = [instant for instant in reached if instant is not None]
            if len(values) == len(reached):
                final = min(values) - 1 + shift
                # Never before the first instant: there is nothing to evaluate.
                horizon = final if final >= origin else None
            arrivals.append(Arrival(epoch, horizon, min(earliest, default=None)))
        times = graph_times(on_axis, origin, grid.lengthened(corrects_back))
        held = dict(times)
        return cls(
            origin,
            tuple(_with_graph(arrival, held.get(arrival.epoch)) for arrival in arrivals),
            times,
            first,
        )

    def horizon(self, epoch: int) -> int | None:
        """The last instant at which the query is final at an epoch."""
        before = [arrival.horizon for arrival in self.arrivals if arrival.epoch <= epoch]
        return before[-1] if before else None

    def legs(self, after: int, last: int) -> tuple[Leg, ...]:
        """The legs of the epochs (after, last]."""
        if self.origin is None:
            return ()
        later = [arrival for arrival in self.arrivals if after < arrival.epoch <= last]
        return legs(after, self.horizon(after), later, self.origin)

    def graph_at(self, leg: Leg) -> tuple[int, tuple[tuple[int, int], ...]]:
        """The newest epoch of the graph that holds at the beginning of a leg, and later times."""
        assert self.origin is not None, "there is a leg"
        start = max(leg.low, self.origin)
        # A later epoch may correct what this leg evaluates; it is not known yet.
        known = [(epoch, instant) for epoch, instant in self.graph_times if epoch <= leg.last]
        settled = max((epoch for epoch, instant in known if instant <= start), default=0)
        return settled, tuple(graph_time for graph_time in known if graph_time[1] > start)


def _on_grid(history: StreamHistory, grid: Grid) -> StreamHistory:
    return StreamHistory(
        grid.begin(history.starts),
        [(epoch, grid.begin(frontier)) for epoch, frontier in history.frontiers],
        {epoch: grid.begin(instant) for epoch, instant in history.earliest.items()},
    )


def _with_graph(arrival: Arrival, instant: int | None) -> Arrival:
    if instant is None:
        return arrival
    earliest = instant if arrival.earliest is None else min(instant, arrival.earliest)
    return Arrival(arrival.epoch, arrival.horizon, earliest)
