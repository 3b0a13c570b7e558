"""What a query over streams means, from the definitions: contents of windows at every instant.

It shares no code with the engine but the parameters of windows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy

from tests.support.generators.basic_cases import Quad, Triple
from tests.support.streams.histories import Epochs, GraphChange, StreamBatch
from weir.engine.windows import LastElements, SlidingWindow, SteppedWindow, Window

Derive = Callable[[frozenset[Triple]], frozenset[Triple]]
KnownEvent = tuple[int, int, int, Triple]
"""Instant, epoch, line, triple."""


def content(window: Window, events: Sequence[KnownEvent], instant: int) -> frozenset[Triple]:
    """The content of a window at an instant.

    Args:
        window: the window.
        events: of its stream, in any order.
        instant: when.
    """
    if isinstance(window, LastElements):
        until = sorted(event for event in events if event[0] <= instant)
        return frozenset(triple for *_, triple in until[-window.elements :])
    if isinstance(window, SlidingWindow):
        inside = [event for event in events if instant - window.width < event[0] <= instant]
        return frozenset(triple for *_, triple in inside)
    close = _last_close(window, instant)
    if close is None:
        return frozenset()
    begin = close - window.width
    if window.bounds == "[)":
        inside = [e for e in events if begin <= e[0] < close and e[0] >= window.origin]
    else:
        inside = [e for e in events if begin < e[0] <= close and e[0] > window.origin]
    return frozenset(triple for *_, triple in inside)


def _last_close(window: SteppedWindow, instant: int) -> int | None:
    """The last close of a window's grid up to an instant."""
    full = window.origin + window.width
    first = full if window.first == "full" else window.origin + 1
    for close in range(instant, first - 1, -1):
        if (close - full) % window.step == 0:
            return close
    return None


def _without(epoch: StreamBatch | GraphChange, triples: set[Triple]) -> StreamBatch | GraphChange:
    if isinstance(epoch, StreamBatch):
        return epoch
    return GraphChange(epoch.vanish - triples, epoch.appear - triples, epoch.event_time)


def _held(changes: Iterable[StreamBatch | GraphChange]) -> frozenset[Triple]:
    """What a graph has after some changes."""
    held: set[Triple] = set()
    for change in changes:
        assert isinstance(change, GraphChange), "it has a time"
        held = (held - change.vanish) | change.appear
    return frozenset(held)


def _derived(derive: Derive, epochs: Epochs) -> Mapping[int, GraphChange]:
    """By epoch of the graph, how it changes what follows from it."""
    changes, before, state = dict[int, GraphChange](), frozenset[Triple](), frozenset[Triple]()
    for number, epoch in enumerate(epochs, start=1):
        if isinstance(epoch, GraphChange):
            state = (state - epoch.vanish) | epoch.appear
            after = derive(state)
            changes[number] = GraphChange(before - after, after - before)
            before = after
    return changes


class Meaning:
    """A query's input at every epoch and instant.

    Args:
        windows: by name.
        streams: the stream of each window.
        epochs: the history.
        corrects_back: as declared.
        derive: gives the triples that the graph has beside its own; None if there are none.
    """

    def __init__(
        self,
        windows: Mapping[str, Window],
        streams: Mapping[str, str],
        epochs: Epochs,
        corrects_back: int,
        derive: Derive | None = None,
    ) -> None:
        self.windows, self.streams, self.epochs = windows, streams, epochs
        self._used = {*streams.values()}
        self.origin = self._origin()
        self.horizons = [None, *self._horizons()]
        """By epoch, the last instant at which the query is final."""
        self._times = self._graph_times(corrects_back)
        self._derived: Mapping[int, StreamBatch | GraphChange] = (
            {} if derive is None else _derived(derive, epochs)
        )
        self._events: dict[str, list[KnownEvent]] = {stream: [] for stream in self._used}
        for number, epoch in enumerate(epochs, start=1):
            if isinstance(epoch, StreamBatch) and epoch.stream in self._used:
                self._events[epoch.stream] += [
                    (at, number, line, triple) for line, (triple, at) in enumerate(epoch.events)
                ]

    def _origin(self) -> int | None:
        """The first instant: of the first epoch with events of each stream the first event."""
        starts: dict[str, int] = {}
        for epoch in self.epochs:
            if isinstance(epoch, StreamBatch) and epoch.events:
                starts.setdefault(epoch.stream, min(instant for _, instant in epoch.events))
        return min(starts[stream] for stream in self._used) if self._used <= {*starts} else None

    def _horizons(self) -> Iterator[int | None]:
        frontiers: dict[str, int] = {}
        excludes_close = all(
            isinstance(stepped, SteppedWindow) and stepped.bounds == "[)"
            for stepped in self.windows.values()
        )
        for epoch in self.epochs:
            if isinstance(epoch, StreamBatch):
                frontiers[epoch.stream] = epoch.frontier
            if self.origin is None or not self._used <= {*frontiers}:
                yield None
                continue
            least = min(frontiers[name] for name in self._used)
            last = least if excludes_close else least - 1
            yield last if last >= self.origin else None

    def _graph_times(self, corrects_back: int) -> list[tuple[int, int]]:
        """(epoch, instant): from when on each change of the graph holds."""
        if self.origin is None:
            return []
        times = []
        reached = self.origin
        for number, epoch in enumerate(self.epochs, start=1):
            # What changes nothing has no time.
            if not isinstance(epoch, GraphChange) or not (epoch.vanish or epoch.appear):
                continue
            final = self.horizons[number - 1]
            if final is None:
                begins = self.origin if epoch.event_time is None else epoch.event_time
            elif epoch.event_time is None:
                begins = final + 1
            else:
                begins = max(epoch.event_time, final + 1 - corrects_back)
            reached = max(reached, begins)
            times.append((number, reached))
        return times

    def without(
        self, events: Collection[tuple[str, KnownEvent]], changes: Collection[tuple[int, Triple]]
    ) -> Meaning:
        """What it would mean if some things had not happened, at the same instants.

        Args:
            events: with the names of their streams.
            changes: of the graph, by epoch.
        """
        other = copy(self)
        other._events = {
            stream: [event for event in known if (stream, event) not in events]
            for stream, known in self._events.items()
        }
        by_epoch: dict[int, set[Triple]] = {}
        for at, triple in changes:
            by_epoch.setdefault(at, set()).add(triple)
        other.epochs = tuple(
            _without(epoch, by_epoch.get(number, set()))
            for number, epoch in enumerate(self.epochs, start=1)
        )
        other._derived = {
            number: _without(change, by_epoch.get(number, set()))
            for number, change in self._derived.items()
        }
        return other

    def first_affected(self, epoch: int) -> int | None:
        """The first instant whose input an epoch changes, by the definitions; None if none."""
        change = self.epochs[epoch - 1]
        if isinstance(change, GraphChange):
            return dict(self._times).get(epoch)
        if change.stream not in self._used:
            return None
        return min((instant for _, instant in change.events), default=None)

    def window(self, name: str, epoch: int, instant: int) -> frozenset[Triple]:
        """The content of a window at an instant, as known at an epoch."""
        events = [event for event in self._events[self.streams[name]] if event[1] <= epoch]
        return content(self.windows[name], events, instant)

    def graph(self, epoch: int, instant: int) -> frozenset[Triple]:
        """The graph, with what is derived, at an instant, as known at an epoch."""
        numbers = [number for number, at in self._times if number <= epoch and at <= instant]
        own = _held(self.epochs[number - 1] for number in numbers)
        return own | _held(self._derived[number] for number in numbers if self._derived)

    def dataset(self, epoch: int, instant: int) -> frozenset[Quad]:
        """The graph and the windows as named graphs, at an instant, as known at an epoch."""
        named = {("", *triple) for triple in self.graph(epoch, instant)}
        for name in self.windows:
            named |= {(name, *triple) for triple in self.window(name, epoch, instant)}
        return frozenset(named)
