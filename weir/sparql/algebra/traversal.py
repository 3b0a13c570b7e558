"""Traversal of algebra values: the parts of each pattern and expression, and rebuilding them.

A new kind of pattern gets its case in `children`, `map_children` and `expressions_of`; code that
only passes through a pattern calls these and needs no case of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
    PathPattern,
    Pattern,
    Project,
    Reduced,
    Service,
    Slice,
    Union,
    Values,
)


def children(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns that `pattern` is an operation on, from left to right; not those of EXISTS."""
    match pattern:
        case Bgp() | PathPattern() | Values() | Service():
            return ()
        case Join() | LeftJoin() | Union() | Minus():
            return (pattern.left, pattern.right)
        case Graph() | Extend() | Group() | Slice() | Filter() | Project() | Distinct() | Reduced():
            return (pattern.pattern,)
        case _:
            assert_never(pattern)


def map_children(pattern: Pattern, change: Callable[[Pattern], Pattern]) -> Pattern:
    """The same operation on the changed `children`."""
    match pattern:
        case Bgp() | PathPattern() | Values() | Service():
            return pattern
        case Join() | LeftJoin() | Union() | Minus():
            return replace(pattern, left=change(pattern.left), right=change(pattern.right))
        case Graph() | Extend() | Group() | Slice() | Filter() | Project() | Distinct() | Reduced():
            return replace(pattern, pattern=change(pattern.pattern))
        case _:
            assert_never(pattern)


def expressions_of(pattern: Pattern) -> tuple[Expression, ...]:
    """The expressions that `pattern` itself evaluates; not those of its `children`."""
    match pattern:
        case LeftJoin():
            return () if pattern.condition is None else (pattern.condition,)
        case Filter():
            return (pattern.condition,)
        case Extend():
            return (pattern.expression,)
        case Group():
            arguments = (aggregate.argument for _, aggregate in pattern.aggregates)
            return tuple(argument for argument in arguments if argument is not None)
        case Slice():
            return tuple(key.expression for key in pattern.keys)
        case (
            Bgp()
            | PathPattern()
            | Values()
            | Service()
            | Join()
            | Union()
            | Minus()
            | Graph()
            | Project()
            | Distinct()
            | Reduced()
        ):
            return ()
        case _:
            assert_never(pattern)


def map_expressions(pattern: Pattern, change: Callable[[Expression], Expression]) -> Pattern:
    """The same operation with the changed `expressions_of`."""
    match pattern:
        case LeftJoin() | Filter():
            if pattern.condition is None:
                return pattern
            return replace(pattern, condition=change(pattern.condition))
        case Extend():
            return replace(pattern, expression=change(pattern.expression))
        case Group():
            aggregates = tuple(
                (
                    name,
                    each
                    if each.argument is None
                    else replace(each, argument=change(each.argument)),
                )
                for name, each in pattern.aggregates
            )
            return replace(pattern, aggregates=aggregates)
        case Slice():
            keys = tuple(replace(each, expression=change(each.expression)) for each in pattern.keys)
            return replace(pattern, keys=keys)
        case (
            Bgp()
            | PathPattern()
            | Values()
            | Service()
            | Join()
            | Union()
            | Minus()
            | Graph()
            | Project()
            | Distinct()
            | Reduced()
        ):
            return pattern
        case _:
            assert_never(pattern)


def arguments_of(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that `expression` is a call on; EXISTS has a pattern and no arguments."""
    match expression:
        case Call(_, arguments):
            return arguments
        case Variable() | Constant() | Exists():
            return ()
        case _:
            assert_never(expression)


def map_arguments(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same call on the changed `arguments_of`."""
    match expression:
        case Call(function, arguments):
            return Call(function, tuple(map(change, arguments)))
        case Variable() | Constant() | Exists():
            return expression
        case _:
            assert_never(expression)


def has_exists(expression: Expression) -> bool:
    """Whether EXISTS occurs in `expression`."""
    return isinstance(expression, Exists) or any(map(has_exists, arguments_of(expression)))


def map_variables(expression: Expression, rename: Callable[[str], str]) -> Expression:
    """`expression` with every variable renamed.

    Raises:
        ValueError: it contains EXISTS; the scopes of a pattern are not this function's to respect.
    """
    match expression:
        case Variable(name):
            return Variable(rename(name))
        case Exists():
            raise ValueError("EXISTS is a pattern, and not renamed with its expression")
        case Constant() | Call():
            return map_arguments(expression, lambda argument: map_variables(argument, rename))
        case _:
            assert_never(expression)
