"""What a program reads of its streams: how far it looks back, and the windows of its rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from weir.lars.syntax import At, Box, Diamond, Literal, Place, Rule, TimeWindow, TupleWindow, Window


@dataclass(frozen=True, slots=True)
class LookBack:
    """How much of the streams the answer at a point t depends on.

    Attributes:
        points: on the events from t - points to t; None for all, as `@T` without a window needs.
        tuples: also on the last `tuples` tuples up to t.
    """

    points: int | None
    tuples: int


@dataclass(frozen=True, slots=True)
class WindowRead:
    """A window over the atoms of a predicate, and its places in the text.

    Attributes:
        predicate: of the atoms.
        window: over them.
        modality: `diamond`, `box` or `@`.
        places: where the text has the window.
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
        of_streams: the predicates that are read from streams. A derived atom exists only at the
            point of its evaluation (Definition 5), so windows over it do not look back.
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
    """The windows of the rules in the order of the text; equal windows are listed once."""
    places: dict[tuple[str, Window, str], list[Place]] = {}
    for literal in _literals(rules):
        if literal.window is not None:
            key = (literal.atom.predicate, literal.window, _modality(literal))
            places.setdefault(key, []).append(literal.place)
    return tuple(WindowRead(*key, tuple(of_key)) for key, of_key in places.items())


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
