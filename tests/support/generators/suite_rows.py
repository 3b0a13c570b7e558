"""Rows with the columns of suites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from weir.expectations.suite import Suite

BOOLEANS = (
    *("is_set", "is_total"),
    *("is_new", "is_over", "is_abandoned", "is_declared"),
    *("is_member", "has_links", "has_difference"),
)
FLOATS = (
    *("max_late_share", "max_change"),
    *("spent_seconds", "seconds_budget", "gap", "pause", "waited"),
    *("seconds_used", "found_seconds_used", "share_fresh", "min_fresh"),
    *("oldest_seconds", "median_seconds", "p95_seconds", "waiting_seconds", "error_after"),
)
NAMES = (
    *("node", "source", "position", "stream"),
    *("remote", "pattern", "key", "request_id", "host", "content", "found_content"),
    *("evaluation", "evaluation_before"),
    *("iri", "outcome", "digest", "found_digest", "fault"),
)
"""Columns of texts that are no terms."""
_TYPES = {
    "terms": pa.list_(pa.string()),
    **dict.fromkeys(BOOLEANS, pa.bool_()),
    **dict.fromkeys(FLOATS, pa.float64()),
    **dict.fromkeys(("scope", "graph", "subject", "predicate", "object"), pa.string()),
    **dict.fromkeys(("form", "status", "url", *NAMES), pa.string()),
}


def table(suites: Sequence[Suite], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The rows; each has all columns of the suites, and `scope`."""
    columns = dict.fromkeys(("scope", *(name for suite in suites for name in suite.columns)))
    schema = pa.schema([(name, _TYPES.get(name, pa.int64())) for name in columns])
    return pa.table({name: [row[name] for row in rows] for name in columns}, schema=schema)
