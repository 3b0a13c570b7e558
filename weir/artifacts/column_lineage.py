"""Which columns of tables of the lake the columns of an answer take their terms from.

It is what a definition knows of itself (`Body.origins`), in the names of tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from weir.definitions.definition import Definition
from weir.lake.tables import (
    DERIVED,
    DOCUMENTS,
    OUTPUT_STREAMS,
    QUADS,
    REPLICAS,
    STREAMS,
    TRIPLES,
)
from weir.plan.origins import Decision, How, Origin
from weir.plan.scope import Scope
from weir.rdf.reserved_graphs import is_reserved, replica_graph
from weir.timeline.axis import Axis
from weir.timeline.stream_names import stream_name

_MAPPING: Final = "mapping"
"""The column of the rows of a remote that has their terms."""
_CONTENT, _IRI = "content", "iri"
"""The columns of documents that have their triples, and their names."""


@dataclass(frozen=True, slots=True, order=True)
class Input:
    """A column of a table that terms come from.

    Attributes:
        table: its name in the lake.
        column: of the table.
        how: the terms are there as they are, or are transformed or aggregated.
        description: which part of which triples they are.
    """

    table: str
    column: str
    how: How
    description: str


@dataclass(frozen=True, slots=True)
class ColumnLineage:
    """What an answer is made of.

    Attributes:
        columns: by column of the answer, what its terms come from, sorted. Of a term that the text
            of the definition has, there is none.
        decisions: what decides which rows there are, sorted.
        elements: as `columns`, of the stream that is made of it; None without one.
    """

    columns: Mapping[str, tuple[Input, ...]]
    decisions: tuple[tuple[Decision, Input], ...]
    elements: Mapping[str, tuple[Input, ...]] | None


def column_lineage(definition: Definition, remotes: Mapping[str, str]) -> ColumnLineage:
    """What the answer of a query, a program or a report is made of.

    Args:
        definition: whose answer.
        remotes: names of remotes by IRI, in N-Triples form; what comes of others is left out.
    """
    tables = _Tables(definition.axis, {replica_graph(iri): name for iri, name in remotes.items()})
    origins = definition.body.origins
    columns = {name: tables.inputs(own) for name, own in origins.columns.items()}
    elements = None
    if definition.axis.output is not None:
        made = origins.columns if origins.elements is None else origins.elements
        elements = {name: tables.inputs(own) for name, own in made.items()}
    decisions = {
        (decision, one) for decision, origin in origins.decisions for one in tables.inputs([origin])
    }
    return ColumnLineage(columns, tuple(sorted(decisions)), elements)


@dataclass(frozen=True, slots=True)
class _Tables:
    """The tables that scopes read.

    Attributes:
        axis: of the definition: its windows, and who gives their streams.
        replicas: names of remotes by the graph of their replica.
    """

    axis: Axis
    replicas: Mapping[str, str]

    def inputs(self, origins: Iterable[Origin]) -> tuple[Input, ...]:
        return tuple(sorted({one for origin in origins for one in self._inputs(origin)}))

    def _inputs(self, origin: Origin) -> Iterator[Input]:
        scope, position = origin.scope, origin.position
        if scope is None or position is None:
            return
        triples = "" if origin.predicate is None else f" of {origin.predicate}"
        described = f"{position}{triples}"
        for table in self._with_triples(scope):
            yield Input(table, position, origin.how, described)
        for graph in filter(is_reserved, scope.graphs or ()):
            if graph in self.replicas and origin.predicate is not None:
                _, _, variable = origin.predicate.removesuffix(">").partition("#")
                asked = f"?{unquote(variable)} of SERVICE"
                yield Input(REPLICAS.name(self.replicas[graph]), _MAPPING, origin.how, asked)
        for name in scope.traversals:
            column = _IRI if position == "graph" else _CONTENT
            yield Input(DOCUMENTS.name(name), column, origin.how, described)

    def _with_triples(self, scope: Scope) -> Iterator[str]:
        """The tables that have a column for each position."""
        if scope.window is not None:
            yield self._stream(scope.window)
            return
        if scope.has_union:
            yield TRIPLES.name
        elif scope.graphs is None or any(not is_reserved(graph) for graph in scope.graphs):
            yield QUADS.name
        yield from map(DERIVED.name, scope.derived)

    def _stream(self, window: str) -> str:
        stream = next(one.stream for one in self.axis.windows if one.name == window)
        givers = {upstream.stream: upstream.query for upstream in self.axis.upstreams}
        if stream in givers:
            return OUTPUT_STREAMS.name(givers[stream])
        return STREAMS.name(stream_name(stream))
