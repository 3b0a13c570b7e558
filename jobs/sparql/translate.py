"""Query text to algebra; the only file that imports rdflib."""

from __future__ import annotations

from typing import Literal

from jobs.sparql.algebra import Query


def translate(
    text: str, default_graph: Literal["union", "default"] = "union", file: str = "<query>"
) -> Query:
    """The algebra of a query text.

    Raises:
        QuerySyntaxError: the text is not a SPARQL 1.1 query.
        UnsupportedQuery: it is one, but uses what Weir does not maintain.
    """
    raise NotImplementedError
