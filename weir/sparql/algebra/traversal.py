"""Traversal of expressions: the parts of each, and rebuilding them.

Patterns have `children`, `expressions` and their `map_` themselves (`patterns.Operation`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable


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
