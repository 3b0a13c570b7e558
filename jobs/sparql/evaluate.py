"""The one evaluator of SPARQL expressions."""

from __future__ import annotations

from collections.abc import Mapping

from jobs.sparql.expressions import Expression


def evaluate(expression: Expression, solution: Mapping[str, str | None]) -> str | None:
    """The value of `expression` under `solution`: a term in N-Triples form, or None for an error.

    A variable that `solution` has not, or has as None, is unbound.
    """
    raise NotImplementedError


def effective_boolean_value(term: str | None) -> bool | None:
    """The effective boolean value of a term; None for an error.

    https://www.w3.org/TR/sparql11-query/#ebv
    """
    raise NotImplementedError


def holds(expression: Expression, solution: Mapping[str, str | None]) -> bool:
    """Whether FILTER keeps `solution`: the effective boolean value is true, and no error."""
    raise NotImplementedError
