"""Datasets: tables of the lake and sources, under the names that OpenLineage has for stores.

https://openlineage.io/docs/spec/naming
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, assert_never
from urllib.parse import urlsplit

from weir.artifacts.contents import Contents, Model, SourceNode
from weir.definitions.definition import Definition
from weir.lake.lake import Lake
from weir.lake.tables import (
    ANSWERS,
    DERIVED,
    DOCUMENTS,
    EMBEDDINGS,
    OUTPUT_STREAMS,
    QUADS,
    REPLICAS,
    STREAMS,
    TRIPLES,
    Table,
    answers,
    derived_graph,
    documents,
    output_stream,
    replica,
    split_name,
    stream,
)
from weir.lineage.facets import Facet, stored

_SAME = {"s3a": "s3", "s3n": "s3"}
"""Names of one kind of store, as Hadoop calls it, and as OpenLineage does."""
Dataset = dict[str, Any]


def table_dataset(lake: Lake, name: str, facets: dict[str, Facet] | None = None) -> Dataset:
    """A table of the lake."""
    location = lake.location(name)
    namespace, path = _place(location)
    uri = location if "://" in location else Path(location).as_uri()
    return {"namespace": namespace, "name": path, "facets": stored(namespace, uri) | (facets or {})}


def layout_of(definitions: Mapping[str, Definition], name: str) -> Table | None:
    """The columns of a table that a stage reads or writes; None if they are not known.

    Args:
        definitions: queries and programs by name.
        name: of the table in the lake; not one for readers, whose types its values decide.
    """
    folder, owner = split_name(name)
    match folder:
        case QUADS.name:
            return QUADS
        case TRIPLES.name:
            return TRIPLES
        case STREAMS.folder:
            return stream(owner)
        case DERIVED.folder:
            return derived_graph(owner)
        case REPLICAS.folder:
            return replica(owner)
        case DOCUMENTS.folder:
            return documents(owner)
    definition = definitions.get(owner)
    if definition is None:
        return None
    columns = definition.output.columns
    match folder:
        case EMBEDDINGS.folder:
            return definition.axis.embeddings(owner, definition.width)
        case OUTPUT_STREAMS.folder:
            triples = ("subject", "predicate", "object")
            return output_stream(owner, triples if definition.writes_triples else columns)
        case ANSWERS.folder:
            return answers(owner, columns)
    return None


def source_dataset(namespace: str, source: SourceNode) -> Dataset:
    """A source, a remote or a traversal, by its name alone: a location may have a token.

    Args:
        namespace: of the jobs.
        source: what is declared.
    """
    return {"namespace": namespace, "name": f"{source.group}.{source.name}", "facets": {}}


def tables_read(contents: Contents) -> Mapping[str, Sequence[str]]:
    """By query or program, the tables from which its answer is maintained.

    Of what was asked of remotes and found by traversals, the graph has copies: both are named.
    """
    tables = {source.id: table_filled_by(source) for source in contents.sources}
    tables |= {model.id: _given_by(model) for model in contents.models}
    read = {}
    for model in contents.models:
        logs = () if model.definition is None else model.definition.reads
        named = map(tables.get, model.reads)
        read[model.state.name] = sorted({*logs, *(name for name in named if name is not None)})
    return read


def _given_by(model: Model) -> str:
    """The table of the graph that a query or program gives others to read, or of its stream."""
    definition = model.definition
    gives_graph = definition is not None and definition.graph is not None
    return (DERIVED if gives_graph else OUTPUT_STREAMS).name(model.state.name)


def table_filled_by(source: SourceNode) -> str | None:
    """The table of its own that a source, a remote or a traversal fills; None: the graph's."""
    match source.group:
        case "graph":
            return None
        case "streams":
            return STREAMS.name(source.name)
        case "remotes":
            return REPLICAS.name(source.name)
        case "traversals":
            return DOCUMENTS.name(source.name)
        case _:
            assert_never(source.group)


def _place(location: str) -> tuple[str, str]:
    """The namespace and the name of what has a location."""
    if "://" not in location:
        return "file", location
    parts = urlsplit(location)
    scheme = _SAME.get(parts.scheme, parts.scheme)
    return f"{scheme}://{parts.netloc}", parts.path.strip("/")
