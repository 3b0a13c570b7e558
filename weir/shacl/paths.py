"""Property paths of shapes: https://www.w3.org/TR/shacl/#property-paths."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import assert_never

from weir.shacl.errors import ShapesError
from weir.shacl.graph import ShapesGraph, is_blank, is_iri
from weir.shacl.vocabulary import FIRST, sh
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

_WRAPPED: dict[str, Callable[[Path], Path]] = {
    sh("inversePath"): Inverse,
    sh("zeroOrOnePath"): ZeroOrOne,
    sh("zeroOrMorePath"): lambda path: Closure(path, 0),
    sh("oneOrMorePath"): lambda path: Closure(path, 1),
}
_ALTERNATIVE = sh("alternativePath")


def read_path(graph: ShapesGraph, node: str, shape: str) -> Path:
    """The path that a node of a shapes graph is.

    Args:
        graph: the shapes graph.
        node: the value of `sh:path`.
        shape: whose path it is, for errors.

    Raises:
        ShapesSyntaxError: it is not a well-formed path.
    """
    return _read(graph, node, shape, frozenset())


def _read(graph: ShapesGraph, node: str, shape: str, inside: frozenset[str]) -> Path:
    if is_iri(node):
        return Link(node)
    if not is_blank(node) or node in inside:
        raise _malformed(graph, shape)
    inside |= {node}
    if graph.objects(node, FIRST):
        return _steps(graph, node, shape, inside, Sequence)
    forms = [
        predicate
        for predicate in graph.predicates(node)
        if predicate in _WRAPPED or predicate == _ALTERNATIVE
    ]
    if len(forms) != 1:
        raise _malformed(graph, shape)
    value = graph.one(node, forms[0], of=shape)
    assert value is not None, "there is such a triple"
    if forms[0] == _ALTERNATIVE:
        return _steps(graph, value, shape, inside, Alternative)
    return _WRAPPED[forms[0]](_read(graph, value, shape, inside))


def _steps(
    graph: ShapesGraph,
    head: str,
    shape: str,
    inside: frozenset[str],
    combine: type[Sequence | Alternative],
) -> Path:
    members = graph.members(head, shape, "path")
    if len(members) < 2:
        raise graph.ill_formed(shape, "path", "a list of a path has at least two members")
    return reduce(combine, (_read(graph, member, shape, inside) for member in members))


def _malformed(graph: ShapesGraph, shape: str) -> ShapesError:
    hint = "Write an IRI, a list, or one of sh:inversePath, sh:alternativePath, sh:zeroOrOnePath,"
    more = " sh:zeroOrMorePath, sh:oneOrMorePath."
    return graph.ill_formed(shape, "path", "it is not a path", hint + more)


def split(path: Path) -> tuple[bool, Path | None]:
    """Whether a path connects each node with itself by no step, and its rest, which takes steps.

    SPARQL finds paths without a step only from terms of the graph, SHACL from every focus node; so
    the rest has none: `*` becomes `+`, `?` is left out, a sequence becomes alternatives.
    """
    match path:
        case Link() | Negated() | Pairs():
            return False, path
        case Inverse(inner):
            empty, rest = split(inner)
            return empty, None if rest is None else Inverse(rest)
        case ZeroOrOne(inner):
            return True, split(inner)[1]
        case Closure(inner, minimum):
            empty, rest = split(inner)
            return empty or minimum == 0, None if rest is None else Closure(rest, 1)
        case Alternative(left, right):
            (first, *others), (second, *more) = split(left), split(right)
            return first or second, _alternatives(*others, *more)
        case Sequence(left, right):
            (first, before), (second, after) = split(left), split(right)
            both = None if before is None or after is None else Sequence(before, after)
            alone = (before if second else None, after if first else None)
            return first and second, _alternatives(both, *alone)
        case _:
            assert_never(path)


def _alternatives(*paths: Path | None) -> Path | None:
    steps = [path for path in paths if path is not None]
    return reduce(Alternative, steps) if steps else None


def sparql(path: Path) -> str:
    """The text of a path in SPARQL, with IRIs written out; one of a predicate alone is its IRI."""
    match path:
        case Link(predicate):
            return predicate
        case Inverse(inner):
            return f"^{_inside(inner)}"
        case Sequence(first, second):
            return f"{_inside(first)}/{_inside(second)}"
        case Alternative(left, right):
            return f"{_inside(left)}|{_inside(right)}"
        case ZeroOrOne(inner):
            return f"{_inside(inner)}?"
        case Closure(inner, minimum):
            return f"{_inside(inner)}{'+' if minimum else '*'}"
        case Negated() | Pairs():
            raise ValueError("shapes have no such paths")
        case _:
            assert_never(path)


def _inside(path: Path) -> str:
    return path.predicate if isinstance(path, Link) else f"({sparql(path)})"
