"""The keys about derived graphs: which one a definition gives, and which ones it reads."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from weir.lake.names import FORM, is_name
from weir.rdf.terms import TermError, iri_term

NONE, REWRITTEN = "none", "rdfs"
"""Values of `entailment`: nothing follows; the query is rewritten."""
RULE_SETS = ("owl-rl",)
"""Values of `entailment` that stand for the graph of the program with these `rules`."""


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


def _reads(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not is_name(name):
            raise ValueError(f"write names of definitions, which are {FORM}; not {name}")
    return names


Reads = Annotated[
    tuple[str, ...],
    AfterValidator(_reads),
    Field(
        description="the names of queries and programs whose derived graphs are merged with the"
        " default graph"
    ),
]


def _entailment(value: str) -> str:
    if value not in (NONE, REWRITTEN, *RULE_SETS) and not is_name(value):
        raise ValueError(f"write rdfs, owl-rl or the name of a definition, which is {FORM}")
    return value


Entailment = Annotated[
    str,
    AfterValidator(_entailment),
    Field(
        description="over [what follows](entailment.md), too: `rdfs`, by subclasses,"
        " subproperties, domains and ranges; `owl-rl`, or a name: over that derived graph"
    ),
]


def derived_of(entailment: str, reads: tuple[str, ...]) -> tuple[str, ...]:
    """The derived graphs that a definition reads by its keys: names, and names of rule sets."""
    return reads if entailment in (NONE, REWRITTEN) else (*reads, entailment)
