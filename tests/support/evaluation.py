"""The value of an expression under one solution."""

from __future__ import annotations

from collections.abc import Mapping

from weir.sparql.algebra.expressions import Expression
from weir.sparql.algebra.scoping import variables_of
from weir.sparql.functions.evaluate import compiled, row_of
from weir.sparql.functions.values import to_text


def evaluate(expression: Expression, solution: Mapping[str, str | None]) -> str | None:
    """A term in N-Triples form, or None for an error.

    A variable that is missing in `solution`, or None, is unbound.
    """
    names = tuple(sorted(variables_of(expression)))
    value = compiled(expression, names)(row_of([solution.get(name) for name in names]))
    return None if value is None else to_text(value)
