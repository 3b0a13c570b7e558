"""N-Triples and N-Quads: good lines are read, bad lines rejected, one by one."""

from __future__ import annotations

import gzip
import io
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rdf.conftest import LIMITS, Change, Parsed
from tests.rdf.test_canonical_nquads import LINES, by_pyoxigraph
from weir.rdf import lines as lines_module
from weir.rdf.lines import parse_lines
from weir.rdf.parse_events import BASE64, Changes, Rejections, cut
from weir.rdf.records import ParseRequest, Rejection

ParseText = Callable[..., Parsed]
GOOD = "<http://a/s> <http://a/p> <http://a/o> <http://a/g> ."


def read(text: bytes) -> tuple[list[Change], list[Rejection]]:
    request = ParseRequest("f", "n-quads", "snapshot", "s")
    changes: list[Change] = []
    rejections: list[Rejection] = []
    for piece in parse_lines(io.BytesIO(text), request, LIMITS):
        if isinstance(piece, Changes):
            changes += [Change(**row) for row in piece.batch.to_pylist()]
        elif isinstance(piece, Rejections):
            rejections += [Rejection(**row) for row in piece.batch.to_pylist()]
    return changes, rejections


def usable(line: str) -> list[tuple[str, ...]] | None:
    """The quads of a line on its own; None if it is to be rejected."""
    quads = by_pyoxigraph(line)
    if quads is None or any(o.endswith("--ltr") for *_, o in quads):
        return None
    return [(g.replace("DEFAULT", ""), s, p, o) for g, s, p, o in quads]


@settings(max_examples=100, deadline=None)
@given(
    given_lines=st.lists(st.one_of(LINES, st.sampled_from([GOOD, "", "# c", " "])), max_size=12),
    feed=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    block=st.sampled_from([7, 100, 1 << 20]),
)
def test_a_line_has_the_quads_that_it_has_alone(
    given_lines: list[str], feed: str, last: bool, block: int
) -> None:
    text = feed.join(given_lines) + (feed if last else "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "_BLOCK_BYTES", block)
        changes, rejections = read(text.encode())
    expected = [
        (number, *quad)
        for number, line in enumerate(text.split("\n"), 1)
        for quad in usable(line) or []
    ]
    assert [(c.line, c.graph, c.subject, c.predicate, c.object) for c in changes] == expected
    assert [r.line for r in rejections] == [
        number for number, line in enumerate(text.split("\n"), 1) if usable(line) is None
    ]


def test_a_line_ends_at_a_line_feed_only(parse_text: ParseText) -> None:
    text = f'{GOOD}\n<a:b> <a:c> "x\x85y\u2028z\x0b" .\n{GOOD}'
    parsed = parse_text(text, format="n-quads", role="snapshot")
    assert [c.line for c in parsed.changes] == [1, 2, 3]
    assert parsed.changes[1].object == str(pyoxigraph.Literal("x\x85y\u2028z\x0b"))


def test_a_rejection_has_file_line_column_reason_and_text(parse_text: ParseText) -> None:
    parsed = parse_text(f"{GOOD}\n<a:s> <a:p> <a b> .\n", format="n-quads", role="snapshot")
    [rejection] = parsed.rejections
    assert (rejection.line, rejection.column) == (2, 13)
    assert rejection.file.endswith("input")
    assert rejection.raw == "<a:s> <a:p> <a b> ."
    assert rejection.reason == "Invalid IRI code point ' '" or "scheme" in rejection.reason


def test_a_rejected_text_is_cut_to_whole_characters(parse_text: ParseText) -> None:
    limits = replace(LIMITS, raw_bytes=5)
    for text, raw in (("aéééé", "aéé"), ("aaaaéé", "aaaa"), ("aéé", "aéé")):
        [rejection] = parse_text(text, limits, format="n-quads", role="patch").rejections
        assert rejection.raw == raw


@given(text=st.binary(max_size=8) | st.binary(max_size=8).map(lambda end: b"base64:" + end))
def test_the_bytes_of_a_rejected_text_can_be_read_from_what_is_recorded(text: bytes) -> None:
    raw = cut(text, 100)
    is_encoded = raw.startswith(BASE64)
    assert (b64decode(raw.removeprefix(BASE64)) if is_encoded else raw.encode()) == text
    assert is_encoded or not text.startswith(b"base64:")


def test_a_byte_order_mark_is_no_part_of_the_first_line(parse_text: ParseText) -> None:
    parsed = parse_text("\ufeff" + GOOD, format="n-quads", role="patch")
    assert len(parsed.changes) == 1


@pytest.mark.parametrize("block", [64, 1000, 1 << 20])
def test_a_line_that_is_too_long_is_rejected_alone(
    parse_text: ParseText, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", block)
    long = f'<a:s> <a:p> "{"x" * 5000}" .'
    text = f"{GOOD}\n{long}\n{GOOD}\n{long}\n{long}\n{GOOD}\n{long}"
    limits = replace(LIMITS, line_bytes=1000, raw_bytes=20)
    parsed = parse_text(text, limits, format="n-quads", role="patch")
    assert [c.line for c in parsed.changes] == [1, 3, 6]
    assert parsed.rejected_lines == [2, 4, 5, 7]
    assert {(r.reason, r.raw) for r in parsed.rejections} == {
        ("a line of more than 1000 bytes", long[:20])
    }


def test_a_line_of_exactly_the_limit_is_read(parse_text: ParseText) -> None:
    for feed in ("", "\n", "\r\n"):
        limits = replace(LIMITS, line_bytes=len(GOOD))
        assert not parse_text(GOOD + feed, limits, format="n-quads", role="patch").rejections


def test_n_triples_have_no_graph(parse_text: ParseText) -> None:
    parsed = parse_text(f"<a:s> <a:p> <a:o> .\n{GOOD}", format="n-triples", role="snapshot")
    assert parsed.quads == [("", "<a:s>", "<a:p>", "<a:o>")]
    assert parsed.rejected_lines == [2]


def test_quads_that_name_no_graph_get_the_one_of_the_request(parse_text: ParseText) -> None:
    text = f"<a:s> <a:p> <a:o> .\n{GOOD}"
    parsed = parse_text(text, format="n-quads", role="snapshot", graph="<a:mine>")
    assert [quad[0] for quad in parsed.quads] == ["<a:mine>", "<http://a/g>"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("<a:s> <a:p> <<( <a:a> <a:b> <a:c> )>> .", "triple terms"),
        ('<a:s> <a:p> "x"@en--rtl .', "base direction"),
        ("<a:s> <a:p> " + "<<( <a:s> <a:p> " * 20_000 + "<a:o>" + " )>>" * 20_000 + " .", "nested"),
    ],
    ids=["triple term", "direction", "nested"],
)
def test_a_line_that_is_not_rdf_1_1_is_rejected_alone(
    parse_text: ParseText, line: str, reason: str
) -> None:
    parsed = parse_text(f"{GOOD}\n{line}\n{GOOD}", format="n-quads", role="snapshot")
    assert len(parsed.changes) == 2
    [rejection] = parsed.rejections
    assert rejection.line == 2
    assert reason in rejection.reason


def test_marks_of_triple_terms_inside_a_literal_are_text(parse_text: ParseText) -> None:
    line = f'<a:s> <a:p> "{"<<( " * 1000}--ltr" .'
    assert len(parse_text(line, format="n-quads", role="snapshot").changes) == 1


def test_a_label_is_the_same_node_in_two_patches_of_a_source(parse_text: ParseText) -> None:
    text = "_:x <a:p> _:y .\n"
    first, second, other = (
        parse_text(text + more, format="n-quads", role="patch", scope=scope).quads[0]
        for more, scope in (("", "s"), ("_:x <a:q> _:z .", "s"), ("", "t"))
    )
    assert first == second
    assert {first[1], first[3]}.isdisjoint({other[1], other[3], "_:x", "_:y"})


def test_a_broken_gzip_file_is_unusable(tmp_path: Path) -> None:
    whole = gzip.compress((GOOD + "\n").encode() * 1000)
    for number, content in enumerate((whole[:-9], whole[:50], b"no gzip", whole + b"x")):
        file = tmp_path / f"{number}.nq.gz"
        file.write_bytes(content)
        parsed = Parsed(ParseRequest(str(file), "n-quads", "snapshot", "s"), LIMITS)
        assert not parsed.usable
        assert "compressed file is broken" in parsed.rejections[-1].reason
