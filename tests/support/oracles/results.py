"""Expected results of the W3C tests, and equality of bags of solutions."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyoxigraph as ox

from tests.support.w3c import read_triples
from weir.sparql.functions.values import Number, Text, parse

Solution = Mapping[str, str]
_RESULT_SET = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
_FORMATS = {
    ".srx": ox.QueryResultsFormat.XML,
    ".srj": ox.QueryResultsFormat.JSON,
    ".tsv": ox.QueryResultsFormat.TSV,
}


def read_result(file: Path) -> list[Solution]:
    """The solutions in a file; of an ASK one empty solution if it is true, else none; of a graph
    a solution per triple.
    """
    if file.suffix == ".ttl":
        triples = list(read_triples(file))
        if any(term == f"<{_RESULT_SET}ResultSet>" for triple in triples for term in triple):
            return _result_set(triples)
        return [dict(zip("spo", triple, strict=True)) for triple in triples]
    results = ox.parse_query_results(path=str(file), format=_FORMATS[file.suffix])
    if isinstance(results, ox.QueryBoolean):
        return [{}] if results else []
    names = [variable.value for variable in results.variables]
    return [{n: str(row[n]) for n in names if row[n] is not None} for row in results]


def _result_set(triples: Iterable[tuple[str, str, str]]) -> list[Solution]:
    """Solutions written as a graph, in the vocabulary of the tests."""
    parts: dict[str, dict[str, list[str]]] = {}
    for s, p, o in triples:
        parts.setdefault(s, {}).setdefault(p.removeprefix(f"<{_RESULT_SET}")[:-1], []).append(o)
    return [
        {
            parts[b]["variable"][0].strip('"'): parts[b]["value"][0]
            for b in bindings.get("binding", [])
        }
        for solved in parts.values()
        for solution in solved.get("solution", [])
        for bindings in [parts[solution]]
    ]


def read_csv(file: Path) -> Counter[tuple[str, ...]]:
    """The rows of a CSV result as written; CSV does not distinguish kinds of terms."""
    with file.open(newline="") as lines:
        header, *rows = csv.reader(lines)
    order = sorted(range(len(header)), key=lambda i: header[i])
    return Counter(tuple(_without_label(row[i]) for i in order) for row in rows)


def as_csv(solutions: Iterable[Solution], names: Iterable[str]) -> Counter[tuple[str, ...]]:
    """Solutions as `read_csv` reads them."""
    return Counter(
        tuple(_without_label(_plain(solution.get(name))) for name in sorted(names))
        for solution in solutions
    )


def same(actual: Iterable[Solution], expected: Iterable[Solution]) -> bool:
    """Whether two bags of solutions are equal but for the labels of their blank nodes.

    Numbers are compared by type and value: the suite's are not all in canonical form. Blank nodes
    are distinguished by the rows they occur in, with the nodes there, and so on (colour
    refinement), which fails only where every node has the same neighbours.
    """
    return _without_labels(actual) == _without_labels(expected)


def _without_labels(solutions: Iterable[Solution]) -> Counter[str]:
    rows = [{name: _value(term) for name, term in s.items()} for s in solutions]
    colours = {t: "_:" for row in rows for t in row.values() if t.startswith("_:")}
    while True:
        places: dict[str, list[str]] = {blank: [] for blank in colours}
        for row in rows:
            for blank in {term for term in row.values() if term in colours}:
                places[blank].append(_row_text(row, {**colours, blank: "_:this"}))
        finer = {blank: _digest(colours[blank], texts) for blank, texts in places.items()}
        if len(set(finer.values())) == len(set(colours.values())):
            return Counter(_row_text(row, finer) for row in rows)
        colours = finer


def _row_text(row: Solution, colours: Mapping[str, str]) -> str:
    return json.dumps(sorted((name, colours.get(term, term)) for name, term in row.items()))


def _digest(colour: str, texts: list[str]) -> str:
    return "_:" + hashlib.sha256("\n".join([colour, *sorted(texts)]).encode()).hexdigest()


def _value(term: str) -> str:
    value = parse(term)
    if not isinstance(value, Number):
        return term
    number = value.value if value.value == value.value else "NaN"
    return f"{value.type} {number}".removesuffix(".0")


def _plain(term: str | None) -> str:
    if term is None:
        return ""
    value = parse(term)
    if isinstance(value, Text):
        return value.lexical
    return getattr(value, "lexical", term.strip("<>"))


def _without_label(text: str) -> str:
    return "_:" if text.startswith("_:") else text
