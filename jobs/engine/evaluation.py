"""The SQL function `SPARQL_EVAL(expression text, terms) -> term or null` over Arrow columns."""

from __future__ import annotations

import pyarrow as pa

from jobs.sparql.wire import evaluate_row


def evaluate_batch(
    expressions: pa.Array,  # type: ignore[type-arg]
    terms: pa.Array,  # type: ignore[type-arg]
) -> pa.StringArray:
    """Evaluate a column of expression texts over a column of term lists."""
    pairs = zip(expressions.to_pylist(), terms.to_pylist(), strict=True)
    values = [evaluate_row(str(text), row or ()) for text, row in pairs]
    return pa.array(values, pa.string())
