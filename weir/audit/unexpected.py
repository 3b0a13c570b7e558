"""Runs a query that should have no rows."""

from __future__ import annotations

import json

from weir.compute.engine import Engine
from weir.compute.relations import LakeQuery
from weir.compute.sql import rows_of, select

_EXAMPLES = 2


def unexpected(engine: Engine, name: str, query: LakeQuery) -> tuple[int, list[str]]:
    """The number of rows of a query, and the first of them as JSON arrays.

    Args:
        engine: has the tables.
        name: of the relation that is made.
        query: the query.
    """
    with engine.scope() as own:
        own.query(name, query, "cache")
        total = own.count(name)
        if not total:
            return 0, []
        rows = own.rows(select("*", from_=rows_of(name)).limit(_EXAMPLES))
    return total, [json.dumps([*row], default=str) for row in rows]
