"""Turtle, TriG, RDF/XML, JSON-LD: whole or not at all, compared with rdflib."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pyoxigraph
import pytest

from tests.rdf.conftest import LIMITS, Parsed
from tests.support.oracles.rdf_lib_documents import read
from weir.rdf.documents import _BATCH_QUADS
from weir.rdf.nesting import nesting_fault
from weir.rdf.records import Format

ParseText = Callable[..., Parsed]
RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="http://a/"'
XML = f'<rdf:RDF {RDF}>\n<rdf:Description rdf:about="http://x"><a:b>é</a:b></rdf:Description>\n</rdf:RDF>'
GOOD: list[tuple[Format, str]] = [
    ("turtle", '@prefix : <a:> . :s :p "x"@EN, 01.50, [ :q () ] .'),
    ("trig", "@prefix : <a:> . :g { :s :p :o } :s :p :o ."),
    ("rdf-xml", XML),
    ("json-ld", '{"@id": "a:s", "a:p": [1, {"@value": "x", "@language": "en"}]}'),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
@pytest.mark.parametrize(("syntax", "text"), GOOD)
def test_a_document_gives_the_quads_that_rdflib_reads(
    parse_text: ParseText, tmp_path: Path, syntax: Format, text: str
) -> None:
    parsed = parse_text(text, format=syntax, role="snapshot")
    file = tmp_path / "document"
    # rdflib makes a number of `01.50`, and writes it otherwise.
    decimal = '"01.50"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    file.write_text(text.replace("01.50", decimal))
    expected = pyoxigraph.Dataset(read(file, syntax, None, {}))
    ours = pyoxigraph.Dataset(
        pyoxigraph.parse(
            "".join(f"{s} {p} {o} {g} .\n" for g, s, p, o in parsed.quads).encode(),
            pyoxigraph.RdfFormat.N_QUADS,
        )
    )
    for dataset in (expected, ours):
        dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
    assert ours == expected
    assert {(c.line, c.insert) for c in parsed.changes} == {(0, True)}
    assert not parsed.rejections


def test_a_long_document_is_read_to_its_end(parse_text: ParseText) -> None:
    count = 2 * _BATCH_QUADS + 1
    text = "".join(f"<a:{i}> <a:p> {i} .\n" for i in range(count))
    parsed = parse_text(text, format="turtle", role="snapshot", graph="<a:g>")
    assert len(set(parsed.quads)) == count
    assert {quad[0] for quad in parsed.quads} == {"<a:g>"}


BAD: dict[str, tuple[Format, str | bytes, int, int, str]] = {
    "turtle": ("turtle", "<a:s> <a:p> 1 .\n<a:s> <a:p> 2 ,, .\n", 2, 16, ""),
    "turtle cut": ("turtle", "<a:s> <a:p> 1 .\n<a:s> <a:p", 2, 7, "end of file"),
    "turtle no utf-8": ("turtle", b'<a:s> <a:p> "\xe9" .', 1, 14, "UTF-8"),
    "relative iri": ("turtle", "<a:s> <a:p> <o> .", 1, 13, "scheme"),
    "triple term": ("turtle", "<a:s> <a:p> <<( <a:a> <a:b> <a:c> )>> .", 0, 0, "triple terms"),
    "reified": ("turtle", "<< <a:s> <a:p> <a:o> >> <a:p> 1 .", 0, 0, "triple terms"),
    "direction": ("turtle", '<a:s> <a:p> "x"@en--ltr .', 0, 0, "base direction"),
    "xml": ("rdf-xml", XML.replace("</a:b>", ""), 2, 47, "mismatched tag"),
    "xml latin-1": ("rdf-xml", XML.encode("latin-1"), 2, 44, "not well-formed"),
    "xml garbage": ("rdf-xml", bytes(range(256)) * 10, 1, 1, ""),
    "json": ("json-ld", '{"@id": "a:s",\n "a:p": }', 2, 9, ""),
    "json remote context": ("json-ld", '{"@context": "http://a/", "a:p": 1}', 0, 0, "remote"),
    "json garbage": ("json-ld", bytes(range(256)) * 10, 2, 0, "UTF-8"),
    "turtle garbage": ("turtle", bytes(range(256)) * 10, 1, 1, ""),
    "too deep turtle": (
        "turtle",
        "<a:s> <a:p> " + "[<a:p> \n" * 300 + "1" + "]" * 300 + ".",
        257,
        0,
        "nested",
    ),
    "too deep json": ("json-ld", '{"a:p":' * 5000 + "1" + "}" * 5000, 1, 0, "nested"),
    "too deep xml": ("rdf-xml", f"<rdf:RDF {RDF}>\n" + "<a:B><a:p>" * 300, 2, 1276, "nested"),
    "late entities": (
        "rdf-xml",
        XML + '<!DOCTYPE x [<!ENTITY a "aaa">]>',
        3,
        11,
        "junk after document element",
    ),
}


@pytest.mark.parametrize(("syntax", "text", "line", "column", "reason"), BAD.values(), ids=BAD)
def test_a_broken_document_is_rejected_whole(
    parse_text: ParseText, syntax: Format, text: str | bytes, line: int, column: int, reason: str
) -> None:
    parsed = parse_text(text, format=syntax, role="snapshot")
    assert not parsed.usable
    [rejection] = parsed.rejections
    assert reason in rejection.reason
    assert (rejection.line, rejection.column) == (line, column)


def test_the_line_of_the_error_is_recorded(parse_text: ParseText) -> None:
    parsed = parse_text(BAD["turtle"][1], format="turtle", role="snapshot")
    assert parsed.rejections[0].raw == "<a:s> <a:p> 2 ,, ."


def test_a_document_that_is_too_large_is_rejected_whole(parse_text: ParseText) -> None:
    text = "<a:s> <a:p> 1 ."
    for size, usable in ((len(text) - 1, False), (len(text), True)):
        limits = replace(LIMITS, document_bytes=size)
        assert parse_text(text, limits, format="turtle", role="snapshot").usable == usable


def test_relative_iris_are_resolved_against_the_base_of_the_request(parse_text: ParseText) -> None:
    parsed = parse_text("<s> <a:p> <> .", format="turtle", role="snapshot", base="http://b/c")
    assert parsed.quads == [("", "<http://b/s>", "<a:p>", "<http://b/c>")]


@pytest.mark.parametrize(
    ("syntax", "text"),
    [
        ("turtle", '<a:s> <a:p> "[[[[" , """ [ " [ \\""" ' + "[[[[" + '""" .'),
        ("turtle", "# [[[[[[\n<a:[[[[[> <a:p> '[[[[' , ''' ' [[[[ ''' ."),
        ("turtle", "@prefix a: <a:> . a:\\(\\(\\(\\( a:p 1 ."),
        ("turtle", "<a:s> <a:p> [], [], [], [], [], (), () ."),
        ("trig", "<a:g> { <a:s> <a:p> 1 } <a:h> { } <a:i> { } <a:j> { }"),
        ("json-ld", '{"a:p": ["[[[[", "\\"[[[[", {}, {}, {}, []]}'),
    ],
)
def test_brackets_inside_strings_comments_and_iris_do_not_count_as_nesting(
    syntax: Format, text: str
) -> None:
    assert nesting_fault(text.encode(), syntax, 3) is None


@pytest.mark.parametrize(
    "syntax",
    [f for f in get_args(Format) if f not in ("n-triples", "n-quads", "rdf-patch", "rdf-xml")],
)
@pytest.mark.parametrize(
    "part",
    [
        '"',
        "'",
        '"""',
        "'''",
        "<",
        "\\",
        '"\\',
        "<<",
    ],
)
def test_the_nesting_scan_takes_linear_time(syntax: Format, part: str) -> None:
    # A quadratic scan of 2 MB would take hours.
    nesting_fault(part.encode() * (2_000_000 // len(part)), syntax, 10**9)
