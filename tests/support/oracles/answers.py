"""Answers of engines that write the same thing in different ways, made comparable."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from jobs.sparql.functions.values import Number, parse
from tests.support.oracles.batch import Row, anonymous


def comparable(rows: Counter[Row]) -> Counter[Row]:
    """Rows with numbers by type and value, to 15 digits: pyoxigraph cuts quotients; without the
    labels of blank nodes.
    """
    coarse: Counter[Row] = Counter()
    for row, count in anonymous(rows).items():
        coarse[tuple(map(_comparable_term, row))] += count
    return coarse


@lru_cache(maxsize=10_000)
def _comparable_term(term: str | None) -> str | None:
    if term is None or not term.startswith('"'):
        return term
    value = parse(term)
    return f"{value.type} {float(value.value):.15g}" if isinstance(value, Number) else term
