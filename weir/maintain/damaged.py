"""Queries with a table whose log cannot be read: they fail by themselves, and the others go on."""

from __future__ import annotations

from collections.abc import Sequence

from weir.definitions.definition import Definition
from weir.lake.damage.storage_errors import DamagedTable
from weir.maintain.derived_graphs import DerivedGraph
from weir.maintain.emitted_streams import OutputStream
from weir.progress.completion import Completion


def damaged_queries(
    completion: Completion, queries: Sequence[Definition]
) -> dict[str, DamagedTable]:
    """By name those of some queries with a log that cannot be read, that of what they give too.

    As `Completion.damaged` it looks at the newest commit only.
    """
    damaged = completion.damaged(query.name for query in queries)
    for query in queries:
        output = OutputStream.of(query) or DerivedGraph.of(query)
        if output is None or query.name in damaged:
            continue
        try:
            completion.lake.version(output.table.name)
        except DamagedTable as error:
            damaged[query.name] = error
    return damaged
