"""What a program reads of its streams: how far it looks back, and the windows of its rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from weir.lars.syntax import (
    At,
    Box,
    CountedAtom,
    Diamond,
    FilteredTupleWindow,
    HoppingWindow,
    Literal,
    Place,
    PointWindow,
    Rule,
    TimeWindow,
    TupleWindow,
    Window,
)


@dataclass(frozen=True, slots=True)
class LookBack:
    """How much of the streams the answer at a point t depends on.

    Attributes:
        points: on the events from t - points to t; None for all, as `@T` without a window needs.
        tuples: also on the last `tuples` tuples up to t, of all and of those that a window counts.
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
        return f"{self.window} {self.modality} {self.predicate}"


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
            case TimeWindow() | HoppingWindow() as window:
                points = None if points is None else max(points, reach(window))
            case TupleWindow(size) | FilteredTupleWindow(size):
                tuples = max(tuples, size)
            case None:
                points = points if literal.modality is None else None
    return LookBack(points, tuples)


def reach(window: PointWindow) -> int:
    """How many points before t a window may have; its pivot is less than `step` before t."""
    return window.before + window.step - 1


def window_reads(rules: Sequence[Rule]) -> tuple[WindowRead, ...]:
    """The windows of the rules in the order of the text; equal windows are listed once."""
    places: dict[tuple[str, Window, str], list[Place]] = {}
    for literal in _literals(rules):
        if literal.window is not None:
            key = (literal.atom.predicate, literal.window, _modality(literal))
            places.setdefault(key, []).append(literal.place)
    return tuple(WindowRead(*key, tuple(of_key)) for key, of_key in places.items())


def counted_reads(rules: Sequence[Rule]) -> Mapping[tuple[CountedAtom, ...], tuple[str, ...]]:
    """The predicates that tuple windows read, by what the windows count."""
    reads: dict[tuple[CountedAtom, ...], dict[str, None]] = {}
    for literal in _literals(rules):
        if isinstance(literal.window, TupleWindow | FilteredTupleWindow):
            reads.setdefault(literal.window.counted, {})[literal.atom.predicate] = None
    return {counted: tuple(names) for counted, names in reads.items()}


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
