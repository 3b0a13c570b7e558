"""The rows of a query that should have none."""

from __future__ import annotations

import json

from weir.compute.engine import Engine
from weir.compute.relations import LakeQuery
from weir.compute.sql import rows_of, select

_EXAMPLES = 2


def unexpected(engine: Engine, name: str, query: LakeQuery) -> tuple[int, list[str]]:
    """The number of rows, and the first of them as JSON arrays.

    Args:
        engine: has the tables; may be that of Spark.
        name: of the relation that is made.
        query: gives the rows.
    """
    with engine.scope() as own:
        own.query(name, query, "cache")
        found = own.count(name)
        if not found:
            return 0, []
        rows = own.rows(select("*", from_=rows_of(name)).limit(_EXAMPLES))
    return found, [json.dumps([*row], default=str) for row in rows]
