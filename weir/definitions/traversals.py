"""Traversals as a query names them."""

from __future__ import annotations

from dataclasses import dataclass

from weir.sparql.algebra.queries import Query


@dataclass(frozen=True, slots=True)
class TraversalName:
    """The name of a traversal whose documents a query reads, and where it stands in the text."""

    name: str
    line: int
    column: int


def traversal_names(query: Query) -> tuple[TraversalName, ...]:
    """The traversals that a query names, in the order of the text."""
    return tuple(TraversalName(*traversal) for traversal in query.traversals)
