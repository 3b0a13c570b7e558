"""Property paths as frozen values: https://www.w3.org/TR/sparql11-query/#propertypaths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from weir.sparql.algebra.patterns import Node, Pattern


@dataclass(frozen=True, slots=True)
class Link:
    """One step along a predicate, an IRI in N-Triples form."""

    predicate: str


@dataclass(frozen=True, slots=True)
class Inverse:
    """The path from object to subject."""

    path: Path


@dataclass(frozen=True, slots=True)
class Sequence:
    """One path after another."""

    first: Path
    second: Path


@dataclass(frozen=True, slots=True)
class Alternative:
    """Either path; a pair that both connect counts twice."""

    left: Path
    right: Path


@dataclass(frozen=True, slots=True)
class Negated:
    """One step along any predicate but those of `forward`, or against any but those of `inverse`.

    None: no step in that direction at all; `!(^ex:p)` has no forward step.
    """

    forward: tuple[str, ...] | None
    inverse: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class ZeroOrOne:
    """The path, or a zero-length path; each pair once."""

    path: Path


@dataclass(frozen=True, slots=True)
class Closure:
    """The path any number of times, at least `minimum` (0 or 1); each pair once."""

    path: Path
    minimum: int


@dataclass(frozen=True, slots=True)
class Pairs:
    """One step from `start` to `end` for each solution of a pattern; no query can write it.

    An end is a variable that each solution binds, or a constant.
    """

    start: Node
    pattern: Pattern
    end: Node


Path = Link | Inverse | Sequence | Alternative | Negated | ZeroOrOne | Closure | Pairs


def may_have_length_zero(path: Path, *, both_ends: bool = False) -> bool:
    """Whether `path` connects a term outside the graph with itself, if it is given as one end.

    With `both_ends`, if it is given as both: then a sequence does, if both its parts do. Of a
    sequence with one given end, the term between its parts is one of the graph.
    """
    match path:
        case ZeroOrOne():
            return True
        case Closure(inner, minimum):
            return minimum == 0 or may_have_length_zero(inner)
        case Inverse(inner):
            return may_have_length_zero(inner, both_ends=both_ends)
        case Alternative(left, right):
            sides = (left, right)
            return any(may_have_length_zero(side, both_ends=both_ends) for side in sides)
        case Sequence(first, second):
            return both_ends and may_have_length_zero(first) and may_have_length_zero(second)
        case Link() | Negated() | Pairs():
            return False
        case _:
            assert_never(path)
