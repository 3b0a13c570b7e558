"""Refusals: the constructs of SPARQL 1.1 that Weir does not maintain, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass

from weir.rdf.reserved_graphs import WEB, is_reserved, traversal_of
from weir.sparql.algebra.expressions import Constant
from weir.sparql.frontend.errors import UnsupportedQuery
from weir.sparql.frontend.source import Source
from weir.sparql.frontend.tree import Leaf

_NON_DETERMINISTIC = "it is non-deterministic, so no answer with it can be kept up to date"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A construct that is refused; its place is the first of `keywords` in the text."""

    what: str
    keywords: tuple[str, ...]
    reason: str
    hint: str


def _changing(name: str, hint: str) -> Refusal:
    return Refusal(f"{name}()", (name,), _NON_DETERMINISTIC, hint)


REFUSALS: dict[str, Refusal] = {
    "DescribeQuery": Refusal(
        "DESCRIBE", ("DESCRIBE",), "SPARQL does not define its answer", "Write a CONSTRUCT query."
    ),
    "Builtin_NOW": _changing("NOW", "Write the moment as a constant, or filter the answer table."),
    "Builtin_RAND": _changing("RAND", "Sample the answer table."),
    "Builtin_UUID": _changing("UUID", "Write BNODE(), or a blank node into a CONSTRUCT template."),
    "Builtin_STRUUID": _changing("STRUUID", "Write a hash of the values it stands for: MD5(...)."),
}


def refusal(construct: str, source: Source) -> UnsupportedQuery:
    """The error for a construct, by the name of its production, which need not be in `REFUSALS`."""
    refused = REFUSALS.get(construct)
    if refused is None:
        return source.unsupported(construct, None, "Weir does not support it", "Leave it out.")
    return source.unsupported(
        refused.what, source.first_word(*refused.keywords), refused.reason, refused.hint
    )


def check_graph(name: Leaf, source: Source) -> None:
    """Refuse the name of a reserved graph.

    Raises:
        UnsupportedQuery: it is reserved.
    """
    if not isinstance(name.node, Constant) or traversal_of(name.node.term) is not None:
        return
    if WEB[0] <= name.node.term < WEB[1]:
        raise source.unsupported(
            name.node.term,
            name.token,
            "the graph is that of one document of a traversal",
            "Write FROM NAMED <urn:weir:web:NAME>, and GRAPH with the IRI of the document.",
        )
    if is_reserved(name.node.term):
        raise source.unsupported(
            name.node.term,
            name.token,
            "the graph holds a replica, which is no part of the dataset",
            "Write SERVICE with the IRI of the remote.",
        )
