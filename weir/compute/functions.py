"""The engine's SQL functions over Arrow columns, one value per row.

SPARQL_EVAL(expression text, terms) -> term, or null for an error
SPARQL_SORT_KEY(term) -> text in the order of ORDER BY
SPARQL_AGGREGATE("NAME separator", ["multiplicity term", ..]) -> term, or null for an error

Time and memory of a call are limited (`EvaluationLimits`).
"""

from __future__ import annotations

import math
from time import monotonic
from typing import TYPE_CHECKING

import pyarrow as pa

from weir.sparql.functions.aggregates import aggregate
from weir.sparql.functions.evaluation_limits import EvaluationLimits, evaluated_within
from weir.sparql.functions.ordering import sort_key
from weir.sparql.functions.serialization import evaluate_row

if TYPE_CHECKING:
    from weir.settings import Limits

EVALUATE = "SPARQL_EVAL"
SORT_KEY = "SPARQL_SORT_KEY"
AGGREGATE = "SPARQL_AGGREGATE"

_DEFAULT = EvaluationLimits()


def limits_of(limits: Limits) -> EvaluationLimits:
    """The limits of a call by the configuration, without a time limit."""
    return EvaluationLimits(limits.literal_length, limits.query_bytes)


def evaluate_batch(
    expressions: pa.Array,  # type: ignore[type-arg]
    terms: pa.Array,  # type: ignore[type-arg]
    limits: EvaluationLimits = _DEFAULT,
) -> pa.StringArray:
    """Evaluate a column of expression texts over a column of term lists.

    Equal rows are evaluated once, since a value depends on its row alone.

    Raises:
        LimitExceeded: the evaluation exceeds `limits`.
    """
    known: dict[tuple[str, tuple[str | None, ...]], str | None] = {}
    values: list[str | None] = []
    length = 0
    deadline = math.inf if limits.deadline is None else limits.deadline
    most = limits.values_length
    with evaluated_within(limits):
        for text, row in zip(expressions.to_pylist(), terms.to_pylist(), strict=True):
            key = (str(text), tuple(row or ()))
            if key not in known:
                known[key] = evaluate_row(*key)
                if monotonic() > deadline:
                    limits.check_time()
            value = known[key]
            if value is not None:
                length += len(value)
                if length > most:
                    limits.check_values(length)
            values.append(value)
    return pa.array(values, pa.string())


def sort_keys(terms: pa.Array) -> pa.StringArray:  # type: ignore[type-arg]
    """The sort keys of a column of terms; null is an unbound variable."""
    return pa.array([sort_key(term) for term in terms.to_pylist()], pa.string())


def aggregate_batch(
    specifications: pa.Array,  # type: ignore[type-arg]
    items: pa.Array,  # type: ignore[type-arg]
    limits: EvaluationLimits = _DEFAULT,
) -> pa.StringArray:
    """Aggregate a column of lists of `multiplicity term`; an empty term means an error.

    Raises:
        LimitExceeded: the aggregation exceeds `limits`.
    """
    aggregates: list[str | None] = []
    length = 0
    with evaluated_within(limits):
        for specification, listed in zip(
            specifications.to_pylist(), items.to_pylist(), strict=True
        ):
            name, _, separator = str(specification).partition(" ")
            values = [_value(str(item)) for item in listed or ()]
            value = aggregate(name, values, separator)
            length += len(value or "")
            limits.check_values(length)
            limits.check_time()
            aggregates.append(value)
    return pa.array(aggregates, pa.string())


def _value(item: str) -> tuple[str | None, int]:
    multiplicity, _, term = item.partition(" ")
    return term or None, int(multiplicity)
