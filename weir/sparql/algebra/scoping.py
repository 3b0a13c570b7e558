"""Which variables occur in patterns and expressions, also where solutions do not bind them."""

from __future__ import annotations

from typing import assert_never

from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable
from weir.sparql.algebra.patterns import Pattern, Project
from weir.sparql.algebra.traversal import arguments_of


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
    occurring = {*pattern.names}
    for expression in pattern.expressions:
        occurring |= _occurring_in(expression, in_subqueries=in_subqueries)
    if in_subqueries or not isinstance(pattern, Project):
        for child in pattern.children:
            occurring |= _occurring(child, in_subqueries=in_subqueries)
    return frozenset(occurring)


def _occurring_in(expression: Expression, *, in_subqueries: bool) -> frozenset[str]:
    match expression:
        case Variable(name):
            return frozenset({name})
        case Exists(pattern):
            return _occurring(pattern, in_subqueries=in_subqueries)
        case Constant() | Call():
            occurring = (
                _occurring_in(argument, in_subqueries=in_subqueries)
                for argument in arguments_of(expression)
            )
            return frozenset[str]().union(*occurring)
        case _:
            assert_never(expression)
