"""The keys about derived graphs: which one a definition gives, and which ones it reads."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from weir.rdf.terms import TermError, iri_term


def _graph(value: str | None) -> str | None:
    if value is None:
        return None
    try:
        graph = iri_term(value)
    except TermError as error:
        raise ValueError(str(error)) from None
    if graph.startswith("<urn:weir:"):
        raise ValueError("names that begin with urn:weir: are Weir's own")
    return graph


Graph = Annotated[
    str | None,
    AfterValidator(_graph),
    Field(
        description="the answer is also a [derived graph](entailment.md#derived-graphs) with this"
        " IRI, which others read"
    ),
]
Reads = Annotated[
    tuple[str, ...],
    Field(
        description="the names of queries and programs whose derived graphs are merged with the"
        " default graph"
    ),
]
