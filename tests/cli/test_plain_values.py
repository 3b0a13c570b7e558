"""Plain values of terms, compared with the texts from which pyoxigraph made the terms."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode

from weir.answers.plain_values import connect_with_plain_values
from weir.settings import Settings


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    return connect_with_plain_values(Settings())


texts = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
        st.sampled_from('\\"nrtbfuU0041\n\r\t\b\f\x01\x7f'),
    ),
    max_size=30,
)


@given(texts)
def test_the_plain_value_of_a_literal_is_its_lexical_form(
    connection: duckdb.DuckDBPyConnection, text: str
) -> None:
    terms = [
        str(Literal(text)),
        str(Literal(text, language="en")),
        str(Literal(text, datatype=NamedNode('http://a/"'.replace('"', "d")))),
    ]
    query = "SELECT plain_value(term) FROM (SELECT unnest(?) AS term)"
    assert [row[0] for row in connection.execute(query, [terms]).fetchall()] == [text] * 3


def test_the_plain_value_of_an_iri_is_its_text_and_blank_nodes_stay(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    terms = [str(NamedNode("http://a/é?x=1")), str(BlankNode("b1")), None]
    query = "SELECT plain_value(term) FROM (SELECT unnest(?) AS term)"
    plain = [row[0] for row in connection.execute(query, [terms]).fetchall()]
    assert plain == ["http://a/é?x=1", "_:b1", None]


PREFIXES = {"ex": "http://example.org/", "p": "http://example.org/people#", "": "urn:it's:"}


@pytest.mark.parametrize(
    ("term", "shown"),
    [
        ("<http://example.org/bob>", "ex:bob"),
        ("<http://example.org/people#ann-1.2>", "p:ann-1.2"),
        ("<http://example.org/people#\u00e9t\u00e9>", "p:\u00e9t\u00e9"),
        ("<urn:it's:here>", ":here"),
        # What would need an escape, or looks like the end of a sentence, is whole.
        ("<http://example.org/a/b>", "http://example.org/a/b"),
        ("<http://example.org/a.>", "http://example.org/a."),
        ("<http://example.org/>", "http://example.org/"),
        ("<http://example.org/people>", "ex:people"),
        ("<http://example.com/bob>", "http://example.com/bob"),
        ('"http://example.org/bob"', "http://example.org/bob"),
        ("_:bob", "_:bob"),
    ],
)
def test_an_iri_is_shortened_by_the_longest_prefix_that_leaves_a_plain_name(
    term: str, shown: str
) -> None:
    connection = connect_with_plain_values(Settings(), PREFIXES)
    assert connection.execute("SELECT short_value(?)", [term]).fetchall() == [(shown,)]


def test_of_two_prefixes_with_one_iri_the_first_shortens() -> None:
    connection = connect_with_plain_values(Settings(), {"zz": "urn:a:", "a": "urn:a:"})
    assert connection.execute("SELECT short_value('<urn:a:b>')").fetchall() == [("zz:b",)]


def test_without_prefixes_nothing_is_shortened(connection: duckdb.DuckDBPyConnection) -> None:
    assert connection.execute("SELECT short_value('<urn:a:b>')").fetchall() == [("urn:a:b",)]
