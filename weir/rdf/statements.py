"""Lines of statements to quads: canonical lines by column, others by pyoxigraph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyoxigraph
from pyoxigraph import RdfFormat

from weir.rdf.canonical_nquads import Lines, Mask, Positions, Terms, split_terms
from weir.rdf.limits import ParseLimits

TRIPLE_TERM = "triple terms (RDF 1.2) are not supported"
BASE_DIRECTION = "literals with a base direction (RDF 1.2) are not supported"


@dataclass(frozen=True, slots=True)
class Statement:
    """A line that is not canonical: its index, the bytes before the statement, the statement."""

    row: int
    skipped: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that is not a quad: its index, column (characters from 1; 0 if unknown), reason."""

    row: int
    column: int
    reason: str


@dataclass(frozen=True, slots=True)
class Quads:
    """Quads, each with the index of its line, ascending."""

    rows: Positions
    terms: Terms


def read_quads(
    lines: Lines,
    fast: Mask,
    skip: int,
    others: Sequence[Statement],
    syntax: RdfFormat,
    limits: ParseLimits,
) -> tuple[Quads, list[Fault]]:
    """The quads of the lines that are canonical (`fast`) after `skip` bytes, and of `others`.

    A line that is not a statement is one fault, and does not affect other lines. After more faults
    than the limits allow for a file, the remaining lines are not read.
    """
    rows = np.flatnonzero(fast)
    quads = Quads(rows, split_terms(lines, rows, skip))
    if not others:
        return quads, []
    plain: list[Statement] = []
    suspect: list[Statement] = []
    for statement in others:
        (suspect if _is_suspect(statement.text) else plain).append(statement)
    together = _parse_together(plain, syntax)
    if together is not None:
        quads, others = _merge(quads, together), suspect
    one_by_one, faults = _parse_one_by_one(others, syntax, limits)
    return _merge(quads, one_by_one), faults


def n_quads(quads: Iterable[pyoxigraph.Quad]) -> bytes:
    """Quads as canonical N-Quads, one per line."""
    return pyoxigraph.serialize(quads, format=RdfFormat.N_QUADS) or b""


def fault_of(error: SyntaxError, row: int, skipped: int = 0) -> Fault:
    """An error of pyoxigraph about one line, without the position in its message."""
    column = error.offset + skipped if error.offset else 0
    return Fault(row, column, _POSITION.sub("", error.msg))


_POSITION = re.compile(r"^Parser error (?:at|between) line[^:]*: ")


def _is_suspect(text: bytes) -> bool:
    """Whether a statement may not be one RDF 1.1 quad, but have a triple term, a literal with a
    base direction, or several lines (in N-Triples, carriage returns also end lines)."""
    return b"<<" in text or b"--" in text or b"\r" in text


def _parse_together(statements: Sequence[Statement], syntax: RdfFormat) -> Quads | None:
    """All quads in one call of the parser; None if some line is not one RDF 1.1 quad."""
    text = b"\n".join(statement.text for statement in statements)
    try:
        lines = Lines.of(n_quads(pyoxigraph.parse(text, syntax)))
    except SyntaxError:
        return None
    if len(lines) != len(statements):
        return None
    terms = split_terms(lines, np.arange(len(lines)))
    return Quads(np.array([statement.row for statement in statements]), terms)


def _parse_one_by_one(
    statements: Sequence[Statement], syntax: RdfFormat, limits: ParseLimits
) -> tuple[Quads, list[Fault]]:
    faults: list[Fault] = []
    quads: list[pyoxigraph.Quad] = []
    rows: list[int] = []
    for statement in statements:
        if len(faults) > limits.rejected_rows:
            break
        if _nested_deeper(statement.text, limits.nesting):
            faults.append(Fault(statement.row, 0, f"nested more than {limits.nesting} deep"))
            continue
        try:
            parsed = list(pyoxigraph.parse(statement.text, syntax))
        except SyntaxError as error:
            faults.append(fault_of(error, statement.row, statement.skipped))
            continue
        reason = next(filter(None, map(_unsupported, parsed)), None)
        if reason:
            faults.append(Fault(statement.row, 0, reason))
            continue
        quads.extend(parsed)
        rows.extend([statement.row] * len(parsed))
    lines = Lines.of(n_quads(quads))
    terms = split_terms(lines, np.arange(len(lines)))
    return Quads(np.array(rows, np.int64), terms), faults


def _unsupported(quad: pyoxigraph.Quad) -> str | None:
    match quad:
        case pyoxigraph.Quad(object=pyoxigraph.Triple()):
            return TRIPLE_TERM
        case pyoxigraph.Quad(object=pyoxigraph.Literal(direction=direction)) if direction:
            return BASE_DIRECTION
    return None


_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')


def _nested_deeper(text: bytes, nesting: int) -> bool:
    return text.count(b"<<") > nesting and _STRING.sub(b'""', text).count(b"<<") > nesting


def _merge(left: Quads, right: Quads) -> Quads:
    if not len(right.rows):
        return left
    rows = np.concatenate((left.rows, right.rows))
    order = np.argsort(rows, kind="stable")
    columns = (
        pa.concat_arrays([a, b]).take(order)
        for a, b in (
            (left.terms.graph, right.terms.graph),
            (left.terms.subject, right.terms.subject),
            (left.terms.predicate, right.terms.predicate),
            (left.terms.object, right.terms.object),
        )
    )
    return Quads(rows[order], Terms(*columns))
