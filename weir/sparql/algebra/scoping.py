"""Which variables a pattern has: https://www.w3.org/TR/sparql11-query/#variableScope."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.algebra.patterns import (
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
    Service,
    Slice,
    Union,
    Values,
)
from weir.sparql.algebra.traversal import arguments_of, children, expressions_of


def in_scope(pattern: Pattern) -> tuple[str, ...]:
    """The variables that solutions of `pattern` may bind, in order of appearance, each once.

    Blank nodes and the variables that translation adds (`is_hidden`) are among them.
    """
    match pattern:
        case Project() | Group():
            names: Iterable[str] = _own_variables(pattern)
        case Minus(left, _):
            names = in_scope(left)
        case Extend(inner, variable):
            names = (*in_scope(inner), variable)
        case (
            Bgp()
            | PathPattern()
            | Values()
            | Service()
            | Graph()
            | Join()
            | LeftJoin()
            | Union()
            | Slice()
            | Filter()
            | Distinct()
            | Reduced()
        ):
            inside = (name for child in children(pattern) for name in in_scope(child))
            names = (*_own_variables(pattern), *inside)
        case _:
            assert_never(pattern)
    return tuple(dict.fromkeys(names))


def certainly_bound(pattern: Pattern) -> frozenset[str]:
    """The variables that every solution of `pattern` binds; there may be more."""
    match pattern:
        case Bgp() | PathPattern():
            return frozenset(in_scope(pattern))
        case Values(variables, rows):
            places = range(len(variables))
            return frozenset(variables[i] for i in places if all(row[i] for row in rows))
        case Service():
            return pattern.certain
        case Join(left, right):
            return certainly_bound(left) | certainly_bound(right)
        case LeftJoin(left, _) | Minus(left, _):
            return certainly_bound(left)
        case Union(left, right):
            return certainly_bound(left) & certainly_bound(right)
        case Graph(name, inner):
            return certainly_bound(inner) | frozenset(_variables(name))
        case Project(variables, inner) | Group(variables, _, inner):
            return certainly_bound(inner) & frozenset(variables)
        case Extend() | Slice() | Filter() | Distinct() | Reduced():
            # The expression of an Extend may be an error.
            return certainly_bound(pattern.pattern)
        case _:
            assert_never(pattern)


def all_variables(pattern: Pattern) -> frozenset[str]:
    """Every variable that occurs in `pattern`, in scope or not, in an EXISTS anywhere inside."""
    return _occurring(pattern, in_subqueries=True)


def free_variables(pattern: Pattern) -> frozenset[str]:
    """`all_variables` but those local to a subquery, which does not project them.

    So these are the variables whose values EXISTS substitutes in its pattern.
    """
    return _occurring(pattern, in_subqueries=False)


def variables_of(expression: Expression) -> frozenset[str]:
    """Every variable that occurs in `expression`, in an EXISTS anywhere inside."""
    return _occurring_in(expression, in_subqueries=True)


def free_variables_of(expression: Expression) -> frozenset[str]:
    """`variables_of` but those local to a subquery of an EXISTS."""
    return _occurring_in(expression, in_subqueries=False)


def is_hidden(name: str) -> bool:
    """Whether a variable is a blank node or one that translation adds: no query can name it."""
    return name.startswith("_:")


def _occurring(pattern: Pattern, *, in_subqueries: bool) -> frozenset[str]:
    found = set(_own_variables(pattern))
    for expression in expressions_of(pattern):
        found |= _occurring_in(expression, in_subqueries=in_subqueries)
    if in_subqueries or not isinstance(pattern, Project):
        for child in children(pattern):
            found |= _occurring(child, in_subqueries=in_subqueries)
    return frozenset(found)


def _occurring_in(expression: Expression, *, in_subqueries: bool) -> frozenset[str]:
    match expression:
        case Variable(name):
            return frozenset({name})
        case Exists(pattern):
            return _occurring(pattern, in_subqueries=in_subqueries)
        case Constant() | Call():
            found = (
                _occurring_in(argument, in_subqueries=in_subqueries)
                for argument in arguments_of(expression)
            )
            return frozenset[str]().union(*found)
        case _:
            assert_never(expression)


def _own_variables(pattern: Pattern) -> tuple[str, ...]:
    """The variables that `pattern` itself names, outside of its expressions and `children`."""
    match pattern:
        case Bgp(triples):
            return tuple(name for triple in triples for name in triple.variables)
        case PathPattern(subject, _, object_):
            return _variables(subject, object_)
        case Values(variables, _) | Project(variables, _):
            return variables
        case Service(variables=variables, flags=flags):
            return (*variables, *(flag for _, flag in flags))
        case Graph(name, _):
            return _variables(name)
        case Extend(_, variable, _):
            return (variable,)
        case Group(keys, aggregates, _):
            return (*keys, *(name for name, _ in aggregates))
        case Join() | LeftJoin() | Union() | Minus() | Slice() | Filter() | Distinct() | Reduced():
            return ()
        case _:
            assert_never(pattern)


def _variables(*nodes: Node) -> tuple[str, ...]:
    return tuple(node.name for node in nodes if isinstance(node, Variable))
