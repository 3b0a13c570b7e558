"""`/sparql`: the query part of the SPARQL 1.1 Protocol over the mirror; what the endpoint is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http import HTTPStatus

import anyio.to_thread
import pyoxigraph as ox
from starlette.requests import Request
from starlette.responses import Response

from weir.compute.connection import connect
from weir.lake.delta.bindings import Bindings
from weir.progress.completion import Completion
from weir.project import Project
from weir.serve.mirror import Mirror, newest_epoch
from weir.serve.pool import Asked, Pool, Result
from weir.serve.problems import DamagedStore, Problem
from weir.serve.protocol import GRAPHS, RESULTS, accepted, asked, epoch_of
from weir.serve.query_worker import unescaped
from weir.serve.reader import Reader
from weir.site.graph_counts import GraphCounts

SPARQL, VOID = "/sparql", "/.well-known/void"
EPOCH = "Weir-Epoch"
"""A header of responses: the epoch that they are of."""
_TRIES = 2
"""A copy that is damaged is made again."""
_SD, _FORMATS = "http://www.w3.org/ns/sparql-service-description#", "http://www.w3.org/ns/formats/"
_VOID = "http://rdfs.org/ns/void#"
_TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
_OF_MEDIA = {
    "application/sparql-results+json": "SPARQL_Results_JSON",
    "application/sparql-results+xml": "SPARQL_Results_XML",
    "text/csv": "SPARQL_Results_CSV",
    "text/tab-separated-values": "SPARQL_Results_TSV",
    "text/turtle": "Turtle",
    "application/n-triples": "N-Triples",
    "application/rdf+xml": "RDF_XML",
    "application/ld+json": "JSON-LD",
}
_Node = ox.NamedNode | ox.BlankNode | ox.Literal


@dataclass(slots=True)
class Endpoint:
    """Answers queries.

    Attributes:
        mirror: has the graph.
        pool: evaluates.
        reader: counts triples.
        most_bytes: of the body of a request.
    """

    mirror: Mirror
    pool: Pool
    reader: Reader
    most_bytes: int
    _counted: GraphCounts | None = field(default=None, init=False)

    async def sparql(self, request: Request) -> Response:
        """A query, or what the endpoint is."""
        wanted = await asked(request, self.most_bytes)
        if wanted is None:
            return _document(request, [*_description(str(request.url))])
        question, epoch = wanted
        if question.results is None and question.graphs is None:
            offered = ", ".join(dict.fromkeys([*RESULTS.values(), *GRAPHS.values()]))
            raise Problem(HTTPStatus.NOT_ACCEPTABLE, f"results can be had as {offered}")
        at = epoch_of(epoch)
        async with self.pool.turn():
            used, result = await anyio.to_thread.run_sync(self._result, question, at)
        return Response(
            result.content, media_type=result.media, headers={EPOCH: str(used), "Vary": "Accept"}
        )

    def _result(self, question: Asked, epoch: int | None) -> tuple[int, Result]:
        words = " ".join(
            (unescaped(question.text), *question.default_graphs, *question.named_graphs)
        )
        for _ in range(_TRIES):
            with self.mirror.at(epoch, words) as (at, store):
                try:
                    return at, self.pool.answer(store, question)
                except DamagedStore:
                    self.mirror.discard(store)
        what = "the copies of the graph are damaged"
        raise Problem(HTTPStatus.INTERNAL_SERVER_ERROR, what, "Is the disk in order?")

    async def void(self, request: Request) -> Response:
        """How many triples the graph has, of which classes and with which properties."""

        def read(project: Project) -> GraphCounts:
            lake = project.open_lake()
            epoch = newest_epoch(Completion.read(lake))
            known = {} if self._counted is None else self._counted.to_json()
            with closing(connect(project.settings)) as connection:
                self._counted = GraphCounts.of(Bindings(connection), lake, epoch, known)
            return self._counted

        counts = await self.reader.read(read)
        text = counts.void(str(request.url.replace(path=SPARQL, query="")))
        triples = ox.parse(text, ox.RdfFormat.TURTLE, base_iri=str(request.url))
        described = [quad.triple for quad in triples]
        return _document(request, described, {EPOCH: str(counts.epoch)})


def _document(
    request: Request, triples: Sequence[ox.Triple], headers: dict[str, str] | None = None
) -> Response:
    media = accepted(request.headers.get("accept", ""), ["text/turtle", "application/n-triples"])
    if media is None:
        raise Problem(HTTPStatus.NOT_ACCEPTABLE, "it can be had as text/turtle")
    format_ = ox.RdfFormat.from_media_type(media)
    content = ox.serialize(triples, format=format_, prefixes={"sd": _SD, "void": _VOID})
    return Response(content, media_type=media, headers={**(headers or {}), "Vary": "Accept"})


def _description(address: str) -> Iterator[ox.Triple]:
    """https://www.w3.org/TR/sparql11-service-description/"""
    service, data, graph = ox.BlankNode("service"), ox.BlankNode("data"), ox.BlankNode("graph")

    def says(subject: ox.BlankNode, name: str, value: _Node) -> ox.Triple:
        return ox.Triple(subject, ox.NamedNode(f"{_SD}{name}"), value)

    yield ox.Triple(service, _TYPE, ox.NamedNode(f"{_SD}Service"))
    yield says(service, "endpoint", ox.NamedNode(address))
    yield says(service, "supportedLanguage", ox.NamedNode(f"{_SD}SPARQL11Query"))
    yield says(service, "feature", ox.NamedNode(f"{_SD}UnionDefaultGraph"))
    for name in _OF_MEDIA.values():
        yield says(service, "resultFormat", ox.NamedNode(f"{_FORMATS}{name}"))
    yield says(service, "defaultDataset", data)
    yield ox.Triple(data, _TYPE, ox.NamedNode(f"{_SD}Dataset"))
    yield says(data, "defaultGraph", graph)
    yield ox.Triple(graph, _TYPE, ox.NamedNode(f"{_SD}Graph"))
