"""Box plots as SVG: a group of boxes per test case, a colour per policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from bench.replicas.boxes import Box

_WIDTH, _GAP, _HEIGHT = 12, 14, 220
_LEFT, _TOP, _BOTTOM = 46, 34, 24
_COLOURS = (
    "#4e79a7",
    "#f28e2b",
    "#59a14f",
    "#e15759",
    "#76b7b2",
    "#b07aa1",
    "#9c755f",
    "#bab0ac",
    "#edc948",
)


@dataclass(frozen=True, slots=True)
class Group:
    """The boxes of one test case, one per policy."""

    name: str
    boxes: Sequence[Box]


def box_plot(title: str, policies: Sequence[str], groups: Sequence[Group]) -> str:
    """A figure: whiskers from the least to the largest, the box of the quartiles, the median."""
    top = max((box.largest for group in groups for box in group.boxes), default=1.0) or 1.0
    across = len(policies) * _WIDTH + _GAP
    legend = 18 * ((len(policies) + 3) // 4)
    width = max(_LEFT + len(groups) * across + 10, 640)
    height = _TOP + legend + _HEIGHT + _BOTTOM
    base = _TOP + legend + _HEIGHT

    def y(value: float) -> float:
        return base - value / top * _HEIGHT

    parts = [_text(_LEFT, 18, title, "start", 13)]
    for number, policy in enumerate(policies):
        column, line = _LEFT + 145 * (number % 4), _TOP + 18 * (number // 4)
        parts.append(_rect(column, line - 8, 9, 9, _colour(number)))
        parts.append(_text(column + 14, line, policy, "start"))
    for tick in range(5):
        value = top * tick / 4
        parts.append(_line(_LEFT, y(value), width - 10, y(value), "#ddd"))
        parts.append(_text(_LEFT - 6, y(value) + 3, f"{value:.3g}", "end"))
    for number, group in enumerate(groups):
        left = _LEFT + number * across + _GAP / 2
        for place, box in enumerate(group.boxes):
            x, middle = left + place * _WIDTH, left + place * _WIDTH + _WIDTH / 2 - 1
            parts.append(_line(middle, y(box.least), middle, y(box.largest), "#555"))
            tall = max(y(box.first) - y(box.third), 1.0)
            parts.append(_rect(x, y(box.third), _WIDTH - 2, tall, _colour(place)))
            parts.append(_line(x, y(box.median), x + _WIDTH - 2, y(box.median), "#000"))
        parts.append(_text(left + len(policies) * _WIDTH / 2, base + 15, group.name, "middle"))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{body}\n</svg>\n'
    )


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _text(x: float, y: float, text: str, anchor: str, size: int = 10) -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
    return f"<text {where}>{escape(text)}</text>"


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{colour}"/>'


def _rect(x: float, y: float, width: float, height: float, colour: str) -> str:
    size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {size} fill="{colour}" stroke="#333" stroke-width="0.5"/>'
