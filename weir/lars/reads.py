"""What a program reads of its streams: how far back it looks, and which windows rules share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from weir.lars.syntax import At, Box, Diamond, Literal, Place, Rule, TimeWindow, TupleWindow, Window


@dataclass(frozen=True, slots=True)
class LookBack:
    """How much of the streams decides the answer at a point t.

    Attributes:
        points: the events from t - points on; None for all, which `@T` without a window asks for.
        tuples: and the last so many tuples up to t.
    """

    points: int | None
    tuples: int


@dataclass(frozen=True, slots=True)
class WindowRead:
    """A window over the atoms of a predicate, and where the text has it.

    modality: `diamond`, `box` or `@`.
    """

    predicate: str
    window: Window
    modality: str
    places: tuple[Place, ...]

    def __str__(self) -> str:
        size = f"#{self.window.size}" if isinstance(self.window, TupleWindow) else self.window.size
        return f"win^{size} {self.modality} {self.predicate}"


def look_back(rules: Sequence[Rule], of_streams: Collection[str]) -> LookBack:
    """How far back rules look.

    Args:
        rules: of the program.
        of_streams: the predicates that are read from streams. What is derived exists at the point
            of its evaluation only (Definition 5), so windows over it read nothing of the past.
    """
    points: int | None = 0
    tuples = 0
    for literal in _literals(rules):
        if literal.atom.predicate not in of_streams:
            continue
        match literal.window:
            case TimeWindow(size):
                points = None if points is None else max(points, size)
            case TupleWindow(size):
                tuples = max(tuples, size)
            case None:
                points = points if literal.modality is None else None
    return LookBack(points, tuples)


def window_reads(rules: Sequence[Rule]) -> tuple[WindowRead, ...]:
    """The windows of the rules in the order of the text; one that several rules have, once."""
    places: dict[tuple[str, Window, str], list[Place]] = {}
    for literal in _literals(rules):
        if literal.window is not None:
            key = (literal.atom.predicate, literal.window, _modality(literal))
            places.setdefault(key, []).append(literal.place)
    return tuple(WindowRead(*key, tuple(found)) for key, found in places.items())


def _literals(rules: Sequence[Rule]) -> Iterator[Literal]:
    for rule in rules:
        yield from rule.literals


def _modality(literal: Literal) -> str:
    match literal.modality:
        case Diamond():
            return "diamond"
        case Box():
            return "box"
        case At() | None:
            return "@"
