"""From which instant on a query over streams sees each epoch of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraphEpoch:
    """An epoch that changes the graph.

    Attributes:
        epoch: the epoch.
        event_time: when the change happened, as its source says; an instant, or None.
        horizon: that of the query at the epoch before; None before the first evaluation.
    """

    epoch: int
    event_time: int | None
    horizon: int | None


def graph_times(
    epochs: Iterable[GraphEpoch], origin: int, corrects_back: int
) -> tuple[tuple[int, int], ...]:
    """The instant from which on each epoch holds, as (epoch, instant); instants never fall.

    An epoch holds from its event time on, but not before instants that are final already, except
    for the last `corrects_back` microseconds of them. One without a time holds from the first
    instant on that is not final.

    Args:
        epochs: every epoch that changes the graph, in order.
        origin: the first instant of the query.
        corrects_back: for how many microseconds answers that were given are corrected.
    """
    times = []
    newest = origin
    for graph_epoch in epochs:
        if graph_epoch.horizon is None:
            at = origin if graph_epoch.event_time is None else graph_epoch.event_time
        elif graph_epoch.event_time is None:
            at = graph_epoch.horizon + 1
        else:
            at = max(graph_epoch.event_time, graph_epoch.horizon + 1 - corrects_back)
        newest = max(newest, at)
        times.append((graph_epoch.epoch, newest))
    return tuple(times)
