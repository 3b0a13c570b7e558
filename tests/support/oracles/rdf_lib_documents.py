"""Documents as rdflib reads them, for a store of pyoxigraph; nothing is fetched."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import rdflib
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from weir.rdf.records import Format

_PARSERS: Mapping[Format, str] = {
    "n-triples": "nt11",
    "n-quads": "nquads",
    "turtle": "turtle",
    "trig": "trig",
    "rdf-xml": "xml",
    "json-ld": "json-ld",
}
_GRAPH = "urn:x-blank-graph:"
"""Stands for a blank node that names a graph: rdflib has no such graphs of JSON-LD."""
_LOGGERS = ("rdflib.term", "rdflib.plugins.parsers.jsonld")
"""They say of each literal that is none of its datatype that it has no value."""


def read(
    file: Path, format_: Format, base: str | None, contexts: Mapping[str, Path]
) -> Iterator[ox.Quad]:
    """The quads of a document; its blank nodes are new ones.

    Args:
        file: the document.
        format_: of it.
        base: IRI that relative IRIs are resolved against.
        contexts: by IRI, the remote contexts of JSON-LD; they are put in the place of their IRIs.

    Raises:
        Exception: whichever rdflib raises; KeyError: a context is not in `contexts`.
    """
    text = file.read_bytes()
    if format_ == "json-ld":
        document = _with_contexts(json.loads(text), contexts)
        text = json.dumps(_with_names(document, _graph_terms(document), count())).encode()
    dataset = rdflib.Dataset()
    with lexical_forms():
        dataset.parse(data=text, format=_PARSERS[format_], publicID=base)
    nodes: defaultdict[str, ox.BlankNode] = defaultdict(ox.BlankNode)

    def term(node: Any) -> Any:
        match node:
            case rdflib.BNode():
                return nodes[node]
            case rdflib.URIRef() if node.startswith(_GRAPH):
                return nodes[node]
            case rdflib.Literal(language=str(language)):
                return ox.Literal(str(node), language=language.lower())
            case rdflib.Literal(datatype=rdflib.URIRef() as datatype):
                return ox.Literal(str(node), datatype=ox.NamedNode(datatype))
            case rdflib.Literal():
                return ox.Literal(str(node))
            case _:
                return ox.NamedNode(node)

    for s, p, o, graph in dataset.quads():
        is_default = graph in (None, DATASET_DEFAULT_GRAPH_ID)
        name = ox.DefaultGraph() if is_default else term(graph)
        yield ox.Quad(term(s), term(p), term(o), name)


@contextmanager
def lexical_forms() -> Iterator[None]:
    """Meanwhile, literals keep their lexical forms."""
    normalize, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        rdflib.NORMALIZE_LITERALS = normalize
        for logger in loggers:
            logger.disabled = False


def _with_contexts(value: Any, contexts: Mapping[str, Path]) -> Any:
    """A value of JSON with the remote contexts in it."""
    match value:
        case list():
            return [_with_contexts(item, contexts) for item in value]
        case dict():
            return {
                key: _context(inner, contexts)
                if key == "@context"
                else _with_contexts(inner, contexts)
                for key, inner in value.items()
            }
        case _:
            return value


def _context(value: Any, contexts: Mapping[str, Path]) -> Any:
    """A context, or several, without IRIs of remote ones."""
    match value:
        case str():
            return _context(json.loads(contexts[value].read_bytes())["@context"], contexts)
        case list():
            parts = [_context(item, contexts) for item in value]
            return [one for part in parts for one in (part if isinstance(part, list) else [part])]
        case _:
            return _with_contexts(value, contexts)


def _graph_terms(value: Any) -> set[str]:
    """The terms whose values are graphs: `"@container": "@graph"`, of JSON-LD 1.1."""
    inner: Iterable[Any] = ()
    terms: set[str] = set()
    match value:
        case list():
            inner = value
        case dict():
            inner = value.values()
            terms = {
                key
                for key, definition in value.items()
                if isinstance(definition, dict) and definition.get("@container") == "@graph"
            }
    return terms.union(*map(_graph_terms, inner))


def _with_names(value: Any, graph_terms: Collection[str], numbers: Iterator[int]) -> Any:
    """A value of JSON in which graphs that are values are written out, as of JSON-LD 1.0."""

    def graph(content: Any) -> Any:
        # Always as an array: of a single one, rdflib makes two nodes.
        contents = content if isinstance(content, list) else [content]
        return [{"@id": f"{_GRAPH}{next(numbers)}", "@graph": [content]} for content in contents]

    match value:
        case list():
            return [_with_names(item, graph_terms, numbers) for item in value]
        case dict():
            named = {
                key: inner if key == "@context" else _with_names(inner, graph_terms, numbers)
                for key, inner in value.items()
            }
            return {k: graph(v) if k in graph_terms else v for k, v in named.items()}
        case _:
            return value
