"""The reserved graphs, which hold the replicas of remote data.

They are part of no dataset: no pattern of a query reads them but the blocks of SERVICE, the union
of all graphs does not have their triples, and no source may write them.
"""

from __future__ import annotations

from urllib.parse import quote

_PREFIX = "urn:weir:replica:"
FIRST, AFTER_LAST = f"<{_PREFIX}", f"<{_PREFIX[:-1]};"
"""Reserved are the graphs from the first of these texts on that are before the second."""


def is_reserved(graph: str) -> bool:
    """Whether a graph, in N-Triples form, is reserved."""
    return FIRST <= graph < AFTER_LAST


def replica_graph(remote: str) -> str:
    """The graph with the replica of a remote; both IRIs are in N-Triples form."""
    return f"<{_PREFIX}{quote(remote[1:-1], safe='')}>"


def replica_predicate(pattern: str, variable: str = "") -> str:
    """The predicate from a row of a pattern's replica to the value of a variable.

    Without a variable it marks a row, whose object is then `MARK`.

    Args:
        pattern: the id of the pattern.
        variable: its name.
    """
    return f"<{_PREFIX}{pattern}#{quote(variable, safe='')}>"


MARK = '"row"'
"""What every row of a pattern has that binds no variable in every solution."""
