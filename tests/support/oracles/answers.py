"""Answers as bags of rows, in a form in which those of different engines are compared."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from weir.sparql.functions.values import Number, parse

Row = tuple[str | None, ...]
"""Terms in N-Triples form; None is unbound."""

TRUE, FALSE = (
    f'"{word}"^^<http://www.w3.org/2001/XMLSchema#boolean>' for word in ("true", "false")
)


def comparable(rows: Counter[Row]) -> Counter[Row]:
    """Rows with numbers by type and value, to 15 digits, and without the labels of blank nodes.

    pyoxigraph cuts quotients off, and engines write the same number in different ways.
    """
    coarse: Counter[Row] = Counter()
    for row, count in anonymous(rows).items():
        coarse[tuple(map(_comparable_term, row))] += count
    return coarse


def anonymous(rows: Counter[Row]) -> Counter[Row]:
    """`rows` with every blank node called `_:`, as no two engines use the same labels."""
    hidden: Counter[Row] = Counter()
    for row, count in rows.items():
        hidden[tuple("_:" if term and term.startswith("_:") else term for term in row)] += count
    return hidden


@lru_cache(maxsize=10_000)
def _comparable_term(term: str | None) -> str | None:
    if term is None or not term.startswith('"'):
        return term
    value = parse(term)
    return f"{value.type} {float(value.value):.15g}" if isinstance(value, Number) else term
