"""Results of a validation report in a form in which reports of two validators can be compared.

Blank nodes differ between validators, and how a path is written: they are all one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyoxigraph as ox

from weir.shacl.compile import REPORT_COLUMNS

_SHACL = "http://www.w3.org/ns/shacl#"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
Node = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
_BLANK, _PATH = "a blank node", "a path"


@dataclass(frozen=True, slots=True)
class Result:
    """What identifies a result: terms as N-Triples text."""

    focus_node: str | None
    path: str | None
    value: str | None
    component: str | None
    shape: str | None
    severity: str | None


class Graph:
    """The triples of a graph, by subject and predicate; literals are as they are written."""

    def __init__(self, triples: Iterable[ox.Triple]) -> None:
        self._objects: dict[tuple[object, str], list[Node]] = {}
        for triple in triples:
            key = (triple.subject, triple.predicate.value)
            self._objects.setdefault(key, []).append(triple.object)

    def objects(self, subject: object, predicate: str) -> list[Node]:
        """The objects of a subject and predicate."""
        return self._objects.get((subject, predicate), [])

    def value(self, subject: object, predicate: str) -> Node | None:
        """One of them, if there is any."""
        return next(iter(self.objects(subject, predicate)), None)

    def instances(self, of: str) -> list[object]:
        """The subjects of a type."""
        wanted = ox.NamedNode(of)
        return [s for (s, p), objects in self._objects.items() if p == _TYPE and wanted in objects]


def results_of_report(graph: Graph, report: object) -> Counter[Result]:
    """The results of a report in a graph."""

    def term(result: object, name: str, blank: str = _BLANK) -> str | None:
        node = graph.value(result, _SHACL + name)
        return None if node is None else blank if isinstance(node, ox.BlankNode) else str(node)

    return Counter(
        Result(
            term(result, "focusNode"),
            term(result, "resultPath", _PATH),
            term(result, "value"),
            term(result, "sourceConstraintComponent"),
            term(result, "sourceShape"),
            term(result, "resultSeverity"),
        )
        for result in graph.objects(report, f"{_SHACL}result")
    )


def results_of_text(text: bytes) -> Counter[Result]:
    """The results of the one report in N-Triples."""
    graph = Graph(quad.triple for quad in ox.parse(text, ox.RdfFormat.N_TRIPLES))
    (report,) = graph.instances(f"{_SHACL}ValidationReport")
    return results_of_report(graph, report)


def results_of_rows(rows: Mapping[tuple[str | None, ...], int]) -> Counter[Result]:
    """The results of a state of `answers/<name>`: rows, each with how often it is there."""
    results: Counter[Result] = Counter()
    for row, weight in rows.items():
        cells = dict(zip(REPORT_COLUMNS, row, strict=True))
        path = cells["result_path"]
        result = Result(
            _node(cells["focus_node"]),
            _PATH if path is not None and path.startswith('"') else path,
            _node(cells["value"]),
            cells["source_constraint_component"],
            _node(cells["source_shape"]),
            cells["severity"],
        )
        results[result] += weight
    return results


def _node(term: str | None) -> str | None:
    is_blank = term is not None and term.startswith(("_:", "<urn:weir:shape:"))
    return _BLANK if is_blank else term
