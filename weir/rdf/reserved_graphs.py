"""The reserved graphs: replicas of remote data, and documents that were found by following links.

A query reads them only where it says so: a replica by a SERVICE block, a traversal by its name. The
union of all graphs does not have their triples, `GRAPH ?g` not their names, and no source that is
declared in sources.yml may write them.
"""

from __future__ import annotations

import re
from urllib.parse import quote

_REPLICA, _WEB = "urn:weir:replica:", "urn:weir:web:"
REPLICAS, WEB = ((f"<{prefix}", f"<{prefix[:-1]};") for prefix in (_REPLICA, _WEB))
RANGES = (REPLICAS, WEB)
"""A graph is reserved if its text is at least the first and less than the second of one of these.

Ranges, so that files of other graphs can be skipped.
"""


_PART = re.compile(f"<{_WEB}([^:>]+)[:>]")


def is_reserved(graph: str) -> bool:
    """Whether a graph, in N-Triples form, is reserved."""
    return any(first <= graph < after for first, after in RANGES)


def web_graph(traversal: str) -> str:
    """The graph with all that the documents of a traversal say, as a set."""
    return f"<{_WEB}{traversal}>"


def document_graph(traversal: str, iri: str) -> str:
    """The graph with what a document of a traversal says."""
    return f"<{_WEB}{traversal}:{iri}>"


def about_graph(traversal: str, iri: str) -> str:
    """The graph that says which resources a document of a traversal was found for."""
    return f"<{_WEB}{traversal}:about:{iri}>"


def may_be_document(graph: str) -> bool:
    """Whether a graph, in N-Triples form, can be a document under its own IRI.

    What else a traversal stores, as `about:` and an IRI, is no document of it.
    """
    return graph.startswith("<http")


def traversal_of(graph: str) -> str | None:
    """The name of the traversal whose merge a graph is; None if it is none."""
    name = traversal_with(graph)
    return name if name is not None and graph == web_graph(name) else None


def traversal_with(graph: str) -> str | None:
    """The name of the traversal that has a graph, its merge or a part of it; None if none has."""
    match = _PART.match(graph)
    return None if match is None else match[1]


def parts_of_web(traversal: str) -> tuple[str, str]:
    """The range of the graphs whose merge is `web_graph`: the first, and after the last."""
    return f"<{_WEB}{traversal}:", f"<{_WEB}{traversal};"


def documents_of_web(traversal: str) -> tuple[str, str]:
    """The range of the graphs of the documents of a traversal, whose IRIs begin with http."""
    return f"<{_WEB}{traversal}:http", f"<{_WEB}{traversal}:httq"


def replica_graph(remote: str) -> str:
    """The graph with the replica of a remote, both as IRIs in N-Triples form."""
    return f"<{_REPLICA}{quote(remote[1:-1], safe='')}>"


def replica_predicate(pattern: str, variable: str = "") -> str:
    """The predicate from a row of a pattern's replica to the value of a variable.

    Without a variable, it is the predicate that marks a row; its object is `MARK`.

    Args:
        pattern: the id of the pattern.
        variable: the name of the variable.
    """
    return f"<{_REPLICA}{pattern}#{quote(variable, safe='')}>"


MARK = '"row"'
"""The object that marks a row, for a pattern without a variable that every solution binds."""
