"""The SQL predicates on terms against pyoxigraph, which shares no code with them."""

from __future__ import annotations

import random

import duckdb
import pyarrow as pa
import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat
from sqlglot import select

from tests.expectations.conftest import Held
from weir.expectations.terms import parse_condition

_ALPHABET = (
    "ab<>{}|^`\\\"' \t\n\r\b\f\x00\x1f\x7f\u00e9\u0300\u00b7\u2100\u3042"
    "\U0001f600\U00010000%:/.-_@#"
)


def _texts(rng: random.Random, count: int) -> list[str]:
    return ["".join(rng.choices(_ALPHABET, k=rng.randrange(8))) for _ in range(count)]


def _terms(texts: list[str]) -> list[tuple[str, str]]:
    """(kind, N-Triples form) of every term that pyoxigraph creates from the texts."""
    terms = [("literal", str(Literal(text))) for text in texts]
    terms += [("literal", str(Literal(text, language="de-ch"))) for text in texts]
    terms += [("literal", str(Literal(text, datatype=NamedNode("http://a/d")))) for text in texts]
    for text in texts:
        for kind, make in (("iri", lambda t: NamedNode(f"http://a/{t}")), ("blank", _blank_node)):
            try:
                terms.append((kind, str(make(text))))
            except ValueError:
                continue
    return terms


def _blank_node(text: str) -> BlankNode:
    # The constructor accepts a colon, which its parser, following the grammar, does not.
    return BlankNode(text.replace(":", ""))


def _where(held: Held, terms: pa.Table, condition: str) -> list[str]:
    """The terms for which the condition holds."""
    rows = held(terms)
    parsed = parse_condition(condition)
    if isinstance(rows, pa.Table):
        with duckdb.connect() as connection:
            connection.register("terms", rows)
            sql = select("term").from_("terms").where(parsed).sql("duckdb")
            return [term for (term,) in connection.sql(sql).fetchall()]
    return [row.term for row in rows.where(parsed.sql("spark")).select("term").collect()]


def test_every_term_that_pyoxigraph_writes_is_one_of_its_kind(held: Held) -> None:
    terms = _terms(_texts(random.Random(7), 3000))
    assert {kind for kind, _ in terms} == {"iri", "blank", "literal"}
    rows = pa.Table.from_pylist([{"kind": kind, "term": term} for kind, term in terms])
    wrong = _where(
        held,
        rows,
        "NOT is_term(term) OR coalesce(kind <> CASE WHEN is_iri(term) THEN 'iri'"
        " WHEN is_blank_node(term) THEN 'blank' WHEN is_literal(term) THEN 'literal' END, true)",
    )
    assert wrong[:5] == []


def test_text_that_pyoxigraph_rejects_as_an_object_is_not_a_term(held: Held) -> None:
    # An IRI without a scheme passes the pattern: the grammar of N-Triples allows it, RFC 3987 not.
    rng = random.Random(11)
    parts = ('"', '"', "<http://a/", ">", "_:b", "^^", "@en", "\\n", "\\u00e9", ".", *_ALPHABET)
    texts = {"".join(rng.choices(parts, k=rng.randrange(1, 7))) for _ in range(20_000)}
    texts = {text for text in texts if "\n" not in text and "\r" not in text and " " not in text}
    accepted = _where(held, pa.table({"term": sorted(texts)}), "is_term(term)")
    assert len(accepted) > 50
    assert [term for term in accepted if not _is_read(term)] == []


def _is_read(term: str) -> bool:
    try:
        quads = list(pyoxigraph.parse(f"<http://a/s> <http://a/p> {term} .\n", RdfFormat.N_TRIPLES))
    except SyntaxError:
        return "<" in term and not term.startswith("_:")
    return len(quads) == 1
