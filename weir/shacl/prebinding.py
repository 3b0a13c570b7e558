"""Variables of a query that have a value before it is evaluated.

https://www.w3.org/TR/shacl/#pre-binding
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from weir.shacl.formulas import beside
from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Group,
    LeftJoin,
    Node,
    PathPattern,
    Pattern,
    Project,
    TriplePattern,
    Values,
)
from weir.sparql.algebra.scoping import free_variables, free_variables_of

Bound = Mapping[str, Node]
"""What takes the place of a variable: another one, or a constant."""


def bound(pattern: Pattern, values: Bound) -> Pattern:
    """A pattern with values in the place of some of its variables."""
    pattern = pattern.map_children(lambda child: bound(child, values))
    pattern = pattern.map_expressions(lambda inner: bound_expression(inner, values))
    match pattern:
        case Bgp(patterns):
            return Bgp(tuple(_triple(triple, values) for triple in patterns))
        case PathPattern(subject, path, object_):
            return PathPattern(_node(subject, values), path, _node(object_, values))
        case Graph(name, inner):
            return Graph(_node(name, values), inner)
        case Project(variables, inner):
            return Project(_names(variables, values), inner)
        case Group():
            return replace(pattern, variables=_names(pattern.variables, values))
        case Extend(inner, variable, expression):
            (renamed,) = _names((variable,), values)
            return Extend(inner, renamed, expression)
        case _:
            return pattern


def bound_expression(expression: Expression, values: Bound) -> Expression:
    """An expression with values in the place of some of its variables."""
    match expression:
        case Variable(name):
            return values.get(name, expression)
        case Constant():
            return expression
        case Call("BOUND", (Variable(name),)) if isinstance(values.get(name), Constant):
            return Call("=", (values[name], values[name]))
        case Call(function, arguments):
            return Call(function, tuple(bound_expression(part, values) for part in arguments))
        case Exists(pattern):
            return Exists(bound(pattern, values))
        case _:
            assert_never(expression)


def _node(node: Node, values: Bound) -> Node:
    return values.get(node.name, node) if isinstance(node, Variable) else node


def _triple(triple: TriplePattern, values: Bound) -> TriplePattern:
    return TriplePattern(*(_node(node, values) for node in triple.nodes))


def _names(names: tuple[str, ...], values: Bound) -> tuple[str, ...]:
    """Names of variables, without those that have become constants."""
    nodes = (values.get(name, Variable(name)) for name in names)
    return tuple(node.name for node in nodes if isinstance(node, Variable))


def scoped(pattern: Pattern, name: str, scope: Pattern) -> Pattern:
    """A pattern whose expressions see a variable also where only `scope` binds it.

    Args:
        pattern: of a query.
        name: the variable.
        scope: binds it; joined with each part of the pattern whose expressions mention it and that
            does not bind it itself.
    """
    pattern = pattern.map_children(lambda child: scoped(child, name, scope))
    mentioned = any(name in free_variables_of(part) for part in pattern.expressions)
    match pattern:
        case Filter(_, inner) | Extend(inner, _, _) if mentioned and name not in inner.certain:
            return pattern.map_children(lambda child: beside(scope, child))
        case LeftJoin(left, right) if name not in left.certain and (
            mentioned or name in free_variables(right)
        ):
            # What is optional does not bind it for the solutions without a match.
            return replace(pattern, left=beside(scope, left))
        case Group(keys, _, inner):
            if name not in inner.certain:
                pattern = pattern.map_children(lambda child: beside(scope, child))
            # Aggregates are of the solutions of one focus node.
            return pattern if name in keys else replace(pattern, variables=(*keys, name))
        case _:
            return pattern


def matches(pattern: TriplePattern, triples: Iterable[tuple[str, str, str]]) -> Values:
    """The solutions of a triple pattern over some triples, as rows."""
    rows: dict[tuple[str, ...], None] = {}
    for triple in triples:
        solution: dict[str, str] = {}
        pairs = zip(pattern.nodes, triple, strict=True)
        if all(
            node.term == term
            if isinstance(node, Constant)
            else solution.setdefault(node.name, term) == term
            for node, term in pairs
        ):
            rows[tuple(solution[name] for name in pattern.variables)] = None
    return Values(pattern.variables, tuple(rows))
