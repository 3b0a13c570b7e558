"""Rows with the columns of suites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from expectations.suite import Suite

_TYPES = {
    "terms": pa.list_(pa.string()),
    "is_set": pa.bool_(),
    "is_total": pa.bool_(),
    "max_late_share": pa.float64(),
    **dict.fromkeys(("scope", "graph", "subject", "predicate", "object"), pa.string()),
    **dict.fromkeys(("node", "form", "source", "position", "stream"), pa.string()),
}


def table(suites: Sequence[Suite], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The rows; each has all columns of the suites, and `scope`."""
    columns = dict.fromkeys(("scope", *(name for suite in suites for name in suite.columns)))
    schema = pa.schema([(name, _TYPES.get(name, pa.int64())) for name in columns])
    return pa.table({name: [row[name] for row in rows] for name in columns}, schema=schema)
