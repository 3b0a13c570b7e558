"""Rows of an RDF Patch in the forms that Jena and rdflib write, and that Jena's reader takes."""

from __future__ import annotations

import io
from collections.abc import Callable

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdflib import BNode, Dataset, Literal, URIRef
from rdflib.namespace import XSD as RDFLIB_XSD

from tests.rdf.conftest import LIMITS, Parsed
from weir.rdf import lines as lines_module
from weir.rdf.blank_nodes import scoped_label
from weir.rdf.limits import ParseLimits
from weir.rdf.parse_events import Changes, ParseEvent, Rejections
from weir.rdf.patch import parse_patch
from weir.rdf.records import Header, ParseRequest

ParseText = Callable[..., Parsed]
PATCH = {"format": "rdf-patch", "role": "patch"}
XSD = "http://www.w3.org/2001/XMLSchema#"
SP = "<a:s> <a:p>"

# By the rules of Jena's TokenWriterText: a space after every token, `<_:label>`, numbers and
# booleans without quotes, prefixes as strings.
JENA = f"""\
H id <uuid:bbe2edae-325e-11ec-abcc-a70bbba0dfb1> .
H prev <uuid:0686c69d-8f89-4496-acb5-744f0157a8db> .
TX .
PA "ex" "http://example.org/" .
PA "" "http://example.org/none#" <http://example.org/g> .
A <_:B3c4f91> <http://example.org/p> "x\\ty" .
A <http://example.org/a> <http://example.org/q> <_:3f0e5c12-8a52-4f5d-9a0e-51f2b8e5a3c1> .
A <_:B3c4f91> <http://example.org/r> <_:B3c4f91> <http://example.org/g> .
D <http://example.org/a> <http://example.org/p> 5 .
D <http://example.org/a> <http://example.org/p> -1.50 .
A <http://example.org/a> <http://example.org/p> 1.0e3 <http://example.org/g> .
A <http://example.org/a> <http://example.org/p> true .
A <http://example.org/a> <http://example.org/p> "chat"@fr .
A <http://example.org/a> <http://example.org/p> "2026-01-01"^^<{XSD}date> .
PD "ex" .
TC .
"""


def objects(parsed: Parsed) -> list[str]:
    return [change.object for change in parsed.changes]


def node(label: str) -> str:
    return scoped_label("s", f"_:{label}")


def test_a_patch_as_jena_writes_it_is_read(parse_text: ParseText) -> None:
    parsed = parse_text(JENA, **PATCH)
    a, g, first = "<http://example.org/a>", "<http://example.org/g>", node("B3c4f91")
    p, q, r = (f"<http://example.org/{name}>" for name in "pqr")
    assert not parsed.rejections
    assert parsed.header == Header(
        "uuid:bbe2edae-325e-11ec-abcc-a70bbba0dfb1", "uuid:0686c69d-8f89-4496-acb5-744f0157a8db"
    )
    assert [(c.line, c.insert) for c in parsed.changes] == [
        *((line, True) for line in (6, 7, 8)),
        *((line, False) for line in (9, 10)),
        *((line, True) for line in (11, 12, 13, 14)),
    ]
    assert parsed.quads == [
        ("", first, p, '"x\\ty"'),
        ("", a, q, node("3f0e5c12-8a52-4f5d-9a0e-51f2b8e5a3c1")),
        (g, first, r, first),
        ("", a, p, f'"5"^^<{XSD}integer>'),
        ("", a, p, f'"-1.50"^^<{XSD}decimal>'),
        (g, a, p, f'"1.0e3"^^<{XSD}double>'),
        ("", a, p, f'"true"^^<{XSD}boolean>'),
        ("", a, p, '"chat"@fr'),
        ("", a, p, f'"2026-01-01"^^<{XSD}date>'),
    ]


@pytest.mark.filterwarnings("ignore:Dataset.*deprecated:DeprecationWarning")
def test_a_patch_that_rdflib_writes_has_the_quads_of_its_dataset(parse_text: ParseText) -> None:
    dataset = Dataset()
    graph = dataset.graph(URIRef("http://example.org/g"))
    subject = URIRef("http://example.org/s")
    for value in (
        Literal('a "b"\n\t\\ é'),
        Literal("x", lang="en-GB"),
        Literal("01", datatype=RDFLIB_XSD.integer),
        BNode("b0"),
    ):
        graph.add((subject, URIRef("http://example.org/p"), value))
        dataset.default_graph.add((subject, URIRef("http://example.org/q"), value))
    text = dataset.serialize(
        format="patch", operation="remove", header_id="urn:2", header_prev="urn:1"
    )
    parsed = parse_text(text, **PATCH)
    plain = [*pyoxigraph.parse(dataset.serialize(format="nquads"), pyoxigraph.RdfFormat.N_QUADS)]
    expected = {
        (
            str(quad.graph_name).replace("DEFAULT", ""),
            str(quad.subject),
            str(quad.predicate),
            str(quad.object).replace("_:b0", node("b0")),
        )
        for quad in plain
    }
    assert not parsed.rejections
    assert parsed.header == Header("urn:2", "urn:1")
    assert {*parsed.quads} == expected
    assert not any(change.insert for change in parsed.changes)


@pytest.mark.parametrize("label", ["b0", "0", "_x", "a-b", "a.b", "é"])
def test_a_label_in_brackets_is_the_same_node_as_the_label(
    parse_text: ParseText, label: str
) -> None:
    parsed = parse_text(
        f"A <_:{label}> <a:p> _:{label} .\nA _:{label} <a:p> <_:{label}> .", **PATCH
    )
    assert [(c.subject, c.object) for c in parsed.changes] == [(node(label), node(label))] * 2


def test_labels_in_brackets_may_have_any_characters(parse_text: ParseText) -> None:
    labels = ["-a", "a:b", "a b", "a,b", "a/b", "\\u0061.", "a.", "é.", "1f:-7ffd"]
    parsed = parse_text(
        "\n".join(f"A <_:{label}> <a:p> <_:{label}> ." for label in labels), **PATCH
    )
    assert not parsed.rejections
    assert all(change.subject == change.object for change in parsed.changes)
    # `\\u0061.` is `a.`.
    assert len({change.subject for change in parsed.changes}) == len(labels) - 1


@pytest.mark.parametrize(
    ("term", "meant"),
    [
        *((text, f'"{text}"^^<{XSD}integer>') for text in ("5", "-05", "+7")),
        *((text, f'"{text}"^^<{XSD}decimal>') for text in ("1.5", "-.5", "+0.10")),
        *((text, f'"{text}"^^<{XSD}double>') for text in ("1e3", "1.E-3", ".5e+0")),
        *((text, f'"{text}"^^<{XSD}boolean>') for text in ("true", "false")),
        ("'it\"s'", '"it\\"s"'),
        ("''", '""'),
        ("'''it's'''", '"it\'s"'),
        ('"""a "b" c"""', '"a \\"b\\" c"'),
        ('"""two\nlines"""', '"two\\nlines"'),
        ('"x" @EN', '"x"@en'),
        (f'"5"^^\n<{XSD}integer>', f'"5"^^<{XSD}integer>'),
        ("'\\u0061\\t\\''", '"a\\t\'"'),
        (f"'x'^^<{XSD}string>", '"x"'),
    ],
)
@pytest.mark.parametrize("end", [" .", ".", " <a:g> .", " . # comment", "\n\t."])
def test_terms_of_turtle_are_read_as_turtle_means_them(
    parse_text: ParseText, term: str, meant: str, end: str
) -> None:
    separator = " " if term[-1].isdigit() and end == "." else ""
    parsed = parse_text(f"TX .\nD {SP} {term}{separator}{end}\nA {SP} <a:o> .\nTC .", **PATCH)
    assert not parsed.rejections
    assert objects(parsed) == [meant, "<a:o>"]
    assert parsed.changes[0].graph == ("<a:g>" if "<a:g>" in end else "")


def test_names_are_abbreviated_by_the_prefixes_before_them(parse_text: ParseText) -> None:
    text = f"""\
A ex:s <a:p> <a:early> .
PA "ex" <http://e/> .
PA p: "http://p#" <a:g> .
PA "" <http://none/> .
A ex:s p:q :o .
A ex:a.b.c\\,d%20 <a:p> "1"^^p:t.
PD ex .
A ex:s <a:p> <a:late> .
PA ex <no-iri> .
A {SP} ex:o .
"""
    parsed = parse_text(text, **PATCH)
    assert parsed.quads == [
        ("", "<http://e/s>", "<http://p#q>", "<http://none/o>"),
        ("", "<http://e/a.b.c,d%20>", "<a:p>", '"1"^^<http://p#t>'),
    ]
    assert [(r.line, r.column) for r in parsed.rejections] == [(1, 3), (8, 3), (10, 15)]
    assert "has not declared the prefix ex: (PA)" in parsed.rejections[0].reason


def test_rows_begin_and_end_anywhere_in_lines(parse_text: ParseText) -> None:
    text = f"""\
H id <urn:2> . H prev <urn:1> . TX . A {SP} 1 . D {SP} 2 . # comment . A
A
  <a:s> # the subject
  <a:p>

  3
. A {SP} 4
.
A {SP} 5 . TC .
"""
    parsed = parse_text(text, **PATCH)
    assert not parsed.rejections
    assert parsed.usable
    assert parsed.header == Header("urn:2", "urn:1")
    assert [(c.line, c.insert, c.object[1]) for c in parsed.changes] == [
        *((1, True, "1"), (1, False, "2"), (2, True, "3"), (7, True, "4"), (9, True, "5"))
    ]


def test_what_looks_like_rows_inside_a_string_is_text(parse_text: ParseText) -> None:
    inner = f"\nA {SP} <a:o> .\nTC .\nD {SP} <_:b> .\nX\n"
    parsed = parse_text(f"TX .\nA {SP} '''{inner}''' .\nA {SP} <a:o> .\nTC .\n", **PATCH)
    assert parsed.usable
    assert not parsed.rejections
    assert objects(parsed) == [str(pyoxigraph.Literal(inner)), "<a:o>"]


@pytest.mark.parametrize(
    ("letters", "kept"), [("AD", [False]), ("DA", [True]), ("ADA", [True]), ("AA", [True])]
)
def test_of_the_changes_of_a_quad_in_one_line_the_last_counts(
    parse_text: ParseText, letters: str, kept: list[bool]
) -> None:
    text = " ".join(f"{letter} {SP} <a:o> ." for letter in letters)
    parsed = parse_text(f"TX . {text} TC .\n", **PATCH)
    assert [c.insert for c in parsed.changes] == kept


def test_a_quad_that_two_transactions_of_one_line_change_is_rejected(
    parse_text: ParseText,
) -> None:
    parsed = parse_text(f"A {SP} 1 . TX . D {SP} 1 . A {SP} 2 . TA .", **PATCH)
    assert [(c.insert, c.object[1]) for c in parsed.changes] == [(True, "1")]
    assert parsed.rejected_lines == [1]


def test_an_aborted_transaction_changes_nothing_wherever_it_stands(parse_text: ParseText) -> None:
    first = f"A {SP} 1 . TX . A {SP} 2 .\nA {SP} 3 .\n"
    text = f"{first}A {SP} 4 . TA . A {SP} 5 . TX .\nD {SP} 6 .\nTC .\n"
    parsed = parse_text(text, **PATCH)
    assert parsed.usable
    assert [c.object[1] for c in parsed.changes] == ["1", "5", "6"]


@pytest.mark.parametrize(
    ("row", "line", "column", "reason"),
    [
        (f"A {SP} ", 3, 14, "ends without a dot"),
        (f"A {SP} <a:o>", 3, 20, "ends without a dot"),
        (f"A {SP}\n  .", 4, 3, "ends before its object"),
        (f"A {SP}\n  <a b> .", 4, 3, "IRI"),
        (f"A {SP} <a:o> <a:g> <a:h> .", 3, 27, "more than four terms"),
        (f"A {SP} [] .", 3, 15, "neither a term nor the dot"),
        (f"A {SP} 0x1F .", 3, 16, "not a term"),
        (f"A {SP} 'é' 5a .", 3, 20, "more than four terms"),
        (f"A {SP} 'open .\n<a:o> .", 3, 15, "neither a term nor the dot"),
        (f"A {SP} '''open .\n<a:o> .\n\n", 3, 15, "triple quotes that is not closed"),
        ("A 'x' <a:p> <a:o> .", 3, 3, "a literal cannot be a subject"),
        ("A <a:s> <_:b> <a:o> .", 3, 9, "a blank node cannot be a predicate"),
        (f"A {SP} '\\x' .", 3, 15, "not an escape"),
        (f"A {SP} <a:o> . .", 3, 23, "not a line of an RDF Patch"),
        (f"A {SP} <<( <a:s> <a:p> <a:o> )>> .", 3, 15, "triple terms (RDF 1.2)"),
        ("TX <a:s> .", 3, 4, "after TX comes nothing"),
        ("PA 5 <a:> .", 3, 4, "neither a word nor a string"),
    ],
)
def test_a_bad_row_is_one_rejection_and_other_rows_are_read(
    parse_text: ParseText, row: str, line: int, column: int, reason: str
) -> None:
    parsed = parse_text(f"TX .\nA {SP} 1 .\n{row}\nD {SP} 2 .\nA {SP} 3 . TC .\n", **PATCH)
    assert [c.object[1] for c in parsed.changes] == ["1", "2", "3"]
    [rejection] = parsed.rejections
    assert reason in rejection.reason
    assert (rejection.line, rejection.column) == (line, column)


def test_after_a_bad_row_reading_goes_on_at_the_next_line_that_begins_with_a_word(
    parse_text: ParseText,
) -> None:
    first = f"A {SP} ! .\n<a:o> .\n. A {SP} 1 .\nA {SP} 2 .\n"
    text = f"{first}! A {SP} 3 .\n! A {SP} 4 .\nX\nA {SP} 5 .\n"
    parsed = parse_text(text, **PATCH)
    assert parsed.rejected_lines == [1, 5, 6, 7]
    assert [c.object[1] for c in parsed.changes] == ["2", "5"]


@pytest.mark.parametrize("block", [50, 1 << 20])
def test_a_row_has_less_bytes_than_a_line_may_have(
    parse_text: ParseText, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", block)
    long = f"A {SP} '''{'x' * 60}\n{'y' * 60}''' ."
    text = f"{long}\nA {SP} 2 .\nA {SP} '''{'x' * 30}\n''' .\n"
    limits = ParseLimits(line_bytes=len(long))
    parsed = parse_text(text, limits=limits, **PATCH)
    assert [c.line for c in parsed.changes] == [3, 4]
    assert [(r.line, r.column) for r in parsed.rejections] == [(2, 66)]
    assert len(parse_text(text, limits=ParseLimits(line_bytes=len(long) + 1), **PATCH).changes) == 3


NUMBERS = st.sampled_from(["5", "-05", "1.5", "-.5", "1e3", "1.E-3", "true", "false"])
SUBJECTS = st.sampled_from(["<http://e/s>", "_:b0", "_:a-b", "_:a.b", "_:0"])
LITERALS = st.builds(
    lambda text, end: f"{pyoxigraph.Literal(text)}{end}",
    st.text(st.sampled_from(" a<>_:\"'\\.é\t\n#"), max_size=8),
    st.sampled_from(["", "@en", "@en-GB", f"^^<{XSD}date>"]),
)
OBJECTS = st.one_of(SUBJECTS, LITERALS, NUMBERS)


def by_jena(term: str) -> str:
    return f"<{term}>" if term.startswith("_:") else term


def by_ourselves(term: str) -> str:
    if term.startswith(("<", "_", '"')):
        return term
    kinds = {"e": "double", "E": "double", ".": "decimal"}
    kind = next((kind for mark, kind in kinds.items() if mark in term), "integer")
    return f'"{term}"^^<{XSD}{"boolean" if term in ("true", "false") else kind}>'


@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("AD"), SUBJECTS, OBJECTS, st.sampled_from(["", " <http://e/g>"])),
        max_size=8,
    ),
    feed=st.sampled_from(["\n", "\r\n", " "]),
)
def test_the_forms_of_a_patch_are_the_same_changes(
    rows: list[tuple[str, str, str, str]], feed: str
) -> None:
    jena, own = (
        "".join(
            f"{letter} {spelled(subject)} <http://e/p> {spelled(object_)}{graph} .{end}"
            for letter, subject, object_, graph in rows
        )
        for spelled, end in ((by_jena, feed), (by_ourselves, "\n"))
    )
    ours, theirs = (flattened(text.encode(), 1 << 20)[:2] for text in (own, jena))
    lines = [without_line(change) for change in ours[0]]
    if feed != " ":
        assert [without_line(change) for change in theirs[0]] == lines
    else:
        # Of the changes of a quad in one line there is the last.
        last = {tuple(line.items())[1:]: line for line in lines}
        shown = {tuple(line.items())[1:]: line for line in map(without_line, theirs[0])}
        assert shown == last
    assert ours[1] == theirs[1] == []


def without_line(change: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in change.items() if name != "line"}


ROWS = st.sampled_from(
    [
        *(f"A {SP} <a:o> .", f"D {SP} _:b .", f"A {SP} <_:b> .", "D <_:a-b> <a:p> 5 .", "# c"),
        *(
            "TX .",
            "TC .",
            "TA .",
            "TX . A <a:s> <a:q> 1 .",
            f'A {SP} "5"^^\n<x:y> .',
            f"A {SP} '''\nA {SP} 7 .\n''' .",
        ),
        *(f"A {SP}\n9\n.", "PA x <x:> .", "A x:s x:p x:o .", f"A {SP} ! .\n junk .", "junk", "!"),
        *(f"A {SP} 'é\\n' . D {SP} 3 .", f"A {SP} '''open", f"A {SP}", f"A {SP} 3", '"""', "TX"),
    ]
)


@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(ROWS, max_size=12),
    separators=st.lists(st.sampled_from(["\n", "\n", "\r\n", " ", "\n\n"]), min_size=12),
    block=st.sampled_from([1, 9, 40]),
)
def test_a_patch_is_read_the_same_wherever_blocks_end(
    rows: list[str], separators: list[str], block: int
) -> None:
    text = "".join(f"{row}{separator}" for row, separator in zip(rows, separators, strict=False))
    whole = flattened(text.encode(), 1 << 20)
    assert flattened(text.encode(), block) == whole


def flattened(
    text: bytes, block: int
) -> tuple[list[dict[str, object]], list[object], list[ParseEvent]]:
    """Changes, rejected lines and all other events, in any batches."""
    request = ParseRequest("f", "rdf-patch", "patch", "s")
    changes: list[dict[str, object]] = []
    rejected: list[object] = []
    others: list[ParseEvent] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines_module, "_BLOCK_BYTES", block)
        for event in parse_patch(io.BytesIO(text), request, LIMITS):
            match event:
                case Changes(batch):
                    changes += batch.to_pylist()
                case Rejections(batch):
                    rejected += [(r["line"], r["column"], r["reason"]) for r in batch.to_pylist()]
                case _:
                    others.append(event)
    return changes, rejected, others
