"""Parses RDF Patch: headers, transactions, added and deleted quads.

https://jena.apache.org/documentation/rdf-patch/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import IO

import numpy as np

from weir.rdf.canonical_nquads import Lines
from weir.rdf.limits import ParseLimits
from weir.rdf.lines import Block, block_events, is_empty, read_blocks
from weir.rdf.parse_events import CutOff, Discarded, ParseEvent, Unusable
from weir.rdf.patch_block import BlockRows
from weir.rdf.patch_header import HeaderError, with_value
from weir.rdf.patch_rows import (
    Row,
    RowError,
    UnfinishedRow,
    next_row,
    next_token,
    read_row,
    term_of,
    word_of,
)
from weir.rdf.records import Header, ParseRequest, Rejection
from weir.rdf.statements import Statement
from weir.rdf.terms import (
    POSITIONS,
    Position,
    TermError,
    canonical_term,
    parse_term,
)

_TERM = (
    rb"(?:<(?!_:)[^<>\s]*+>|_:[^\s<>\"'#.]++(?:\.++[^\s<>\"'#.]++)*+"
    rb'|"(?:[^"\\\r\n]|\\[^\r\n])*+"(?:@[A-Za-z0-9-]++|\^\^<[^<>\s]*+>)?)'
)
# A row that is a line and, after its code, a statement of N-Quads.
_CHANGE = re.compile(rb"[ \t]*([AD])[ \t]+(?=(?:" + _TERM + rb"[ \t]*){3,4}\.[ \t]*(?:#[^\r]*)?\Z)")
_TRANSACTION = re.compile(rb"[ \t]*(TX|TC|TA)[ \t]*\.[ \t]*(?:#[^\r]*)?")
_TWICE = "the quad is changed before and after TX, TC or TA in one line"


def parse_patch(
    file: IO[bytes], request: ParseRequest, limits: ParseLimits
) -> Iterator[ParseEvent]:
    """The changes of a patch; bad rows are rejected.

    Most rows are one line. From a line that is not such a row, rows are read by tokens until a row
    ends at the end of a line. A bad row is one rejection that includes all lines before the next
    line that begins with a word; reading goes on there.

    An aborted transaction (`TA`) changes nothing. A transaction without an end makes the whole file
    unusable, because half of a change set must not become an epoch. Prefix rows (`PA`, `PD`) change
    no quad; a prefix can be used in later rows.
    """
    reader = _Reader(request, limits)
    rest: Block | None = None
    block: Block | None = None
    for following in chain(read_blocks(file, limits), [None]):
        if block is not None:
            joined = block if rest is None else _joined(rest, block)
            rows = BlockRows(joined, limits)
            rest = reader.read_block(rows, is_last=following is None)
            yield from reader.events(rows)
        block = following
    if reader.begun is not None:
        reason = "the transaction is not ended (no TC): the file is not complete"
        yield Unusable(Rejection(request.file, reader.begun, 1, reason, "TX ."))
    yield reader.header


def _joined(rest: Block, block: Block) -> Block:
    """A block preceded by the lines that the block before left over."""
    overlong = frozenset(row + len(rest.lines) for row in block.overlong)
    lines = Lines.of(rest.lines.text + block.lines.text)
    return Block(rest.first, lines, overlong, block.is_cut)


class _Reader:
    """Reads the blocks of a patch, one after the other."""

    def __init__(self, request: ParseRequest, limits: ParseLimits) -> None:
        self._request, self._limits = request, limits
        self._prefixes: dict[str, str] = {}
        self._is_skipping = False
        self._changes = 0
        self._begun_at = 0
        self.header = Header()
        self.begun: int | None = None
        """The line where the open transaction begins; None if none is open."""

    def read_block(self, rows: BlockRows, is_last: bool) -> Block | None:
        """Find the rows of a block; returns the lines of a row that goes on in the next block."""
        block, lines = rows.block, rows.block.lines
        resume = 0
        if self._is_skipping:
            resume = self._skipped(lines.text, 0, is_last)
            rows.plain[: np.searchsorted(lines.starts, resume)] = False
        for row in np.flatnonzero(~rows.plain).tolist():
            if lines.starts[row] < resume or row in block.overlong:
                continue
            line = lines.line(row)
            if is_empty(line):
                continue
            if change := _CHANGE.match(line):
                rows.statements.append(Statement(row, change.end(), line[change.end() :]))
                rows.inserts[row] = change[1] == b"A"
            elif transaction := _TRANSACTION.fullmatch(line):
                code = transaction[1]
                self._use(rows, Row(int(lines.starts[row]) + transaction.start(1), 0, code, ()))
            else:
                resume, rest = self._read_by_tokens(rows, row, is_last)
                rows.plain[row : np.searchsorted(lines.starts, resume)] = False
                if rest is not None:
                    return rest
        return None

    def events(self, rows: BlockRows) -> Iterator[ParseEvent]:
        """The events of a block, after `read_block`."""
        quads, inserts, faults = rows.quads(self._limits)
        faults += rows.faults
        yield from block_events(rows.block, quads, inserts, faults, self._request, self._limits)
        for bound in rows.bounds:
            change = self._changes + int(np.searchsorted(quads.rows, bound.row)) + bound.before
            if bound.keyword == b"TX":
                self._begun_at = change
            elif bound.keyword == b"TA":
                yield Discarded(self._begun_at, change)
        self._changes += len(quads.rows)
        if rows.cut_off is not None:
            yield CutOff(f"it ends in the middle of a row: {rows.cut_off}")

    def _read_by_tokens(self, rows: BlockRows, row: int, is_last: bool) -> tuple[int, Block | None]:
        """Read rows by tokens from a line on, until one ends at the end of a line.

        Returns:
            The offset of the next line to read, and the lines of a row that goes on in the next
            block.
        """
        block, text = rows.block, rows.block.lines.text
        # No row goes on in a line that is too long, of which only the beginning is known.
        next_overlong = min((line for line in block.overlong if line > row), default=None)
        end = len(text) if next_overlong is None else int(block.lines.starts[next_overlong])
        ends_file = is_last and end == len(text)
        complete: list[Row] = []
        last = int(block.lines.starts[row])
        while True:
            start = next_token(text, last, end)
            feed = text.rfind(b"\n", last, start)
            if start == end or feed >= 0:
                resume = end if start == end else feed + 1
                rest = None
                break
            # The byte at the limit is not read: it may be in the middle of a token.
            limit = start + self._limits.line_bytes
            try:
                parsed = read_row(text, start, min(end, limit), ends_file and end <= limit)
                if parsed.end >= limit:
                    raise UnfinishedRow("the row is too long", parsed.end)
                complete.append(parsed)
            except UnfinishedRow as error:
                if end == len(text) and not is_last and end < limit:
                    resume, rest = end, _rest(block, start, complete)
                else:
                    line = rows.add_fault(error.offset, str(error))
                    if ends_file and block.is_cut and line < len(block.lines) - 1:
                        rows.cut_off = str(error)
                    resume, rest = (
                        self._skipped(text, text.index(b"\n", error.offset) + 1, is_last),
                        None,
                    )
                break
            except RowError as error:
                rows.add_fault(error.offset, str(error))
                resume, rest = text.index(b"\n", error.offset) + 1, None
                if error.offset != start:
                    resume = self._skipped(text, resume, is_last)
                elif complete and complete[-1].code in (b"A", b"D"):
                    # No row follows the dot in its line, so it did not end the row before.
                    complete.pop()
                break
            last = complete[-1].end
        for parsed in complete:
            self._use(rows, parsed)
        return resume, rest

    def _skipped(self, text: bytes, offset: int, is_last: bool) -> int:
        """The offset of the next line that begins with a word; may continue in the next block."""
        start = next_row(text, offset, len(text))
        self._is_skipping = start == len(text) and not is_last
        return start

    def _use(self, rows: BlockRows, row: Row) -> None:
        line = int(np.searchsorted(rows.block.lines.starts, row.start, side="right")) - 1
        try:
            match row.code:
                case b"A" | b"D":
                    quad = _quad(row, self._prefixes)
                    if not rows.add(line, row.code == b"A", quad):
                        raise RowError(_TWICE, row.start)
                case b"TX" | b"TB" | b"TC" | b"TA":
                    _want_terms(row, 0, 0, "nothing")
                    code = b"TX" if row.code == b"TB" else row.code
                    number = rows.block.first + line
                    self.begun = _next_state(code, self.begun, number, row.start)
                    rows.add_bound(code, line)
                case b"H":
                    self.header = _with_row(self.header, row, self._prefixes)
                case b"PA":
                    prefix, namespace = _prefix(row)
                    self._prefixes[prefix] = namespace
                case b"PD":
                    _want_terms(row, 1, 2, "a prefix, and the name of a graph or none")
                    self._prefixes.pop(_word(row.tokens[0]), None)
                case _:
                    _want_terms(row, 0, 0, "nothing")
        except RowError as error:
            rows.add_fault(error.offset, str(error))


def _rest(block: Block, start: int, complete: list[Row]) -> Block:
    """The lines from the row that begins at `start`; text before it is blanked out.

    Rows that begin in the same line are included, so that the rows of a line stay together.
    """
    lines = block.lines
    row = int(np.searchsorted(lines.starts, start, side="right")) - 1
    line = int(lines.starts[row])
    while complete and complete[-1].start >= line:
        start = complete.pop().start
    blank = b" " * len(lines.text[line:start].decode(errors="replace"))
    return Block(block.first + row, Lines.of(blank + lines.text[start:]))


_ROLES: tuple[Position, ...] = ("subject", "predicate", "object", "graph")


def _quad(row: Row, prefixes: Mapping[str, str]) -> tuple[str, ...]:
    """Graph, subject, predicate and object of a row of changes."""
    terms: dict[Position, str] = {"graph": ""}
    for position, token in zip(_ROLES, row.tokens, strict=False):
        terms[position] = _term(token, prefixes)
        if not terms[position].startswith("<"):
            try:
                terms[position] = canonical_term(terms[position], position)
            except TermError as error:
                raise RowError(str(error), token.start()) from None
    return tuple(terms[position] for position in POSITIONS)


def _term(token: re.Match[bytes], prefixes: Mapping[str, str]) -> str:
    try:
        return term_of(token, prefixes)
    except TermError as error:
        raise RowError(str(error), token.start()) from None


def _word(token: re.Match[bytes]) -> str:
    word = word_of(token)
    if word is None:
        raise RowError("neither a word nor a string", token.start())
    return word


def _want_terms(row: Row, least: int, most: int, what: str) -> None:
    count = len(row.tokens)
    if not least <= count <= most:
        where = row.tokens[most].start() if count > most else row.end - 1
        raise RowError(f"after {row.code.decode()} comes {what}; here are {count} terms", where)


def _prefix(row: Row) -> tuple[str, str]:
    """The prefix that a row declares, without its colon, and its IRI."""
    _want_terms(row, 2, 3, "a prefix, its IRI, and the name of a graph or none")
    prefix, namespace = row.tokens[0], row.tokens[1]
    if namespace.lastgroup == "iri":
        # It need not be an absolute IRI, because it is not a term.
        return _word(prefix), namespace[0][1:-1].decode(errors="replace")
    return _word(prefix), _word(namespace)


def _with_row(header: Header, row: Row, prefixes: Mapping[str, str]) -> Header:
    _want_terms(row, 2, 2, "a key and a value")
    key, value = row.tokens
    try:
        term = term_of(value, prefixes)
    except TermError as error:
        raise RowError(f"the value of a header is a term: {error}", value.start()) from None
    try:
        return with_value(header, _header_key(key), parse_term(term))
    except HeaderError as error:
        raise RowError(str(error), value.start()) from None


def _header_key(token: re.Match[bytes]) -> str:
    return word_of(token) or token[0].decode(errors="replace")


def _next_state(keyword: bytes, begun: int | None, line: int, offset: int) -> int | None:
    """The first line of the transaction that is open after `keyword`, or None."""
    if keyword == b"TX":
        if begun is not None:
            raise RowError(f"TX inside the transaction of line {begun}", offset)
        return line
    if begun is None:
        raise RowError(f"{keyword.decode()} without TX", offset)
    return None
