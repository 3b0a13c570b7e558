"""Explains the windows of a query: their content, when they close, how far they look back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from weir.engine.windows import LastElements, SlidingWindow, SteppedWindow, Window, look_back
from weir.lake.instants import instant_text
from weir.sparql.algebra.windows import StreamOperator
from weir.text.durations import duration_text
from weir.timeline.axis import Axis, Epochs
from weir.timeline.stream_names import stream_name, streams_of
from weir.timeline.windows import windows_of


def explain_windows(
    axis: Axis,
    starts: Mapping[str, int | None],
    kept_from: Mapping[str, int] | None = None,
) -> Iterator[str]:
    """The lines about the windows of a query; none for a query without windows.

    Args:
        axis: of the query.
        starts: the first instant of each stream that is declared; None before its first event.
        kept_from: of each stream with deleted events, the first instant whose events are kept.
    """
    if isinstance(axis, Epochs):
        return
    yield from explain_streams(axis, starts, kept_from)
    yield "windows:"
    windows = windows_of(axis)
    for clause in axis.windows:
        window = windows[clause.name]
        yield f"  {clause.name} on {stream_name(clause.stream)}: {_content(window)}"
        if isinstance(window, SteppedWindow):
            yield f"      {_closes(window)}"
            start = starts.get(stream_name(clause.stream))
            if start is not None:
                close = instant_text(first_close(window, start))
                yield f"      first close after the stream begins: {close}"
        back = look_back(window)
        yield f"      look-back: {'its elements' if back is None else duration_text(back)}"
    if axis.output is not None:
        yield f"stream out of the query: {axis.output.upper()}, {_EMITS[axis.output]}"
    yield f"corrects back: {duration_text(axis.corrects_back)}, after changes of the graph"
    yield ""


def explain_streams(
    axis: Axis,
    starts: Mapping[str, int | None],
    kept_from: Mapping[str, int] | None = None,
) -> Iterator[str]:
    """The lines about the streams that are read; the arguments are those of `explain_windows`."""
    yield "streams:"
    for name in streams_of(axis):
        start = starts.get(name)
        begins = "no event yet" if start is None else f"begins at {instant_text(start)}"
        yield f"  {name}: {'declared in sources.yml, ' if name in starts else ''}{begins}"
        if kept_from and name in kept_from:
            before = instant_text(kept_from[name])
            yield f"      events before {before} have been deleted: a new query begins later"
    for upstream in axis.upstreams:
        yield f"  {stream_name(upstream.stream)}: out of the query {upstream.query}"
    yield ""


def first_close(window: SteppedWindow, start: int) -> int:
    """The first close whose window can contain an event at `start` or later."""
    begin = max(start, window.origin)
    # An event at a close is in the window that ends there if that end belongs to it.
    after = begin if window.bounds == "[)" else begin - 1
    if window.first == "full":
        after = max(after, window.origin + window.width - 1)
    else:
        after = max(after, window.origin)
    full = window.origin + window.width
    return full + ((after - full) // window.step + 1) * window.step


_EMITS: Mapping[StreamOperator, str] = {
    "rstream": "all rows of the answer at each close",
    "istream": "the rows that appear, when they appear",
    "dstream": "the rows that vanish, when they vanish",
}


def _content(window: Window) -> str:
    match window:
        case SlidingWindow(width):
            return f"(t - {duration_text(width)}, t] at every instant t"
        case SteppedWindow(width, bounds=bounds):
            return f"{bounds[0]}c - {duration_text(width)}, c{bounds[1]} at every close c"
        case LastElements(elements):
            return "the last triple" if elements == 1 else f"the last {elements} triples"


def _closes(window: SteppedWindow) -> str:
    """The grid of closes."""
    width, step = duration_text(window.width), duration_text(window.step)
    t0 = instant_text(window.origin)
    if window.first == "full":
        return f"closes: t0 + {width} + k * {step}, k = 0, 1, ..; t0 = {t0}"
    return f"closes: t0 + {width} + k * {step} after t0, also for k < 0; t0 = {t0}"
