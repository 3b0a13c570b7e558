"""Which variables a pattern has: https://www.w3.org/TR/sparql11-query/#variableScope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from jobs.sparql.algebra.expressions import Variable, variables_of
from jobs.sparql.algebra.patterns import (
    Bgp,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Minus,
    Node,
    PathPattern,
    Pattern,
    Project,
    Reduced,
    Slice,
    Union,
    Values,
)


def in_scope(pattern: Pattern) -> tuple[str, ...]:
    """The variables that solutions of `pattern` may bind, in order of appearance, each once.

    Blank nodes and what translation adds (names that begin with `_:`) are among them.
    """
    match pattern:
        case Bgp(patterns):
            names: Iterable[str] = (name for p in patterns for name in p.variables)
        case PathPattern(subject, _, object_):
            names = _named(subject, object_)
        case Values(variables, _) | Project(variables, _):
            names = variables
        case Join(left, right) | LeftJoin(left, right, _) | Union(left, right):
            names = (*in_scope(left), *in_scope(right))
        case Minus(left, _):
            names = in_scope(left)
        case Graph(name, inner):
            names = (*_named(name), *in_scope(inner))
        case Extend(inner, variable, _):
            names = (*in_scope(inner), variable)
        case Group(variables, aggregates, _):
            names = (*variables, *(name for name, _ in aggregates))
        case Slice(inner, _, _, _) | Filter(_, inner) | Distinct(inner) | Reduced(inner):
            names = in_scope(inner)
        case _:
            assert_never(pattern)
    return tuple(dict.fromkeys(names))


def mentioned(pattern: Pattern) -> frozenset[str]:
    """All variables that occur anywhere in `pattern`, in scope or not."""
    return frozenset(_mentions(pattern))


def is_hidden(name: str) -> bool:
    """Whether a variable is a blank node or one that translation adds: no query can name it."""
    return name.startswith("_:")


def _named(*nodes: Node) -> tuple[str, ...]:
    return tuple(node.name for node in nodes if isinstance(node, Variable))


def _mentions(pattern: Pattern) -> Iterator[str]:
    match pattern:
        case Bgp() | PathPattern() | Values():
            yield from in_scope(pattern)
        case Join(left, right) | Union(left, right) | Minus(left, right):
            yield from _mentions(left)
            yield from _mentions(right)
        case LeftJoin(left, right, condition):
            yield from _mentions(left)
            yield from _mentions(right)
            yield from variables_of(condition) if condition is not None else ()
        case Graph(graph, inner):
            yield from _named(graph)
            yield from _mentions(inner)
        case Extend(inner, variable, expression):
            yield variable
            yield from variables_of(expression)
            yield from _mentions(inner)
        case Group(variables, aggregates, inner):
            yield from variables
            for name, aggregate in aggregates:
                yield name
                yield from variables_of(aggregate.argument) if aggregate.argument else ()
            yield from _mentions(inner)
        case Slice(inner, keys, _, _):
            for key in keys:
                yield from variables_of(key.expression)
            yield from _mentions(inner)
        case Filter(condition, inner):
            yield from variables_of(condition)
            yield from _mentions(inner)
        case Project(variables, inner):
            yield from variables
            yield from _mentions(inner)
        case Distinct(inner) | Reduced(inner):
            yield from _mentions(inner)
        case _:
            assert_never(pattern)
