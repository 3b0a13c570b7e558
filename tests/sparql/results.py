"""Expected results of W3C tests, and when two bags of solutions are the same."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyoxigraph as ox

from jobs.sparql.values import Number, Text, parse
from tests.w3c import read_triples

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
        {parts[b]["variable"][0].strip('"'): parts[b]["value"][0] for b in found.get("binding", [])}
        for solved in parts.values()
        for solution in solved.get("solution", [])
        for found in [parts[solution]]
    ]


def read_csv(file: Path) -> Counter[tuple[str, ...]]:
    """The rows of a CSV result as they are written; it does not tell kinds of terms apart."""
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


def same(found: Iterable[Solution], expected: Iterable[Solution]) -> bool:
    """Whether two bags of solutions are equal but for the labels of their blank nodes.

    Numbers are compared by type and value: the suite's are not all in canonical form.
    """
    ours = Counter(frozenset((n, _value(t)) for n, t in s.items()) for s in found)
    theirs = Counter(frozenset((n, _value(t)) for n, t in s.items()) for s in expected)
    return _isomorphic(ours, theirs, {})


_Rows = Counter[frozenset[tuple[str, str]]]


def _isomorphic(ours: _Rows, theirs: _Rows, names: dict[str, str]) -> bool:
    """Whether blank nodes of `ours` can be renamed so that the bags are equal.

    `names` are the choices made; the next row that has a blank node without one is tried on all.
    """
    renamed = Counter({_renamed(row, names): count for row, count in ours.items()})
    if sum(ours.values()) != sum(theirs.values()):
        return False
    pending = next((row for row in ours if _blanks(row) - names.keys()), None)
    if pending is None:
        return renamed == theirs
    taken = set(names.values())
    for candidate, count in theirs.items():
        if count != ours[pending]:
            continue
        one, two = dict(pending), dict(candidate)
        if one.keys() != two.keys():
            continue
        chosen = dict(names)
        fits = True
        for name, term in one.items():
            other = two[name]
            if term.startswith("_:") and other.startswith("_:"):
                known = chosen.setdefault(term, other)
                fits = fits and known == other
            else:
                fits = fits and term == other
        fresh = [chosen[b] for b in chosen.keys() - names.keys()]
        if (
            fits
            and len(set(fresh)) == len(fresh)
            and not set(fresh) & taken
            and _isomorphic(ours, theirs, chosen)
        ):
            return True
    return False


def _renamed(row: frozenset[tuple[str, str]], names: dict[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset((name, names.get(term, term)) for name, term in row)


def _blanks(row: frozenset[tuple[str, str]]) -> set[str]:
    return {term for _, term in row if term.startswith("_:")}


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
