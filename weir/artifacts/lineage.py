"""The nodes of the documents, by id, and what a definition reads as ids of nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weir.definitions.definition import Definition
from weir.rdf.reserved_graphs import is_reserved
from weir.timeline.stream_names import streams_of

PROJECT = "weir"
"""The project, the package and the database, in dbt's words."""


def model_id(name: str) -> str:
    """The id of a query or program."""
    return f"model.{PROJECT}.{name}"


def source_id(group: str, name: str) -> str:
    """The id of a source of the graph or of events, a remote or a traversal."""
    return f"source.{PROJECT}.{group}.{name}"


def check_id(answer: str, check: str) -> str:
    """The id of a check of an answer."""
    return f"test.{PROJECT}.{answer}.{check}"


def upstreams(
    definition: Definition, remotes: Mapping[str, str], graph: Sequence[str]
) -> tuple[str, ...]:
    """The ids of what a definition reads, in order.

    The graph is what all its sources wrote: any of them may have the triples of a pattern.

    Args:
        definition: the query or program.
        remotes: names of remotes by IRI, in N-Triples form.
        graph: the names of the sources of the graph.
    """
    ids = [source_id("streams", name) for name in streams_of(definition.axis)]
    ids += [model_id(name) for name in definition.upstreams]
    ids += [source_id("traversals", named.name) for named in definition.traversals]
    named = (remotes.get(remote.iri) for remote in definition.services.remotes)
    ids += [source_id("remotes", name) for name in named if name is not None]
    if _reads_graph(definition):
        ids += [source_id("graph", name) for name in graph]
    return tuple(sorted({*ids}))


def _reads_graph(definition: Definition) -> bool:
    """Whether it reads triples of the sources of the graph, not only reserved graphs or windows."""
    scopes = {seed.scope for seed in definition.body.seeds}
    of_graph = [s.graphs for s in scopes if s.window is None and not s.is_derived]
    return any(graphs is None or not all(map(is_reserved, graphs)) for graphs in of_graph)
