"""Reads Turtle, TriG, RDF/XML and JSON-LD: a document with an error anywhere is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import IO, assert_never

import numpy as np
import pyarrow.compute as pc
import pyoxigraph
from pyoxigraph import RdfFormat

from weir.rdf.canonical_nquads import Lines, Terms, split_terms
from weir.rdf.json_ld import Contexts, Dropped, read_json_ld
from weir.rdf.limits import ParseLimits
from weir.rdf.lines import changes
from weir.rdf.nesting import nesting_fault
from weir.rdf.parse_events import Changes, ParseEvent, Rejections, Unusable, cut
from weir.rdf.rdf_xml import read_rdf_xml
from weir.rdf.records import Format, ParseRequest, Rejection
from weir.rdf.statements import BASE_DIRECTION, TRIPLE_TERM, fault_of, n_quads

_BATCH_QUADS = 20_000
_BLOCK_BYTES = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SYNTAXES = {
    "turtle": RdfFormat.TURTLE,
    "trig": RdfFormat.TRIG,
    "n-triples": RdfFormat.N_TRIPLES,
    "n-quads": RdfFormat.N_QUADS,
}
_LINE_END = re.compile(b"\n")
_XML_LINE_END = re.compile(b"\r\n?|\n")


def parse_document(
    file: IO[bytes], request: ParseRequest, limits: ParseLimits
) -> Iterator[ParseEvent]:
    """The quads of a document, each an insertion of line 0; `Unusable` if it has an error.

    JSON-LD values that are not RDF are rejected one by one.
    """

    def unusable(reason: str, line: int = 0, column: int = 0) -> Unusable:
        ends = _XML_LINE_END if request.format == "rdf-xml" else _LINE_END
        raw = cut(_line(text, line, ends), limits.raw_bytes) if line else ""
        return Unusable(Rejection(request.file, line, column, reason, raw))

    text = _read_at_most(file, limits.document_bytes + 1)
    if len(text) > limits.document_bytes:
        yield unusable(f"a document of more than {limits.document_bytes} bytes")
        return
    try:
        for batch in read_document(text, request.format, request.base, request.contexts, limits):
            if isinstance(batch, Dropped):
                raw = cut(batch.raw.encode(errors="replace"), limits.raw_bytes)
                yield Rejections.of([Rejection(request.file, 0, 0, batch.reason, raw)])
                continue
            lines = Lines.of(batch)
            terms = split_terms(lines, np.arange(len(lines)))
            if reason := _unsupported(terms):
                yield unusable(reason)
                return
            inserts = np.ones(len(lines), np.bool_)
            yield Changes(changes(np.zeros(len(lines), np.int64), inserts, terms, request.graph))
    except SyntaxError as error:
        yield unusable(fault_of(error, 0).reason, error.lineno or 0, error.offset or 0)


def read_document(
    text: bytes, syntax: Format, base: str | None, contexts: Contexts, limits: ParseLimits
) -> Iterator[bytes | Dropped]:
    """The statements of a document in batches of canonical N-Quads, and values that are not RDF.

    Args:
        text: the document.
        syntax: its format.
        base: IRI against which relative IRIs are resolved; if None, they are errors.
        contexts: the remote contexts that a JSON-LD document may name.
        limits: of the nesting.

    Raises:
        SyntaxError: the document has an error; with line and column if they are known.
        OSError: the file of a context cannot be read.
    """
    text = text.removeprefix(_BYTE_ORDER_MARK)
    if syntax in ("turtle", "trig", "json-ld"):
        # Their parsers recurse for each level.
        fault = nesting_fault(text, syntax, limits.nesting)
        if fault is not None:
            raise SyntaxError(fault.reason, (None, _line_number(text, fault.offset), 0, None))
    match syntax:
        case "rdf-xml":
            yield from read_rdf_xml(text, base, limits.nesting)
        case "json-ld":
            yield from read_json_ld(text, base, contexts, limits)
        case "turtle" | "trig" | "n-triples" | "n-quads":
            quads = iter(pyoxigraph.parse(text, _SYNTAXES[syntax], base_iri=base))
            while batch := n_quads(islice(quads, _BATCH_QUADS)):
                yield batch
        case "rdf-patch":
            raise ValueError(f"{syntax} is no document")
        case _:
            assert_never(syntax)


def _read_at_most(file: IO[bytes], size: int) -> bytes:
    # In blocks: a pyarrow file allocates the whole size before it reads.
    blocks: list[bytes] = []
    while size > 0 and (block := file.read(min(size, _BLOCK_BYTES))):
        blocks.append(block)
        size -= len(block)
    return b"".join(blocks)


def _unsupported(terms: Terms) -> str | None:
    """Why some quad cannot be used, or None."""
    if pc.any(pc.starts_with(terms.object, "<<")).as_py():
        return TRIPLE_TERM
    if pc.any(pc.match_substring_regex(terms.object, r'^"(?s:.*)"@[a-z0-9\-]+--[a-z]+$')).as_py():
        return BASE_DIRECTION
    return None


def _line_number(text: bytes, offset: int) -> int:
    return text.count(b"\n", 0, offset) + 1


def _line(text: bytes, number: int, ends: re.Pattern[bytes]) -> bytes:
    start = 0
    for end in islice(ends.finditer(text), number - 1):
        start = end.end()
    end_of_line = ends.search(text, start)
    return text[start : end_of_line.start() if end_of_line else len(text)]
