"""JSON-LD: what is read, what is rejected by value, what refuses the document."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.rdf.conftest import LIMITS, Parsed
from weir.rdf import json_ld

ParseText = Callable[..., Parsed]
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
DOUBLE = "http://www.w3.org/2001/XMLSchema#double"


@pytest.fixture
def read(parse_text: ParseText) -> Callable[..., Parsed]:
    """Parse a document, given as a value or as text."""

    def run(document: Any, **request: Any) -> Parsed:
        text = document if isinstance(document, str | bytes) else json.dumps(document)
        return parse_text(text, format="json-ld", role="snapshot", **request)

    return run


def objects(parsed: Parsed) -> list[str]:
    return sorted(quad[3] for quad in parsed.quads)


DROPPED: dict[str, tuple[dict[str, Any], str, str]] = {
    "an IRI with a space": ({"a:q": {"@id": "http://ex/b c"}}, "no IRI has", "http://ex/b c"),
    "a relative IRI": ({"a:q": {"@id": "rel/x"}}, "relative IRI", "rel/x"),
    "a relative type": ({"@type": "Thing"}, "relative IRI", "Thing"),
    "a language that is none": (
        {"a:q": {"@value": "x", "@language": "en_US"}},
        "language",
        '{"@language": "en_us", "@value": "x"}',
    ),
    "a predicate with a space": ({"http://ex/p q": 1}, "a key that is no IRI", "http://ex/p q"),
    "a blank node as a predicate": ({"_:p": 1}, "blank node cannot be a predicate", "_:p"),
    "an empty language": ({"a:q": {"@value": "x", "@language": ""}}, "empty language tag", ""),
    "a network path": ({"a:q": {"@id": "//ex/c"}}, "relative IRI", "//ex/c"),
    "an IRI with half of a surrogate pair": (
        {"a:q": {"@id": "http://ex/\ud800"}},
        "no IRI has",
        "",
    ),
    "a JSON literal with a number beyond doubles": (
        {"a:q": {"@value": 10**400, "@type": "@json"}},
        "",
        "",
    ),
    "half of a surrogate pair": ({"a:q": "\ud800"}, "surrogate", ""),
    "a language string without a language": (
        {"a:q": {"@value": "x", "@type": json_ld._LANG_STRING}},
        "needs a language tag",
        "",
    ),
}


@pytest.mark.parametrize(("part", "reason", "raw"), DROPPED.values(), ids=DROPPED)
def test_a_value_that_is_no_rdf_is_rejected_and_the_others_are_read(
    read: Callable[..., Parsed], part: dict[str, Any], reason: str, raw: str
) -> None:
    parsed = read({"@id": "http://ex/a", "http://ex/ok": "ok"} | part)
    assert objects(parsed) == ['"ok"']
    [rejection] = parsed.rejections
    assert reason in rejection.reason
    assert not raw or rejection.raw == raw


def test_the_statements_of_a_node_without_a_usable_name_are_left_out_but_not_those_in_it(
    read: Callable[..., Parsed],
) -> None:
    inner = {"@id": "http://ex/b", "http://ex/p": "inner"}
    parsed = read({"@id": "rel", "http://ex/p": "outer", "http://ex/q": inner})
    assert objects(parsed) == ['"inner"']
    assert [rejection.raw for rejection in parsed.rejections] == [
        "rel",
        '<http://ex/p> "outer"',
        "<http://ex/q> <http://ex/b>",
    ]


def test_each_statement_in_a_graph_without_a_usable_name_is_rejected(
    read: Callable[..., Parsed],
) -> None:
    items = [{"@id": f"http://ex/{i}", "http://ex/p": i} for i in range(20)]
    parsed = read({"@id": "http://ex/g 1", "@graph": items})
    assert parsed.quads == []
    assert len(parsed.rejections) == 21


@pytest.mark.parametrize(
    ("number", "object_"),
    [
        ("1", f'"1"^^<{INTEGER}>'),
        ("1.0", f'"1"^^<{INTEGER}>'),
        ("-0", f'"0"^^<{INTEGER}>'),
        ("100000000000000000000", f'"100000000000000000000"^^<{INTEGER}>'),
        ("999999999999999999999", f'"999999999999999999999"^^<{INTEGER}>'),
        ("1e20", f'"100000000000000000000"^^<{INTEGER}>'),
        ("1e21", f'"1.0E21"^^<{DOUBLE}>'),
        ("1000000000000000000000", f'"1.0E21"^^<{DOUBLE}>'),
        ("2.5", f'"2.5E0"^^<{DOUBLE}>'),
        ("5.3e0", f'"5.3E0"^^<{DOUBLE}>'),
        ("-1.5e-7", f'"-1.5E-7"^^<{DOUBLE}>'),
        ("true", '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'),
        ('{"@value": 5, "@type": "' + DOUBLE + '"}', f'"5.0E0"^^<{DOUBLE}>'),
        ('{"@value": 5.5, "@type": "http://ex/d"}', '"5.5E0"^^<http://ex/d>'),
        ('{"@value": {"b": 1, "a": [2.0]}, "@type": "@json"}', ""),
    ],
)
def test_numbers_have_the_lexical_form_of_the_specification(
    read: Callable[..., Parsed], number: str, object_: str
) -> None:
    parsed = read(f'{{"@id": "http://ex/a", "http://ex/p": {number}}}')
    assert not parsed.rejections
    assert objects(parsed) == [
        object_ or r'"{\"a\":[2],\"b\":1}"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON>'
    ]


def test_a_number_beyond_all_doubles_is_rejected(read: Callable[..., Parsed]) -> None:
    parsed = read('{"@id": "http://ex/a", "http://ex/p": 1e400}')
    assert parsed.quads == []
    assert "larger than any" in parsed.rejections[0].reason


REFUSED: dict[str, tuple[str | bytes, int, int, str]] = {
    "no JSON": ('{"@id": "a:s",\n "a:p": }', 2, 9, "Expecting value"),
    "no UTF-8": (b'{"@id": "a:s",\n "a:p": "\xe9"}', 2, 0, "UTF-8"),
    "a key twice": ('{"@id": "a:s", "a:p": 1, "a:p": 2}', 0, 0, "twice in one object: 'a:p'"),
    "no number": ('{"@id": "a:s", "a:p": NaN}', 0, 0, "NaN is no number"),
    "a datatype that is no IRI": (
        '{"a:p": {"@value": "x", "@type": "http://ex/d e"}}', 0, 0, "absolute IRI",
    ),
    "a whole number beyond all doubles": ('{"a:p": 1' + "0" * 400 + "}", 0, 0, "too large"),
    "too many digits": ('{"a:p": 1' + "0" * 5_000 + "}", 0, 0, "digits"),
    "neither object nor array": ('"http://ex/a"', 0, 0, "an object or an array"),
    "a remote context": (
        '{"@context": "http://ex/c", "p": 1}', 0, 0, "context http://ex/c is not fetched",
    ),
    "a relative context": (
        '{"@context": "c.jsonld", "p": 1}', 0, 0, "the context c.jsonld is a relative IRI",
    ),
    "a wrong context": ('{"@context": {"a": 1}, "a": 1}', 0, 0, "@context"),
    "a context in a circle": (
        '{"@context": {"a": {"@id": "b:x"}, "b": {"@id": "a:x"}}, "a": 1}', 0, 0, "yclic",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "column", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_document_that_is_no_json_ld_is_refused_whole(
    read: Callable[..., Parsed], text: str | bytes, line: int, column: int, reason: str
) -> None:
    parsed = read(text)
    assert not parsed.usable
    [rejection] = parsed.rejections
    assert reason in rejection.reason
    assert (rejection.line, rejection.column) == (line, column)


def test_a_context_is_read_from_the_file_that_its_iri_is_mapped_to(
    read: Callable[..., Parsed], tmp_path: Path
) -> None:
    file = tmp_path / "context.jsonld"
    file.write_text('{"@context": {"name": "http://schema.org/name"}}')
    document = {"@context": "http://schema.org/", "@id": "http://ex/a", "name": "A"}
    parsed = read(document, contexts={"http://schema.org/": str(file)})
    assert [quad[1:] for quad in parsed.quads] == [
        ("<http://ex/a>", "<http://schema.org/name>", '"A"')
    ]


def test_a_relative_context_is_resolved_against_the_base(
    read: Callable[..., Parsed], tmp_path: Path
) -> None:
    file = tmp_path / "context.jsonld"
    file.write_text('{"@context": {"p": "http://ex/p"}}')
    document = {"@context": "c.jsonld", "@id": "", "p": 1}
    parsed = read(document, base="http://ex/d/x", contexts={"http://ex/d/c.jsonld": str(file)})
    assert [quad[1] for quad in parsed.quads] == ["<http://ex/d/x>"]


def test_a_context_that_is_broken_or_too_large_refuses_the_document_with_its_name(
    parse_text: ParseText, tmp_path: Path
) -> None:
    file = tmp_path / "context.jsonld"
    file.write_text("{\n]")
    document = '{"@context": "http://ex/c", "p": 1}'
    for size, reason in ((1000, "context.jsonld, line 2"), (40, "more than 40 bytes")):
        if size == 40:
            file.write_text(" " * 41)
        parsed = parse_text(
            document,
            replace(LIMITS, document_bytes=size),
            format="json-ld",
            role="snapshot",
            contexts={"http://ex/c": str(file)},
        )
        assert not parsed.usable
        assert reason in parsed.rejections[0].reason


@pytest.mark.parametrize("text", ["[]", '{"p": "http://ex/p"}'])
def test_a_context_that_is_none_refuses_the_document(
    read: Callable[..., Parsed], tmp_path: Path, text: str
) -> None:
    (tmp_path / "c.jsonld").write_text(text)
    parsed = read(
        '{"@context": "http://ex/c"}', contexts={"http://ex/c": str(tmp_path / "c.jsonld")}
    )
    assert "c.jsonld: it is no object with an @context" in parsed.rejections[0].reason


def test_the_file_of_a_context_that_is_gone_is_an_error_and_no_rejection(
    read: Callable[..., Parsed], tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        read('{"@context": "http://ex/c"}', contexts={"http://ex/c": str(tmp_path / "gone")})


def test_a_graph_without_a_name_is_a_graph_that_a_blank_node_names(
    read: Callable[..., Parsed],
) -> None:
    claim = {"@graph": [{"@id": "http://ex/b", "http://ex/p": 1}]}
    parsed = read({"@id": "http://ex/a", "http://ex/claims": [claim, claim]})
    claims = {quad[3] for quad in parsed.quads if quad[2] == "<http://ex/claims>"}
    graphs = {quad[0] for quad in parsed.quads if quad[2] == "<http://ex/p>"}
    assert len(claims) == 2
    assert claims == graphs


@pytest.mark.parametrize(
    "outer", [{}, {"@id": "http://ex/g"}, {"@id": "_:g"}, {"@id": "rel"}, {"q": "of the graph"}]
)
@pytest.mark.parametrize("in_array", [True, False])
def test_a_long_graph_is_the_same_in_parts(
    read: Callable[..., Parsed],
    monkeypatch: pytest.MonkeyPatch,
    outer: dict[str, Any],
    in_array: bool,
) -> None:
    items: list[dict[str, Any]] = [
        {"@id": f"_:n{i % 7}", "p": [{"@id": f"_:n{(i + 1) % 7}"}, {"q": i}, {"@list": [i, {}]}]}
        for i in range(40)
    ]
    context = {"p": "http://ex/p", "q": "http://ex/q"}
    graph: Any = outer | {"@context": context, "@graph": items}
    document = [graph] if in_array else graph
    whole = read(document).quads
    # Of an array, a graph without a name is one that a blank node names.
    named = {quad[0] != "" for quad in whole if quad[2] == "<http://ex/p>"}
    assert named <= {in_array or bool(outer)}
    monkeypatch.setattr(json_ld, "_ITEMS", 3)
    assert sorted(read(document).quads) == sorted(whole)
    assert bool(whole) == (outer != {"@id": "rel"})


def test_what_no_context_maps_to_an_iri_is_left_out_as_the_specification_says(
    read: Callable[..., Parsed],
) -> None:
    parsed = read({"@id": "http://ex/a", "comment": "x", "http://ex/p": [None, "y"]})
    assert objects(parsed) == ['"y"']
    assert parsed.rejections == []


def test_nothing_in_a_document_without_a_base_gets_one(read: Callable[..., Parsed]) -> None:
    """PyLD takes <http://example.org/base/> where it is given none."""
    document = {"@context": {"@base": "x/"}, "@id": "y", "http://ex/p": {"@id": "../z"}}
    parsed = read(document)
    assert parsed.quads == []
    assert {rejection.reason for rejection in parsed.rejections} == {
        "a relative IRI, and there is no base"
    }


def test_a_document_nested_to_the_limit_is_read(parse_text: ParseText) -> None:
    depth = 250
    text = '{"http://ex/p":' * depth + "1" + "}" * depth
    parsed = parse_text(text, format="json-ld", role="snapshot")
    assert len(parsed.quads) == depth


_CLEARED = ("@language", "@vocab", "@direction", "@base")


@pytest.mark.parametrize("key", _CLEARED)
def test_a_context_may_clear_what_is_not_set(parse_text: ParseText, key: str) -> None:
    """PyLD 3.3.0 has a KeyError there, which ended the run of all sources."""
    name = {"@id": "http://e/name"}
    inner = {"@id": "http://e/inner", "@context": {key: None, "name": name}}
    context = {key: None, "name": name, "inner": inner}
    document = {"@context": context, "@id": "http://e/a", "name": "x"}
    parsed = parse_text(json.dumps(document), format="json-ld", role="snapshot")
    assert parsed.quads == [("", "<http://e/a>", "<http://e/name>", '"x"')]
    document["inner"] = {"@id": "http://e/b", "name": "y"}
    parsed = parse_text(json.dumps(document), format="json-ld", role="snapshot")
    assert ("", "<http://e/b>", "<http://e/name>", '"y"') in parsed.quads


def test_what_is_set_is_cleared(parse_text: ParseText) -> None:
    inner = {"@id": "http://e/inner", "@context": {"@language": None, "@vocab": None}}
    context = {"@language": "en", "@vocab": "http://e/", "inner": inner}
    document = {"@context": context, "@id": "http://e/a", "p": "x"}
    document["inner"] = {"@id": "http://e/b", "p": "is lost", "http://e/q": "y"}
    parsed = parse_text(json.dumps(document), format="json-ld", role="snapshot")
    assert {*parsed.quads} == {
        ("", "<http://e/a>", "<http://e/p>", '"x"@en'),
        ("", "<http://e/a>", "<http://e/inner>", "<http://e/b>"),
        ("", "<http://e/b>", "<http://e/q>", '"y"'),
    }


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"@context": {"x": {"@id": {}}}, "_:p": "x"}, "it cannot be expanded: TypeError"),
        ({"@context": {"@vocab": "@foo"}, "a": 1}, "it cannot be expanded: TypeError"),
        ({"@context": {"": "http://e/", "p": {"@id": "@none", "@nest": ""}}, "p": 1}, ""),
        ({"@context": [], "@included": 5}, "the value of @included is no node: [5]"),
        (
            {"@context": {"Xsd:date": "http://e/date"}, "@id": "http://e/a"},
            "Invalid JSON-LD syntax; term in form of IRI must expand to definition."
            " <http://e/date>",
        ),
    ],
)
def test_a_context_or_keyword_of_another_type_rejects_the_document(
    parse_text: ParseText, document: object, reason: str
) -> None:
    parsed = parse_text(json.dumps(document), format="json-ld", role="snapshot")
    assert not parsed.usable
    (rejection,) = parsed.rejections
    assert rejection.reason.startswith(reason)


def test_a_value_whose_type_is_no_iri_is_rejected(parse_text: ParseText) -> None:
    context = {"t": {"@id": "http://e/t", "@container": ["@set", "@type"]}, "@vocab": "http://v/"}
    document = {"@context": context, "@id": "http://e/a", "t": {"@json": True}}
    parsed = parse_text(json.dumps(document), format="json-ld", role="snapshot")
    assert not parsed.quads
    assert [rejection.reason for rejection in parsed.rejections] == ["a datatype that is no IRI"]


def test_a_key_that_occurs_twice_is_found_in_linear_time(parse_text: ParseText) -> None:
    keys = "".join(f'"http://e/{number}": 1, ' for number in range(200_000))
    parsed = parse_text(f'{{{keys}"twice": 1, "twice": 2}}', format="json-ld", role="snapshot")
    (rejection,) = parsed.rejections
    assert rejection.reason == "a key occurs twice in one object: 'twice'"
