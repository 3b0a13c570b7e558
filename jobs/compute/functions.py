"""The SQL functions of the engine, over Arrow columns; one row in, one value out.

SPARQL_EVAL(expression text, terms) -> term, or null for an error
SPARQL_SORT_KEY(term) -> text in the order of ORDER BY
SPARQL_AGGREGATE("NAME separator", ["multiplicity term", ..]) -> term, or null for an error
"""

from __future__ import annotations

import pyarrow as pa

from jobs.sparql.functions.aggregates import aggregate
from jobs.sparql.functions.ordering import sort_key
from jobs.sparql.functions.serialization import evaluate_row

EVALUATE = "SPARQL_EVAL"
SORT_KEY = "SPARQL_SORT_KEY"
AGGREGATE = "SPARQL_AGGREGATE"


def evaluate_batch(
    expressions: pa.Array,  # type: ignore[type-arg]
    terms: pa.Array,  # type: ignore[type-arg]
) -> pa.StringArray:
    """Evaluate a column of expression texts over a column of term lists.

    Equal rows are evaluated once: a value follows from the row alone.
    """
    known: dict[tuple[str, tuple[str | None, ...]], str | None] = {}
    values: list[str | None] = []
    for text, row in zip(expressions.to_pylist(), terms.to_pylist(), strict=True):
        key = (str(text), tuple(row or ()))
        if key not in known:
            known[key] = evaluate_row(*key)
        values.append(known[key])
    return pa.array(values, pa.string())


def sort_keys(terms: pa.Array) -> pa.StringArray:  # type: ignore[type-arg]
    """The sort keys of a column of terms; null is an unbound variable."""
    return pa.array([sort_key(term) for term in terms.to_pylist()], pa.string())


def aggregate_batch(
    specifications: pa.Array,  # type: ignore[type-arg]
    items: pa.Array,  # type: ignore[type-arg]
) -> pa.StringArray:
    """Aggregate a column of lists of `multiplicity term`; an empty term is an error."""
    found = []
    for specification, listed in zip(specifications.to_pylist(), items.to_pylist(), strict=True):
        name, _, separator = str(specification).partition(" ")
        values = [_value(str(item)) for item in listed or ()]
        found.append(aggregate(name, values, separator))
    return pa.array(found, pa.string())


def _value(item: str) -> tuple[str | None, int]:
    multiplicity, _, term = item.partition(" ")
    return term or None, int(multiplicity)
