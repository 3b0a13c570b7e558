"""Histories of streams and of a graph, as ingest records them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.support.generators.basic_cases import Triple

Event = tuple[Triple, int]
"""A triple and its instant."""


@dataclass(frozen=True)
class StreamBatch:
    """An epoch of a stream: accepted events in the order of their lines, and the frontier."""

    stream: str
    events: tuple[Event, ...]
    frontier: int


@dataclass(frozen=True)
class GraphChange:
    """An epoch of the graph, and when it happened."""

    vanish: frozenset[Triple]
    appear: frozenset[Triple]
    event_time: int | None = None


Epochs = tuple[StreamBatch | GraphChange, ...]
"""The first is epoch 1."""


@dataclass(frozen=True)
class Declared:
    """What ingest does with the events of a stream; durations in the unit of instants."""

    delay: int = 0
    lateness: int = 0


@dataclass(frozen=True)
class Tick:
    """Time passed in a stream without events."""

    stream: str
    instant: int


Arriving = tuple[str, tuple[Event, ...]] | Tick | GraphChange
"""Events of a stream, time without events, or a change of the graph, before ingest."""


def ingested(
    declared: Mapping[str, Declared], arriving: Sequence[Arriving], first: int | None = None
) -> Epochs:
    """The epochs that ingest makes: events that are too late, or before `first`, are left out.

    Without `first`, the first instant of a stream is that of the first event of its first epoch.
    """
    frontiers: dict[str, int] = {}
    starts: dict[str, int] = {} if first is None else dict.fromkeys(declared, first)
    epochs: list[StreamBatch | GraphChange] = []
    for arrival in arriving:
        if isinstance(arrival, GraphChange):
            epochs.append(arrival)
            continue
        if isinstance(arrival, Tick):
            if arrival.stream in frontiers:
                reached_now = arrival.instant - declared[arrival.stream].delay
                frontiers[arrival.stream] = max(frontiers[arrival.stream], reached_now)
                epochs.append(StreamBatch(arrival.stream, (), frontiers[arrival.stream]))
            continue
        stream, events = arrival
        rule = declared[stream]
        if events:
            starts.setdefault(stream, min(instant for _, instant in events))
        least = starts.get(stream, 0)
        if stream in frontiers:
            least = max(least, frontiers[stream] - rule.lateness)
        kept = tuple(event for event in events if event[1] >= least)
        reached = [instant - rule.delay for _, instant in kept]
        if stream in frontiers:
            reached.append(frontiers[stream])
        if reached:
            frontiers[stream] = max(reached)
            epochs.append(StreamBatch(stream, kept, frontiers[stream]))
    return tuple(epochs)
