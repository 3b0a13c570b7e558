"""The windows that a definition declares, as values of `weir.engine.windows`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from weir.engine.windows import LastElements, SlidingWindow, SteppedWindow, Window
from weir.sparql.algebra.windows import CountWindow, TimeWindow, WindowClause
from weir.timeline.axis import Axis, Epochs, Instants


def windows_of(axis: Axis) -> Mapping[str, Window]:
    """The windows of a definition by their names; on epochs there are none."""
    if isinstance(axis, Epochs):
        return {}
    return {clause.name: _window(clause, axis) for clause in axis.windows}


def closing_windows(axis: Instants, origin: int) -> tuple[Window, ...]:
    """The windows at whose closes RSTREAM has elements; of a program, at each of its points.

    Args:
        axis: of the definition.
        origin: its first instant.
    """
    if axis.points is None:
        return tuple(windows_of(axis).values())
    unit = axis.points.unit
    return (SteppedWindow(unit, unit, origin - unit),)


def _window(clause: WindowClause, axis: Instants) -> Window:
    match clause.content:
        case TimeWindow(width, None):
            return SlidingWindow(width)
        case TimeWindow(width, step):
            assert step is not None, "the case before"
            return SteppedWindow(width, step, axis.t0, axis.first, axis.bounds)
        case CountWindow(elements):
            return LastElements(elements)
        case _:
            assert_never(clause.content)
