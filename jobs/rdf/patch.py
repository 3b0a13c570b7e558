"""RDF Patch: headers, transactions, added and deleted quads.

https://jena.apache.org/documentation/rdf-patch/
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import IO

import numpy as np
from pyoxigraph import RdfFormat

from jobs.rdf.canonical_nquads import canonical
from jobs.rdf.limits import ParseLimits
from jobs.rdf.lines import Block, block_events, is_empty, overlong_faults, read_blocks
from jobs.rdf.parse_events import Discarded, ParseEvent, Unusable
from jobs.rdf.records import Header, ParseRequest, Rejection
from jobs.rdf.statements import Fault, Statement, read_quads
from jobs.rdf.terms import Blank, Iri, Literal, TermError, parse_term

_CHANGE = re.compile(rb"[ \t]*([AD])[ \t]+")
_TRANSACTION = re.compile(rb"[ \t]*(TX|TC|TA)[ \t]*\.?[ \t]*(?:#.*)?")
_HEADER = re.compile(rb"[ \t]*H[ \t]+([^ \t]+)[ \t]+(.*?)[ \t]*\.?[ \t]*")
_PREFIX = re.compile(
    rb'[ \t]*(?:PA|PD)[ \t]+(?:"[^"]*"|[^ \t<">]+)(?:[ \t]+(?:"[^"]*"|<[^<>"]*>))?[ \t]*\.?[ \t]*'
)
_TIMES = tuple(f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("dateTime", "dateTimeStamp"))
_FAR = re.compile(r"(?:-\d{4,}|0000|[1-9]\d{4,})-\d\d-\d\dT")
_TOO_FAR = "its time is not within the years 1 to 9999 of UTC"
_MIDNIGHT = re.compile(r"T24:00:00(?:\.0+)?")
_ADD = ord("A")


def parse_patch(
    file: IO[bytes], request: ParseRequest, limits: ParseLimits
) -> Iterator[ParseEvent]:
    """The changes of a patch; bad lines are rejected.

    An aborted transaction (`TA`) changes nothing. A transaction that the file does not end makes
    the whole file unusable: half of a change set must not become an epoch. Prefixes (`PA`, `PD`)
    concern the dataset, not the lines of the patch, and change no quad.
    """
    header = Header()
    begun: int | None = None
    for block in read_blocks(file, limits):
        fast = canonical(block.lines, prefix="[AD] ")
        fast[list(block.overlong)] = False
        inserts = _letters(block) == _ADD
        faults = overlong_faults(block, limits)
        statements: list[Statement] = []
        discarded: list[Discarded] = []
        for row in np.flatnonzero(~fast).tolist():
            line = block.lines.line(row)
            if row in block.overlong or is_empty(line):
                continue
            try:
                if change := _CHANGE.match(line):
                    statements.append(Statement(row, change.end(), line[change.end() :]))
                    inserts[row] = change[1] == b"A"
                elif transaction := _TRANSACTION.fullmatch(line):
                    number = block.first + row
                    ended, begun = begun, _next_state(transaction[1], begun, number)
                    if transaction[1] == b"TA" and ended is not None:
                        discarded.append(Discarded(ended, number))
                elif head := _HEADER.fullmatch(line):
                    header = _with(header, head[1], head[2])
                elif not _PREFIX.fullmatch(line):
                    raise _LineError("not a line of an RDF Patch (H, TX, TC, TA, PA, PD, A, D)")
            except _LineError as error:
                faults.append(Fault(row, 1, str(error)))
        quads, bad = read_quads(block.lines, fast, len("A "), statements, RdfFormat.N_QUADS, limits)
        yield from block_events(block, quads, inserts[quads.rows], [*faults, *bad], request, limits)
        yield from discarded
    if begun is not None:
        reason = "the transaction is not ended (no TC): the file is not complete"
        yield Unusable(Rejection(request.file, begun, 1, reason, "TX ."))
    yield header


class _LineError(Exception):
    """A line that cannot be used; the message is the reason."""


def _letters(block: Block) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    # Every line has a first byte, its line feed if no other.
    return np.frombuffer(block.lines.text, np.uint8)[block.lines.starts]


def _next_state(keyword: bytes, begun: int | None, line: int) -> int | None:
    """The line of the transaction that is open after `keyword`, or None."""
    if keyword == b"TX":
        if begun is not None:
            raise _LineError(f"TX inside the transaction of line {begun}")
        return line
    if begun is None:
        raise _LineError(f"{keyword.decode()} without TX")
    return None


def _with(header: Header, key: bytes, value: bytes) -> Header:
    """The header with one more line; the first of several wins."""
    try:
        term = parse_term(value.decode())
    except (TermError, UnicodeDecodeError) as error:
        raise _LineError(f"the value of a header is a term in N-Triples form: {error}") from None
    match key, term:
        case b"id", Iri(text) | Literal(text) if header.change_id is None:
            return replace(header, change_id=text)
        case b"prev", Iri(text) | Literal(text) if header.previous_id is None:
            return replace(header, previous_id=text)
        case b"id" | b"prev", Blank():
            raise _LineError("a blank node names nothing outside the file")
        case _, Literal(text, datatype) if datatype in _TIMES and header.event_time is None:
            return replace(header, event_time=_instant(text))
    return header


def _instant(text: str) -> datetime:
    try:
        # The end of a day is the begin of the next one: Python does not read it.
        moment = datetime.fromisoformat(_MIDNIGHT.sub("T00:00:00", text))
        if _MIDNIGHT.search(text):
            moment += timedelta(days=1)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        what = _TOO_FAR
    except ValueError as error:
        what = _TOO_FAR if _FAR.match(text) else f"not a date and time: {error}"
    raise _LineError(what)
