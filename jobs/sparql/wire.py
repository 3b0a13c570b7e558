"""Expressions as compact text: what the SQL function `SPARQL_EVAL(text, terms)` takes."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.sparql.expressions import Expression


def encode(expression: Expression, variables: Sequence[str]) -> str:
    """`expression` as text; `variables[i]` becomes slot i.

    Raises:
        ValueError: the expression has a variable that is not among `variables`.
    """
    raise NotImplementedError


def decode(text: str) -> Expression:
    """The expression that `encode` wrote; slot i is the variable named `str(i)`."""
    raise NotImplementedError


def evaluate_row(text: str, terms: Sequence[str | None]) -> str | None:
    """The value of an encoded expression where slot i holds `terms[i]` (null = unbound).

    Terms are in N-Triples form, the value too; null = SPARQL error.
    """
    raise NotImplementedError


def holds_row(text: str, terms: Sequence[str | None]) -> bool:
    """Whether the effective boolean value of an encoded expression is true; an error is not."""
    raise NotImplementedError
