"""The W3C SPARQL 1.1 tests: the entries of the manifests, as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox

_MANIFEST = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
_QUERY = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
_REGIME = "http://www.w3.org/ns/sparql-service-description#entailmentRegime"
_ENTAILMENT = "http://www.w3.org/ns/entailment/"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_BASE = "http://test/"

Quad = tuple[str, str, str, str]
"""Graph (empty: the unnamed one), subject, predicate, object, as N-Triples text."""


@dataclass(frozen=True)
class Case:
    """One test.

    Attributes:
        name: folder and name, `aggregates/agg01`: unique, as is each entry's IRI in its manifest.
        kind: `QueryEvaluationTest`, `CSVResultFormatTest`, `PositiveSyntaxTest11`, ...
        query: the query's file.
        base: the IRI that relative IRIs of the query are resolved against.
        default: the files of the unnamed graph.
        named: the files of named graphs; a graph's name is the IRI of its file.
        result: the file of the expected result, None of a syntax test.
        regimes: the local names of the entailment regimes that it is for: `RDFS`, `OWL-Direct`.
    """

    name: str
    kind: str
    query: Path
    base: str
    default: tuple[Path, ...] = ()
    named: tuple[Path, ...] = ()
    result: Path | None = None
    regimes: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """The query, with its base."""
        return f"BASE <{self.base}> {self.query.read_text()}"

    @property
    def quads(self) -> frozenset[Quad]:
        """The data; blank nodes of two files differ."""
        quads: set[Quad] = set()
        for number, file in enumerate((*self.default, *self.named)):
            graph = f"<{_iri(file)}>" if number >= len(self.default) else ""
            for triple in read_triples(file):
                s, p, o = (f"{t}f{number}" if t.startswith("_:") else t for t in triple)
                quads.add((graph, s, p, o))
        return frozenset(quads)


def read_cases(folder: Path) -> list[Case]:
    """The tests of all manifests below `folder`, in a fixed order."""
    manifests = sorted(folder.glob("*/manifest.ttl"))
    return sorted((c for m in manifests for c in manifest_cases(m)), key=lambda case: case.name)


def read_triples(file: Path) -> Iterator[tuple[str, str, str]]:
    """The triples of a Turtle or RDF/XML file; relative IRIs are resolved against its own."""
    kind = ox.RdfFormat.RDF_XML if file.suffix == ".rdf" else ox.RdfFormat.TURTLE
    for quad in ox.parse(path=str(file), format=kind, base_iri=_iri(file)):
        yield str(quad.subject), str(quad.predicate), str(quad.object)


def _iri(file: Path) -> str:
    return f"{_BASE}{file.parent.name}/{file.name}"


def manifest_cases(manifest: Path) -> Iterator[Case]:
    """The tests of one manifest."""
    base = f"{_BASE}{manifest.parent.name}/"
    values: dict[str, dict[str, list[str]]] = {}
    for triple in ox.parse(path=str(manifest), format=ox.RdfFormat.TURTLE, base_iri=base):
        assert not isinstance(triple.object, ox.Triple)
        value = str(triple.object)
        key = triple.object.value if isinstance(triple.object, ox.NamedNode) else value
        of_subject = values.setdefault(str(triple.subject), {})
        of_subject.setdefault(triple.predicate.value, []).append(key)

    def files(names: list[str]) -> tuple[Path, ...]:
        return tuple(manifest.parent / name.removeprefix(base) for name in names)

    for entry, properties in values.items():
        actions = properties.get(f"{_MANIFEST}action")
        if actions is None:
            continue
        kind = next((k for k in properties.get(_TYPE, []) if k.startswith(_MANIFEST)), _MANIFEST)
        parts = values.get(actions[0], {f"{_QUERY}query": actions})
        query = files(parts.get(f"{_QUERY}query", []))
        if not query:
            continue
        yield Case(
            f"{manifest.parent.name}/{entry.strip('<>').rpartition('#')[2]}",
            kind.removeprefix(_MANIFEST),
            query[0],
            f"{base}{query[0].name}",
            files(parts.get(f"{_QUERY}data", [])),
            files(parts.get(f"{_QUERY}graphData", [])),
            next(iter(files(properties.get(f"{_MANIFEST}result", []))), None),
            frozenset(_regimes(parts.get(_REGIME, []), values)),
        )


def _regimes(nodes: list[str], values: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    """The regimes that are objects of a triple, or members of a list that is."""
    for node in nodes:
        if node.startswith(_ENTAILMENT):
            yield node.removeprefix(_ENTAILMENT)
        else:
            members = values.get(node, {})
            yield from _regimes(
                [*members.get(f"{_RDF}first", []), *members.get(f"{_RDF}rest", [])], values
            )
