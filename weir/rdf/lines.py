"""Reads files in blocks of complete lines, and parses N-Triples and N-Quads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import RdfFormat

from weir.rdf.canonical_nquads import Lines, Mask, Positions, Terms, canonical
from weir.rdf.limits import ParseLimits
from weir.rdf.parse_events import Changes, CutOff, ParseEvent, Rejections, cut
from weir.rdf.records import CHANGES, ParseRequest, Rejection
from weir.rdf.statements import Fault, Quads, Statement, read_quads

_BLOCK_BYTES = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive complete lines of a file.

    Attributes:
        first: the number of the first line, from 1.
        lines: the lines; of a line that is too long, only the beginning.
        overlong: the indexes of lines that are too long.
        is_cut: whether the file ends in the last line, without a line feed. That line may be in the
            block before, if it is too long.
    """

    first: int
    lines: Lines
    overlong: frozenset[int] = frozenset()
    is_cut: bool = False


def read_blocks(file: IO[bytes], limits: ParseLimits) -> Iterator[Block]:
    """The lines of a file in blocks of about a megabyte; only line feeds end lines.

    Raises:
        ArchiveError: a compressed file is broken.
    """
    rest, first, skipping, start = b"", 1, False, True
    while data := file.read(_BLOCK_BYTES):
        if start:
            data, start = data.removeprefix(_BYTE_ORDER_MARK), False
        if skipping:
            _, feed, data = data.partition(b"\n")
            skipping = not feed
        text = rest + data
        complete = text.rfind(b"\n") + 1
        rest = text[complete:]
        if complete:
            block = _block(first, text[:complete], limits)
            yield block
            first += len(block.lines)
        if len(rest) > limits.line_bytes:
            yield _block(first, rest[: limits.line_bytes + 1] + b"\n", limits)
            first, rest, skipping = first + 1, b"", True
    if rest:
        yield replace(_block(first, rest + b"\n", limits), is_cut=True)
    elif skipping:
        yield Block(first, Lines.of(b""), is_cut=True)


def _block(first: int, text: bytes, limits: ParseLimits) -> Block:
    lines = Lines.of(text)
    overlong = np.flatnonzero(lines.ends - lines.starts > limits.line_bytes)
    return Block(first, lines, frozenset(overlong.tolist()))


def parse_lines(
    file: IO[bytes], request: ParseRequest, limits: ParseLimits
) -> Iterator[ParseEvent]:
    """The statements of an N-Triples or N-Quads file, each an insertion; bad lines are rejected."""
    graphs = request.format == "n-quads"
    syntax = RdfFormat.N_QUADS if graphs else RdfFormat.N_TRIPLES
    for block in read_blocks(file, limits):
        fast = canonical(block.lines, graphs=graphs)
        fast[list(block.overlong)] = False
        faults = overlong_faults(block, limits)
        others = [
            Statement(row, 0, text)
            for row in np.flatnonzero(~fast).tolist()
            if row not in block.overlong and not is_empty(text := block.lines.line(row))
        ]
        quads, bad = read_quads(block.lines, fast, 0, others, syntax, limits)
        yield from block_events(
            block, quads, np.ones(len(quads.rows), np.bool_), [*faults, *bad], request, limits
        )


def is_empty(line: bytes) -> bool:
    """Whether a line is blank or a comment."""
    text = line.strip()
    return not text or text.startswith(b"#")


def overlong_faults(block: Block, limits: ParseLimits) -> list[Fault]:
    """The faults of the lines that are too long."""
    return [
        Fault(row, 0, f"a line of more than {limits.line_bytes} bytes") for row in block.overlong
    ]


def block_events(
    block: Block,
    quads: Quads,
    inserts: Mask,
    faults: list[Fault],
    request: ParseRequest,
    limits: ParseLimits,
) -> Iterator[ParseEvent]:
    """The changes and the rejections of one block, in the order of its lines."""
    if len(quads.rows):
        yield Changes(changes(block.first + quads.rows, inserts, quads.terms, request.graph))
    if faults:
        yield Rejections.of(
            [
                Rejection(
                    request.file,
                    block.first + fault.row,
                    fault.column,
                    fault.reason,
                    cut(block.lines.line(fault.row), limits.raw_bytes),
                )
                for fault in sorted(faults, key=lambda fault: fault.row)
            ]
        )
    if block.is_cut:
        last = len(block.lines) - 1
        wrong = [fault.reason for fault in faults if fault.row == last]
        if not len(block.lines) or wrong:
            why = wrong[0] if wrong else "it is too long"
            yield CutOff(f"it ends in the middle of a line: {why}")


def changes(numbers: Positions, inserts: Mask, terms: Terms, graph: str) -> pa.RecordBatch:
    """A batch of `CHANGES`; `graph` is the graph of quads that name none."""
    named = (
        pc.if_else(pc.equal(terms.graph, pa.scalar("")), graph, terms.graph)
        if graph
        else terms.graph
    )
    return pa.RecordBatch.from_arrays(
        [
            pa.array(numbers),
            pa.array(inserts),
            named,
            terms.subject,
            terms.predicate,
            terms.object,
        ],
        schema=CHANGES,
    )
