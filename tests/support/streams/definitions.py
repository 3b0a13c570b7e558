"""What a query over streams means, from the definitions: contents of windows at every instant.

It shares no code with the engine but the parameters of windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobs.engine.windows import LastElements, SlidingWindow, SteppedWindow, Window
from tests.support.generators.basic_cases import Triple
from tests.support.streams.histories import Epochs, GraphChange, StreamBatch


def content(
    window: Window, events: Sequence[tuple[int, int, int, Triple]], instant: int
) -> frozenset[Triple]:
    """The content of a window at an instant.

    Args:
        window: the window.
        events: (instant, epoch, line, triple) of its stream, in any order.
        instant: when.
    """
    if isinstance(window, LastElements):
        until = sorted(each for each in events if each[0] <= instant)
        return frozenset(triple for *_, triple in until[-window.elements :])
    if isinstance(window, SlidingWindow):
        inside = [each for each in events if instant - window.width < each[0] <= instant]
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
    closes = range(full - 100 * window.step, full + 100 * window.step, window.step)
    first = full if window.first == "full" else window.origin + 1
    found = [each for each in closes if first <= each <= instant]
    return found[-1] if found else None


@dataclass(frozen=True)
class Meaning:
    """A query's input at every epoch and instant.

    Attributes:
        windows: by name.
        streams: the stream of each window.
        epochs: the history.
        corrects_back: as declared.
    """

    windows: Mapping[str, Window]
    streams: Mapping[str, str]
    epochs: Epochs
    corrects_back: int

    @property
    def origin(self) -> int | None:
        """The first instant: of the first epoch with events of each stream the first event."""
        starts: dict[str, int] = {}
        for each in self.epochs:
            if isinstance(each, StreamBatch) and each.events:
                starts.setdefault(each.stream, min(instant for _, instant in each.events))
        used = set(self.streams.values())
        return min(starts[each] for each in used) if used <= set(starts) else None

    def horizon(self, epoch: int) -> int | None:
        """The last instant at which the query is final at an epoch."""
        frontiers: dict[str, int] = {}
        for each in self.epochs[:epoch]:
            if isinstance(each, StreamBatch):
                frontiers[each.stream] = each.frontier
        used = set(self.streams.values())
        origin = self.origin
        if origin is None or not used <= set(frontiers):
            return None
        least = min(frontiers[each] for each in used)
        excludes_close = all(
            isinstance(each, SteppedWindow) and each.bounds == "[)"
            for each in self.windows.values()
        )
        last = least if excludes_close else least - 1
        return last if last >= origin else None

    def window(self, name: str, epoch: int, instant: int) -> frozenset[Triple]:
        """The content of a window at an instant, as known at an epoch."""
        known = [
            (at, number, line, triple)
            for number, each in enumerate(self.epochs[:epoch], start=1)
            if isinstance(each, StreamBatch) and each.stream == self.streams[name]
            for line, (triple, at) in enumerate(each.events)
        ]
        return content(self.windows[name], known, instant)

    def graph(self, epoch: int, instant: int) -> frozenset[Triple]:
        """The graph at an instant, as known at an epoch."""
        held: set[Triple] = set()
        origin = self.origin
        assert origin is not None, "there is an instant"
        reached = origin
        for number, each in enumerate(self.epochs[:epoch], start=1):
            if not isinstance(each, GraphChange):
                continue
            final = self.horizon(number - 1)
            if final is None:
                begins = origin if each.event_time is None else each.event_time
            elif each.event_time is None:
                begins = final + 1
            else:
                begins = max(each.event_time, final + 1 - self.corrects_back)
            reached = max(reached, begins)
            if reached <= instant:
                held = (held - each.vanish) | each.appear
        return frozenset(held)
