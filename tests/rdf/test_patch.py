"""RDF Patch: the changes of its lines; bad lines are rejected alone."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.rdf.conftest import LIMITS, Parsed
from tests.rdf.test_canonical_nquads import LINES
from tests.rdf.test_lines import usable
from weir.rdf import lines as lines_module
from weir.rdf.parse_events import Changes, Discarded, Rejections, Unusable
from weir.rdf.patch import parse_patch
from weir.rdf.records import Header, ParseRequest

ParseText = Callable[..., Parsed]
PATCH = {"format": "rdf-patch", "role": "patch"}
TIME = '"2026-01-02T03:04:05+01:00"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
HEAD = f"H id <urn:uuid:2> .\nH prev <urn:uuid:1> .\nH time {TIME} .\n"
TRIPLE = "<a:s> <a:p> <a:o>"
XSD = "http://www.w3.org/2001/XMLSchema#"


def test_the_lines_of_a_transaction_are_changes_in_their_order(parse_text: ParseText) -> None:
    text = f"{HEAD}TX .\nD {TRIPLE} .\nA {TRIPLE} <a:g> .\n# c\n\nA\t{TRIPLE}.\nTC .\n"
    parsed = parse_text(text, **PATCH)
    assert [(c.line, c.insert, c.graph) for c in parsed.changes] == [
        (5, False, ""),
        (6, True, "<a:g>"),
        (9, True, ""),
    ]
    assert parsed.header == Header(
        "urn:uuid:2", "urn:uuid:1", datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC)
    )
    assert not parsed.rejections
    assert parsed.usable


@settings(max_examples=60, deadline=None)
@given(
    operations=st.lists(
        st.tuples(st.sampled_from(["A ", "D ", "A\t ", "X ", "AA "]), LINES), max_size=8
    ),
    block=st.sampled_from([9, 100, 1 << 20]),
)
def test_a_line_of_a_patch_has_the_quads_that_it_has_alone(
    operations: list[tuple[str, str]], block: int
) -> None:
    # A long string goes on in the next lines.
    assume(not any('"""' in line or "'''" in line for _, line in operations))
    text = "\n".join(["TX .", *(letter + line for letter, line in operations), "TC ."])
    request = ParseRequest("f", "rdf-patch", "patch", "s")
    changes, rejected, whole = [], [], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "_BLOCK_BYTES", block)
        for piece in parse_patch(io.BytesIO(text.encode()), request, LIMITS):
            if isinstance(piece, Changes):
                changes += piece.batch.to_pylist()
            elif isinstance(piece, Rejections):
                rejected += piece.batch.column("line").to_pylist()
            elif isinstance(piece, Unusable | Discarded):
                whole.append(piece)
    alone = {
        number: (letter[0] == "A", usable(line) if letter.strip() in ("A", "D") else None)
        for number, (letter, line) in enumerate(operations, 2)
    }
    assert not whole
    assert [tuple(change.values()) for change in changes] == [
        (number, insert, *quad) for number, (insert, quads) in alone.items() for quad in quads or []
    ]
    assert rejected == [number for number, (_, quads) in alone.items() if quads is None]


def test_an_aborted_transaction_changes_nothing(parse_text: ParseText) -> None:
    text = f"A {TRIPLE} .\nTX .\nA <a:x> <a:p> ! .\nA {TRIPLE} .\nTA .\nTX .\nD {TRIPLE} .\nTC .\n"
    parsed = parse_text(text, **PATCH)
    assert [(c.line, c.insert) for c in parsed.changes] == [(1, True), (7, False)]
    assert parsed.rejected_lines == [3]
    assert parsed.usable


def test_a_transaction_without_end_makes_the_file_unusable(parse_text: ParseText) -> None:
    parsed = parse_text(f"TX .\nA {TRIPLE} .\nTC .\nTX .\nA {TRIPLE} .\n", **PATCH)
    assert not parsed.usable
    assert parsed.rejected_lines == [4]


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        ("A <a:s> <a:p> .", 15, "object"),
        ("D <a:s> <a b> <a:o> .", 9, "IRI"),
        ("A", 2, "ends without a dot"),
        ("X <a:s> <a:p> <a:o> .", 1, "not a line of an RDF Patch"),
        ("TX .", 1, "TX inside the transaction of line 1"),
        ("H id id .", 6, "the value of a header is a term"),
        ("H id _:b .", 6, "names nothing"),
        ('H at "yesterday"^^<http://www.w3.org/2001/XMLSchema#dateTime> .', 6, "date and time"),
        (f'H at "-0044-03-15T00:00:00Z"^^<{XSD}dateTime> .', 6, "not within the years 1 to 9999"),
        (f'H at "12026-01-01T00:00:00Z"^^<{XSD}dateTime> .', 6, "not within the years 1 to 9999"),
        (f'H at "0001-01-01T00:00:00+05:00"^^<{XSD}dateTime> .', 6, "not within the years"),
        ("PA", 2, "after PA comes a prefix"),
    ],
)
def test_a_malformed_line_is_rejected_alone(
    parse_text: ParseText, line: str, column: int, reason: str
) -> None:
    parsed = parse_text(f"TX .\nA {TRIPLE} .\n{line}\nD {TRIPLE} .\nTC .\n", **PATCH)
    assert [c.line for c in parsed.changes] == [2, 4]
    [rejection] = parsed.rejections
    assert (rejection.line, rejection.column, rejection.raw) == (3, column, line)
    assert reason in rejection.reason


@pytest.mark.parametrize("keyword", ["TC", "TA"])
def test_an_end_without_a_beginning_is_rejected_alone(parse_text: ParseText, keyword: str) -> None:
    parsed = parse_text(f"A {TRIPLE} .\n{keyword} .\nA {TRIPLE} .\n", **PATCH)
    assert parsed.usable
    assert len(parsed.changes) == 2
    assert parsed.rejected_lines == [2]


def test_the_end_of_a_day_is_the_begin_of_the_next(parse_text: ParseText) -> None:
    text = f'H at "2026-02-28T24:00:00Z"^^<{XSD}dateTime> .\nTX .\nTC .\n'
    parsed = parse_text(text, **PATCH)
    assert parsed.header.event_time == datetime(2026, 3, 1, tzinfo=UTC)


def test_prefixes_are_accepted_and_change_no_quad(parse_text: ParseText) -> None:
    text = 'TX .\nPA "a" <urn:x> .\nPA a "urn:x" .\nPD a .\nPD "a" <urn:x> .\nTC .'
    parsed = parse_text(text, **PATCH)
    assert not parsed.changes
    assert not parsed.rejections


def test_the_first_of_several_headers_wins(parse_text: ParseText) -> None:
    parsed = parse_text("H id <urn:a> .\nH id <urn:b> .\nH id2 <urn:c> .\n", **PATCH)
    assert parsed.header == Header("urn:a")
