"""The W3C suite of SHACL: its tests as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph as ox

from tests.support.shacl.results import Graph, Result, results_of_report

_MANIFEST = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
_TESTS = "http://www.w3.org/ns/shacl-test#"

Quad = tuple[str, str, str, str]
"""Graph (empty: the unnamed one), subject, predicate, object, as N-Triples text."""


@dataclass(frozen=True)
class SuiteCase:
    """A test.

    Attributes:
        name: the path of its file below the suite.
        data: the file of the data graph.
        shapes: the file of the shapes graph.
        expected: the results of the report; None if the shapes are to be refused.
    """

    name: str
    data: Path
    shapes: Path
    expected: Counter[Result] | None

    @property
    def quads(self) -> frozenset[Quad]:
        """The data graph."""
        return frozenset(
            ("", str(triple.subject), str(triple.predicate), str(triple.object))
            for triple in _triples(self.data)
        )

    @property
    def shapes_as_triples(self) -> str:
        """The shapes graph as N-Triples, whose IRIs are those of its place."""
        return "".join(f"{triple} .\n" for triple in _triples(self.shapes))


def suite_cases(folder: Path) -> Iterator[SuiteCase]:
    """The tests of all files below a folder, in a fixed order."""
    for file in sorted(folder.rglob("*.ttl")):
        triples = _triples(file)
        graph = Graph(triples)
        for test in graph.instances(f"{_TESTS}Validate"):
            action, report = (graph.value(test, _MANIFEST + n) for n in ("action", "result"))
            data, shapes = (
                _file(graph.value(action, f"{_TESTS}{name}Graph")) for name in ("data", "shapes")
            )
            is_failure = report == ox.NamedNode(f"{_TESTS}Failure")
            expected = None if is_failure else results_of_report(graph, report)
            yield SuiteCase(str(file.relative_to(folder)), data, shapes, expected)


def _triples(file: Path) -> list[ox.Triple]:
    quads = ox.parse(path=file, format=ox.RdfFormat.TURTLE, base_iri=file.as_uri())
    return [quad.triple for quad in quads]


def _file(name: object) -> Path:
    assert isinstance(name, ox.NamedNode)
    return Path(name.value.removeprefix("file://"))
