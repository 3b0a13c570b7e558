"""N-Triples text of terms, compared with pyoxigraph."""

from __future__ import annotations

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weir.rdf.terms import (
    Blank,
    Iri,
    Literal,
    Position,
    Term,
    canonical_term,
    check_term,
    escape,
    iri,
    literal,
    parse_term,
    to_text,
    unescape,
)

XSD = "http://www.w3.org/2001/XMLSchema#"
TEXT = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from('"\\\n\r\t\x7f\x85\u2028\ufffe'))
)
IRI_TEXT = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["http:", "urn:", "a:", "1:", "", "h-1.+:", "É:"]),
        st.sampled_from(
            ["", "//", "//[::1]", "//[v1.a]", "//[::g]", "//a:80", "//u@h:x", "//[", "//é"]
        ),
        st.text(
            st.sampled_from("az09-._~!$&'()*+,;=:@/?#%[]<>\"{}|\\^` \x00é\ue000\U000f0000\ufffe")
        ),
        st.sampled_from(["", "%41", "%zz", "?é\ue000", "#f", "#f#g"]),
    ),
)
LANGUAGE = st.one_of(
    st.sampled_from(
        ["en", "EN-us", "zh-Hant-TW", "x-a", "i-klingon", "sgn-BE-FR", "de-1996", "en-a-bb-x-y"]
    ),
    st.lists(st.text("abxi19", min_size=1, max_size=9), min_size=1, max_size=4).map("-".join),
    st.text("abEN-19é_", max_size=6),
)


# Every character below U+3100, those around the ends of the ranges of the grammars, and a sample.
ENDS = (0xD7FF, 0xE000, 0xF8FF, 0xF900, 0xFDCF, 0xFDF0, 0xFFEF, 0xFFFD, 0xE0FFF, 0xEFFFF)
CHARACTERS = [
    chr(code)
    for code in sorted(
        {
            *range(0x3100),
            *range(0x3100, 0x110000, 97),
            *(
                end + step
                for end in (*ENDS, *range(0xFFFE, 0x10FFFF, 0x10000))
                for step in range(-3, 4)
            ),
        }
    )
    if not 0xD800 <= code < 0xE000 and code < 0x110000
]


def oracle_str(text: str) -> str | None:
    """How pyoxigraph writes `text` as the object of a triple; None if it refuses it."""
    try:
        line = f"<a:s> <a:p> {text} .".encode()
    except UnicodeEncodeError:
        return None
    try:
        quads = list(pyoxigraph.parse(line, pyoxigraph.RdfFormat.N_TRIPLES))
    except SyntaxError:
        return None
    return str(quads[0].object) if len(quads) == 1 else None


def ours(text: str) -> str | None:
    return None if check_term(text, "object") else canonical_term(text, "object")


def test_every_character_is_escaped_as_pyoxigraph_does() -> None:
    text = " ".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    assert literal(text) == str(pyoxigraph.Literal(text))


@given(lexical=TEXT)
def test_unescape_undoes_escape(lexical: str) -> None:
    assert unescape(escape(lexical)) == lexical


@given(lexical=TEXT, datatype=st.sampled_from([XSD + "string", XSD + "integer", "urn:x"]))
def test_a_typed_literal_is_written_as_pyoxigraph_writes_it(lexical: str, datatype: str) -> None:
    expected = pyoxigraph.Literal(lexical, datatype=pyoxigraph.NamedNode(datatype))
    assert literal(lexical, datatype) == str(expected)


@given(lexical=TEXT, language=LANGUAGE)
def test_a_language_tagged_literal_is_written_as_pyoxigraph_writes_it(
    lexical: str, language: str
) -> None:
    try:
        expected = str(pyoxigraph.Literal(lexical, language=language))
    except ValueError:
        assert check_term(f'"x"@{language}', "object")
    else:
        assert literal(lexical, language=language) == expected


@settings(max_examples=200)
@given(language=LANGUAGE)
def test_the_language_tags_accepted_are_those_of_pyoxigraph(language: str) -> None:
    assert ours(f'"x"@{language}') == oracle_str(f'"x"@{language}')


@settings(max_examples=300)
@given(text=IRI_TEXT)
def test_the_iris_accepted_are_those_of_pyoxigraph(text: str) -> None:
    assert ours(f"<{text}>") == oracle_str(f"<{text}>")


@pytest.mark.parametrize("place", ["urn:{}", "http://{}/", "a:?{}", "a:#{}"])
def test_every_character_of_an_iri_is_accepted_where_pyoxigraph_accepts_it(place: str) -> None:
    def accepted(text: str) -> bool:
        try:
            pyoxigraph.NamedNode(text)
        except ValueError:
            return False
        return True

    wrong = [
        hex(ord(character))
        for character in CHARACTERS
        if (check_term(iri(place.format(character)), "object") is None)
        != (accepted(place.format(character)) and character != "\\")
    ]
    assert not wrong


def test_every_character_of_a_blank_node_label_is_accepted_where_pyoxigraph_accepts_it() -> None:
    wrong = [
        text
        for character in CHARACTERS
        for text in (f"_:{character}", f"_:a{character}b", f"_:a{character}")
        if character not in " \t\r\n#" and ours(text) != oracle_str(text)
    ]
    assert not wrong


@settings(max_examples=300)
@given(
    text=st.one_of(
        st.text(st.sampled_from('<>"\\uU0041_:a.-@^\n\r\t #\x00é\ud800')),
        TEXT.map(lambda text: f'"{text}"'),
        st.text("\\uUtnrb'f\"0D8a{").map(lambda text: f'"{text}"'),
        st.text("\\uU004eE9d/\u2028").map(lambda text: f"<a:{text}>"),
        st.text('\\u0041\u2028>"').map(lambda text: f'"x"^^<a:{text}>'),
    )
)
def test_text_is_read_as_pyoxigraph_reads_it(text: str) -> None:
    if not any(blank in text for blank in (" ", "\t", "#", "\r", "\n")) and not text.endswith("."):
        assert ours(text) == oracle_str(text)


TERMS: st.SearchStrategy[Term] = st.one_of(
    st.sampled_from(["http://a/b", "urn:é"]).map(Iri),
    st.sampled_from(["a", "0", "b.c"]).map(Blank),
    st.builds(Literal, TEXT, st.sampled_from([XSD + "string", XSD + "date"])),
)


@given(term=TERMS)
def test_parse_term_undoes_to_text(term: Term) -> None:
    assert parse_term(to_text(term)) == term


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ('"x"', "subject", "a literal cannot be a subject"),
        ('"x"', "predicate", "a literal cannot be a predicate"),
        ('"x"', "graph", "a literal cannot be a graph"),
        ("_:b", "predicate", "a blank node cannot be a predicate"),
        ("", "subject", "a term starts with"),
        ("<<( <a:a> <a:b> <a:c> )>>", "object", "triple terms"),
        ('"x"@en--ltr', "object", "base direction"),
        ('"a\nb"', "object", "not a literal"),
    ],
)
def test_a_term_that_is_invalid_in_its_position_is_refused_with_the_reason(
    text: str, position: Position, reason: str
) -> None:
    assert reason in str(check_term(text, position))


def test_the_default_graph_is_the_empty_string() -> None:
    assert check_term("", "graph") is None
