"""The timeline of a program: that of a query over streams, with points in the place of instants.

A point is final when the frontiers of all streams have reached its end. A change of the graph holds
from the point of its time on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jobs.engine.windows import SlidingWindow
from jobs.rules.points import PointAxis
from jobs.streams.timeline import StreamHistory, Timeline


def program_timeline(
    axis: PointAxis,
    streams: Sequence[StreamHistory | None],
    graph: Sequence[tuple[int, int | None]],
    corrects_back: int,
) -> Timeline:
    """The timeline of a program; its origin is the first point.

    Args:
        axis: the points of the program.
        streams: that it reads, in instants; None for one that has had no event.
        graph: (epoch, event time as an instant) of the epochs that change the graph, in order;
            empty if the program does not read it.
        corrects_back: for how many microseconds a change of the graph corrects answers.
    """
    changes = [(epoch, None if at is None else axis.point(at)) for epoch, at in graph]
    # An event counts from its own point on, as in a window without a step.
    window = SlidingWindow(1)
    back = -(-corrects_back // axis.unit)
    return Timeline.of([window], [_on_axis(axis, each) for each in streams], changes, back)


def _on_axis(axis: PointAxis, history: StreamHistory | None) -> StreamHistory | None:
    if history is None:
        return None
    return replace(
        history,
        starts=axis.point(history.starts),
        frontiers=[(epoch, axis.point(frontier)) for epoch, frontier in history.frontiers],
        earliest={epoch: axis.point(instant) for epoch, instant in history.earliest.items()},
    )
