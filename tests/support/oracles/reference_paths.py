"""Property paths of the reference evaluator, by walking the graph.

https://www.w3.org/TR/sparql11-query/#PropertyPathEvaluation
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from weir.sparql.algebra.paths import (
    Alternative,
    Closure,
    Inverse,
    Link,
    Negated,
    Pairs,
    Path,
    Sequence,
    ZeroOrOne,
)

Triple = tuple[str, str, str]
Pair = tuple[str, str]


def pairs(path: Path, graph: frozenset[Triple], start: str | None, end: str | None) -> list[Pair]:
    """The bag of pairs that `path` connects in `graph`; an end that is a variable is None.

    A zero-length path connects a given end with itself, in the graph or not, and between two
    variables each subject and object of the graph with itself.
    """
    return [
        (a, b)
        for a, b in _pairs(path, graph, start, end)
        if start in (None, a) and end in (None, b)
    ]


def _pairs(
    path: Path, graph: frozenset[Triple], start: str | None, end: str | None
) -> Iterable[Pair]:
    match path:
        case Link(predicate):
            return [(s, o) for s, p, o in graph if p == predicate]
        case Inverse(inner):
            return [(a, b) for b, a in pairs(inner, graph, end, start)]
        case Sequence(first, second):
            return [
                (a, b)
                for a, middle in pairs(first, graph, start, None)
                for other, b in pairs(second, graph, None, end)
                if middle == other
            ]
        case Alternative(left, right):
            return [*pairs(left, graph, start, end), *pairs(right, graph, start, end)]
        case Negated(forward, inverse):
            steps = [(s, o) for s, p, o in graph if forward is not None and p not in forward]
            against = [(o, s) for s, p, o in graph if inverse is not None and p not in inverse]
            return steps + against
        case ZeroOrOne(inner):
            return {*pairs(inner, graph, start, end), *_no_steps(graph, start, end)}
        case Closure(inner, minimum):
            return _closure(inner, minimum, graph, start, end)
        case Pairs():
            raise ValueError("no query has such a path")
        case _:
            assert_never(path)


def _no_steps(graph: frozenset[Triple], start: str | None, end: str | None) -> set[Pair]:
    given = {term for term in (start, end) if term is not None}
    return {(term, term) for term in given or {t for s, _, o in graph for t in (s, o)}}


def _closure(
    inner: Path, minimum: int, graph: frozenset[Triple], start: str | None, end: str | None
) -> set[Pair]:
    if start is None and end is not None:
        # Walk from the given end.
        return {(a, b) for b, a in _closure(Inverse(inner), minimum, graph, end, None)}
    starts = {start} if start is not None else {t for s, _, o in graph for t in (s, o)}
    connected = _no_steps(graph, start, end) if minimum == 0 else set()
    for origin in starts:
        reached: set[str] = set()
        frontier = {origin}
        while frontier:
            following = {b for a in frontier for _, b in pairs(inner, graph, a, None)}
            frontier = following - reached
            reached |= following
        connected |= {(origin, term) for term in reached}
    return connected
