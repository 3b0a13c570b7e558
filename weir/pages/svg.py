"""Figures as SVG text: a frame with axes, in which charts draw; every text in it is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

WIDTH: Final = 640
HEIGHT: Final = 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 26, 26
COLOURS: Final = ("#2a7f62", "#b3344d", "#3b6ea8", "#d08a1e", "#7a5aa6", "#6b6b6b", "#b5b5b5")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """A figure with two axes.

    Attributes:
        title: above it.
        across: the least and the largest value of the horizontal axis.
        top: the largest value of the vertical axis, which begins at 0.
        across_marks: (value, label) of the horizontal axis.
        up_marks: (value, label) of the vertical axis.
    """

    title: str
    across: tuple[float, float]
    top: float
    across_marks: Sequence[tuple[float, str]] = ()
    up_marks: Sequence[tuple[float, str]] = ()

    def x(self, value: float) -> float:
        """Where a value of the horizontal axis is."""
        first, last = self.across
        share = (value - first) / (last - first) if last > first else 0.5
        return _LEFT + share * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        """Where a value of the vertical axis is; larger ones are cut off at the top."""
        share = min(value / self.top, 1.0) if self.top > 0 else 0.0
        return HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM)

    def level(self, value: float, colour: str) -> str:
        """A dashed line at a value of the vertical axis."""
        y = self.y(value)
        return line((_LEFT, y), (WIDTH - _RIGHT, y), colour, dashed=True)

    def figure(self, parts: Iterable[str], legend: Sequence[tuple[str, str]] = ()) -> str:
        """The SVG with what was drawn in it; the legend has pairs of a name and a colour."""
        lines = [text(_LEFT, 14, self.title, "start", bold=True)]
        for value, label in self.up_marks:
            lines.append(line((_LEFT, self.y(value)), (WIDTH - _RIGHT, self.y(value)), "#e4e4e4"))
            lines.append(text(_LEFT - 6, self.y(value) + 3, label, "end"))
        for value, label in self.across_marks:
            lines.append(text(self.x(value), HEIGHT - 8, label, "middle"))
        lines += parts
        right = WIDTH - _RIGHT
        for name, colour in reversed(legend):
            lines.append(text(right, 14, name, "end", colour=colour))
            right -= 7 * len(name) + 10
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img"'
            f' aria-label="{escape(self.title)}" font-family="system-ui, sans-serif">'
            f"{''.join(lines)}</svg>"
        )


def text(
    x: float, y: float, words: str, anchor: str, *, bold: bool = False, colour: str = "#333"
) -> str:
    """A text; `anchor` is start, middle or end."""
    weight = ' font-weight="600"' if bold else ""
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="11"{weight}'
    return f'<text {where} fill="{colour}">{escape(words)}</text>'


def line(start: Point, end: Point, colour: str, *, dashed: bool = False) -> str:
    """A straight line."""
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    ends = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line {ends} stroke="{colour}"{dashes}/>'


def path(points: Sequence[Point], colour: str, *, dashed: bool = False) -> str:
    """A line through points."""
    dashes = ' stroke-dasharray="4 3"' if dashed else ""
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="1.5"{dashes}/>'


def dot(point: Point, colour: str) -> str:
    """A point."""
    return f'<circle cx="{point[0]:.1f}" cy="{point[1]:.1f}" r="2.5" fill="{colour}"/>'


def rectangle(
    corner: Point, width: float, height: float, colour: str, *, opacity: float = 1, title: str = ""
) -> str:
    """A filled rectangle, with a text that is shown where the pointer is."""
    where = f'x="{corner[0]:.1f}" y="{corner[1]:.1f}" width="{width:.1f}" height="{height:.1f}"'
    shown = f"<title>{escape(title)}</title>" if title else ""
    return f'<rect {where} fill="{colour}" fill-opacity="{opacity:.3f}">{shown}</rect>'
