"""A report as RDF: `sh:ValidationReport`, https://www.w3.org/TR/shacl/#validation-report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import count
from typing import assert_never

from weir.rdf.terms import Literal, literal, parse_term
from weir.shacl.compile import REPORT_COLUMNS
from weir.shacl.vocabulary import FIRST, NIL, REST, TYPE, XSD, local_name, sh
from weir.sparql.algebra.paths import (
    Alternative,
    Closure,
    Inverse,
    Link,
    Negated,
    Pairs,
    Path,
    ZeroOrOne,
)
from weir.sparql.algebra.paths import Sequence as Steps
from weir.sparql.algebra.patterns import PathPattern
from weir.sparql.frontend.translate import translate

_LABELS = {
    "Severity": "severity",
    "Source Shape": "source_shape",
    "Focus Node": "focus_node",
    "Value Node": "value",
    "Result Path": "result_path",
    "Message": "message",
}
REPORT = "<urn:weir:report>"
"""The node of the report."""
_ID_LENGTH = 32
_PROPERTIES = {
    "focus_node": sh("focusNode"),
    "value": sh("value"),
    "source_constraint_component": sh("sourceConstraintComponent"),
    "source_constraint": sh("sourceConstraint"),
    "source_shape": sh("sourceShape"),
    "severity": sh("resultSeverity"),
    "message": sh("resultMessage"),
}

Row = Sequence[str | None]
"""The terms of `REPORT_COLUMNS`."""


def result_node(row: Row, number: int = 0) -> str:
    """The IRI of a result: equal results have it in every report.

    number: of those that are equal in all columns, from 0.
    """
    content = "\n".join(term or "" for term in row) + (f"\n{number}" if number else "")
    return f"<urn:weir:result:{sha256(content.encode()).hexdigest()[:_ID_LENGTH]}>"


def report_lines(rows: Iterable[tuple[Row, int]]) -> Iterator[str]:
    """A report as lines of N-Triples, in a fixed order.

    Args:
        rows: results, each with how often it is there.
    """
    results = sorted(
        ((result_node(row, i), row) for row, weight in rows for i in range(weight)),
        key=lambda result: result[0],
    )
    conforms = literal("false" if results else "true", f"{XSD}boolean")
    yield f"{REPORT} {TYPE} {sh('ValidationReport')} ."
    yield f"{REPORT} {sh('conforms')} {conforms} ."
    blanks = count()
    for node, row in results:
        cells = dict(zip(REPORT_COLUMNS, row, strict=True))
        yield f"{REPORT} {sh('result')} {node} ."
        yield f"{node} {TYPE} {sh('ValidationResult')} ."
        for column, predicate in _PROPERTIES.items():
            if cells[column] is not None:
                yield f"{node} {predicate} {cells[column]} ."
        path = cells["result_path"]
        if path is not None:
            head, lines = _path(path, blanks)
            yield f"{node} {sh('resultPath')} {head} ."
            yield from lines


def human_lines(rows: Iterable[tuple[Row, int]]) -> Iterator[str]:
    """A report as lines for people, in the form that pySHACL users know, in a fixed order."""
    results = sorted((row for row, weight in rows for _ in range(weight)), key=str)
    yield "Validation Report"
    yield f"Conforms: {not results}"
    if results:
        yield f"Results ({len(results)}):"
    for row in results:
        cells = dict(zip(REPORT_COLUMNS, row, strict=True))
        component = str(cells["source_constraint_component"])
        yield f"Constraint Violation in {local_name(component)} ({component[1:-1]}):"
        for label, column in _LABELS.items():
            if cells[column] is not None:
                yield f"    {label}: {cells[column]}"


def _path(term: str, blanks: Iterator[int]) -> tuple[str, list[str]]:
    """A path as RDF: its node, and the lines about it."""
    text = parse_term(term)
    if not isinstance(text, Literal):
        return term, []
    lines: list[str] = []
    return _node(_parsed(text.lexical), blanks, lines), lines


def _parsed(text: str) -> Path:
    """The path of a text of `weir.shacl.paths.sparql`."""
    # Only an alternative is never expanded into triple patterns.
    pattern = translate(f"SELECT * {{ ?from ({text})|<urn:weir:no> ?to }}").form.pattern
    while not isinstance(pattern, PathPattern):
        pattern = next(iter(pattern.children))
    assert isinstance(pattern.path, Alternative)
    return pattern.path.left


def _node(path: Path, blanks: Iterator[int], lines: list[str]) -> str:
    match path:
        case Link(predicate):
            return predicate
        case Inverse(inner):
            return _wrapped("inversePath", _node(inner, blanks, lines), blanks, lines)
        case ZeroOrOne(inner):
            return _wrapped("zeroOrOnePath", _node(inner, blanks, lines), blanks, lines)
        case Closure(inner, minimum):
            name = "oneOrMorePath" if minimum else "zeroOrMorePath"
            return _wrapped(name, _node(inner, blanks, lines), blanks, lines)
        case Steps():
            return _list([_node(step, blanks, lines) for step in _flat(path)], blanks, lines)
        case Alternative():
            members = _list([_node(step, blanks, lines) for step in _flat(path)], blanks, lines)
            return _wrapped("alternativePath", members, blanks, lines)
        case Negated() | Pairs():
            raise ValueError("shapes have no such paths")
        case _:
            assert_never(path)


def _flat(path: Path) -> list[Path]:
    """The members of a sequence or of an alternative, of which the first may be one itself."""
    match path:
        case Steps(first, second):
            return [*(_flat(first) if isinstance(first, Steps) else [first]), second]
        case Alternative(left, right):
            return [*(_flat(left) if isinstance(left, Alternative) else [left]), right]
        case _:
            return [path]


def _wrapped(name: str, inner: str, blanks: Iterator[int], lines: list[str]) -> str:
    node = f"_:path{next(blanks)}"
    lines.append(f"{node} {sh(name)} {inner} .")
    return node


def _list(members: Sequence[str], blanks: Iterator[int], lines: list[str]) -> str:
    rest = NIL
    for member in reversed(members):
        node = f"_:path{next(blanks)}"
        lines += [f"{node} {FIRST} {member} .", f"{node} {REST} {rest} ."]
        rest = node
    return rest
