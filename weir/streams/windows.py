"""The windows of a query as the engine evaluates them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from weir.catalog.windowing import Windowing
from weir.engine.windows import LastElements, SlidingWindow, SteppedWindow, Window
from weir.sparql.algebra.windows import CountWindow, TimeWindow, WindowClause


def windows_of(windowing: Windowing) -> Mapping[str, Window]:
    """The windows of a query by their names."""
    return {clause.name: _window(clause, windowing) for clause in windowing.windows}


def closing_windows(windowing: Windowing, origin: int) -> tuple[Window, ...]:
    """The windows at whose closes RSTREAM has elements; of a program, at each of its points.

    Args:
        windowing: of the definition.
        origin: its first instant.
    """
    if windowing.points is None:
        return tuple(windows_of(windowing).values())
    unit = windowing.points.unit
    return (SteppedWindow(unit, unit, origin - unit),)


def _window(clause: WindowClause, windowing: Windowing) -> Window:
    match clause.content:
        case TimeWindow(width, None):
            return SlidingWindow(width)
        case TimeWindow(width, step):
            assert step is not None, "the case before"
            return SteppedWindow(width, step, windowing.t0, windowing.first, windowing.bounds)
        case CountWindow(elements):
            return LastElements(elements)
        case _:
            assert_never(clause.content)
