"""A shortened term is the same term to a parser of Turtle that is not ours."""

from __future__ import annotations

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.text.short_term import short_term

XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = {"": "http://a/", "b": "http://a/b#", "x": XSD}
DATATYPES = st.sampled_from(["integer", "decimal", "double", "boolean", "date", "string"])


@pytest.mark.parametrize(
    ("term", "short"),
    [
        ("<http://a/c>", ":c"),
        ("<http://a/b#c>", "b:c"),
        ("<http://a/c/d>", "<http://a/c/d>"),
        ("_:c", "_:c"),
        ('"c"@en', '"c"@en'),
        (f'"7"^^<{XSD}integer>', "7"),
        (f'"seven"^^<{XSD}integer>', '"seven"^^x:integer'),
        (f'"1.50"^^<{XSD}decimal>', "1.50"),
        (f'"1"^^<{XSD}decimal>', '"1"^^x:decimal'),
        (f'"1E2"^^<{XSD}double>', "1E2"),
        (f'"1"^^<{XSD}boolean>', '"1"^^x:boolean'),
        (f'"2026-01-31"^^<{XSD}date>', '"2026-01-31"^^x:date'),
    ],
)
def test_a_term_is_shortened_as_turtle_writes_it(term: str, short: str) -> None:
    assert short_term(term, PREFIXES) == short


def test_xsd_is_a_prefix_unless_it_is_another_one() -> None:
    date = f'"2026-01-31"^^<{XSD}date>'
    assert short_term(date, {}) == '"2026-01-31"^^xsd:date'
    assert short_term(date, {"xsd": "http://other/"}) == date


@given(st.text("+-.eE0123456789truefals", max_size=8), DATATYPES)
def test_a_shortened_literal_is_the_same_literal(lexical: str, datatype: str) -> None:
    term = f'"{lexical}"^^<{XSD}{datatype}>'
    head = "".join(f"@prefix {prefix}: <{iri}> .\n" for prefix, iri in PREFIXES.items())
    text = f"{head}:s :p {short_term(term, PREFIXES)} ."
    (triple,) = pyoxigraph.parse(text, pyoxigraph.RdfFormat.TURTLE)
    assert triple.object == pyoxigraph.Literal(
        lexical, datatype=pyoxigraph.NamedNode(XSD + datatype)
    )
