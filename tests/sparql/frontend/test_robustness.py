"""Damaged queries: no errors but `QueryError`, and nothing accepted that pyoxigraph rejects."""

from __future__ import annotations

import re

import pyoxigraph
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weir.sparql.frontend.errors import QueryError
from weir.sparql.frontend.lexer import tokenize
from weir.sparql.frontend.translate import translate

_TEXTS = [
    "PREFIX e: <u:e#> SELECT DISTINCT ?s $o WHERE { ?s e:p ?o ; a e:C , e:D . FILTER(?o > 1.5e3) }",
    "BASE <u:b> ASK { [ <p> ( 1 2 ) ] <q> \"x\"@en , 'y'^^<t> . _:b <p> [] FILTER REGEX(?x, 'a') }",
    "CONSTRUCT { ?s <u:p> _:x } FROM <u:g> WHERE { ?s <u:p> -1 . { ?s <u:q> true } } ORDER BY ?s",
    "SELECT * { ?s <u:p>/^<u:q>* ?o OPTIONAL { ?o ?p 1 } FILTER(!BOUND(?p) && ?o IN (1, ?s)) }",
    "SELECT (COUNT(*) AS ?n) { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } } GROUP BY ?s LIMIT 5",
    "SELECT ?s (SUM(DISTINCT ?o) + 1 AS ?n) FROM NAMED <u:g> { ?s ?p ?o MINUS { _:x !(<u:p>|^a) 1 "
    "} BIND(IF(?o, BNODE(?s), <u:a>) AS ?x) VALUES (?p ?q) { (UNDEF 1) } } "
    "GROUP BY ?s (STR(?o) AS ?t) HAVING (MAX(?o) > 1) ORDER BY DESC(?s) COUNT(?o) OFFSET 1 "
    "VALUES ?s { <u:a> UNDEF }",
    "ASK { { SELECT DISTINCT * { ?s (<u:p>|<u:q>)+/a? ?o } LIMIT 1 } FILTER NOT EXISTS { ?s ?p 1 } "
    "OPTIONAL { ?o ?p ?z FILTER(?z IN (1, 2) || EXISTS { }) } }",
]
_SYMBOLS = ["\\", '"', "'", "<", "\x00", "\ud800", "#", ":", "_:", "@", "^^", "{|", "<<", "\\u0041"]
_TOKENS = [*sorted({token.text for text in _TEXTS for token in tokenize(text)}), *_SYMBOLS, "1e"]


@st.composite
def _damaged(draw: st.DrawFn) -> str:
    tokens = [token.text for token in tokenize(draw(st.sampled_from(_TEXTS)))]
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(tokens) - 1))
        replacement = draw(st.lists(st.sampled_from(_TOKENS), max_size=2))
        tokens[place : place + draw(st.integers(0, 1))] = replacement
        tokens = tokens or [""]
    return draw(st.sampled_from([" ", "\n", ""])).join(tokens)


def _pyoxigraph_departs(text: str) -> bool:
    """Whether pyoxigraph rejects the text for a known reason, though it is SPARQL 1.1.

    - White space before or in an empty list, as in `BNODE ()` and `!( )`; the grammar permits it
      (NIL).
    - A variable that SELECT names twice. The grammar permits it, and the variables that a SELECT
      projects are a set: https://www.w3.org/TR/sparql11-query/#sparqlSelectExpressions.
    """
    return _EMPTY_LIST.search(text) is not None or _selects_a_variable_twice(text)


_EMPTY_LIST = re.compile(r"\s\(\s*\)|\(\s+\)")


def _selects_a_variable_twice(text: str) -> bool:
    tokens = tokenize(text)
    for start in (i for i, token in enumerate(tokens) if token.is_word("SELECT")):
        selected: set[str] = set()
        depth = 0
        for token in tokens[start + 1 :]:
            if token.is_word("FROM", "WHERE") or token.text == "{":
                break
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if depth == 0 and token.kind == "variable":
                if token.text[1:] in selected:
                    return True
                selected.add(token.text[1:])
    return False


@settings(max_examples=150, deadline=None)
@given(text=_damaged() | st.text(max_size=30))
@example(text="SELECT ?s ?p $s { ?s ?p ?o }")
@example(text="ASK { { SELECT ?s ?s { ?s ?p ?o } } }")
@example(text="ASK { ?s ! ( ) ?o BIND(BNODE () AS ?x) }")
def test_a_damaged_query_is_a_query_error_or_sparql(text: str) -> None:
    try:
        translate(text)
    except QueryError:
        return
    if not _pyoxigraph_departs(text):
        # Raises SyntaxError if it is not a query.
        pyoxigraph.Store().query(text)
