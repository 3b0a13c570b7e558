"""The reserved graphs, which have the replicas of remote data.

They are part of no dataset: only SERVICE blocks of a query read them, the union of all graphs does
not have their triples, and no source may write them.
"""

from __future__ import annotations

from urllib.parse import quote

_PREFIX = "urn:weir:replica:"
FIRST, AFTER_LAST = f"<{_PREFIX}", f"<{_PREFIX[:-1]};"
"""A graph is reserved if its text is at least the first and less than the second of these."""


def is_reserved(graph: str) -> bool:
    """Whether a graph, in N-Triples form, is reserved."""
    return FIRST <= graph < AFTER_LAST


def replica_graph(remote: str) -> str:
    """The graph with the replica of a remote, both as IRIs in N-Triples form."""
    return f"<{_PREFIX}{quote(remote[1:-1], safe='')}>"


def replica_predicate(pattern: str, variable: str = "") -> str:
    """The predicate from a row of a pattern's replica to the value of a variable.

    Without a variable, it is the predicate that marks a row; its object is `MARK`.

    Args:
        pattern: the id of the pattern.
        variable: the name of the variable.
    """
    return f"<{_PREFIX}{pattern}#{quote(variable, safe='')}>"


MARK = '"row"'
"""The object that marks a row, for a pattern without a variable that every solution binds."""
