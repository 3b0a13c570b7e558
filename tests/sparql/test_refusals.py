"""Every refusal says what, where, why and what to write instead."""

from __future__ import annotations

import pytest

from jobs.sparql.errors import QuerySyntaxError, UnsupportedQuery
from jobs.sparql.translate import translate

_REFUSED = [
    ("SELECT * {\n ?s ?p ?o OPTIONAL { ?o ?q ?r } }", 2, 11, "OPTIONAL"),
    ("SELECT * { { ?s ?p ?o }\n  UNION { ?o ?q ?r } }", 2, 3, "UNION"),
    ("SELECT * { ?s ?p ?o MINUS { ?s ?p 1 } }", 1, 21, "MINUS"),
    ("SELECT * { GRAPH ?g { ?s ?p ?o } }", 1, 12, "GRAPH"),
    ("SELECT * { SERVICE <u:x> { ?s ?p ?o } }", 1, 12, "SERVICE"),
    ("SELECT * { ?s ?p ?o VALUES ?o { 1 2 } }", 1, 21, "VALUES"),
    ("SELECT * { ?s ?p ?o } VALUES ?o { 1 2 }", 1, 23, "VALUES"),
    ("SELECT * { ?s ?p ?o BIND(1 AS ?x) }", 1, 21, "BIND"),
    ("SELECT (?o + 1 AS ?x) { ?s ?p ?o }", 1, 16, "(expression AS ?variable)"),
    ("SELECT * { ?s <u:p>/<u:q> ?o }", 1, 15, "property path"),
    ("SELECT * { ?s <u:p> * ?o }", 1, 15, "property path"),
    ("SELECT * { ?s <u:p>+ 5 }", 1, 15, "property path"),
    ("SELECT * { ?s ^<u:p> ?o }", 1, 16, "property path"),
    ("SELECT * { { SELECT ?s { ?s ?p ?o } } }", 1, 14, "subquery"),
    ("SELECT ?s { ?s ?p ?o } GROUP BY ?s", 1, 24, "GROUP BY"),
    ("SELECT ?s { ?s ?p ?o } HAVING (?s > 1)", 1, 24, "HAVING"),
    ("SELECT ?s { ?s ?p ?o } ORDER BY ?s LIMIT 5", 1, 36, "LIMIT and OFFSET"),
    ("SELECT ?s { ?s ?p ?o } OFFSET 5", 1, 24, "LIMIT and OFFSET"),
    ("SELECT ?s { ?s ?p ?o } ORDER BY COUNT(?s)", 1, 33, "COUNT"),
    ("SELECT * FROM NAMED <u:g> { ?s ?p ?o }", 1, 15, "FROM NAMED"),
    ("SELECT * { ?s ?p ?o FILTER EXISTS { ?o ?q ?r } }", 1, 28, "EXISTS"),
    ("SELECT * { ?s ?p ?o FILTER(!(NOT EXISTS { ?o ?q ?r })) }", 1, 34, "NOT EXISTS"),
    ("DESCRIBE <u:x>", 1, 1, "DESCRIBE"),
    ("ASK { ?s ?p ?o FILTER(?o < NOW()) }", 1, 28, "NOW()"),
    ("ASK { ?s ?p ?o FILTER(?o < rand()) }", 1, 28, "RAND()"),
    ("ASK { ?s ?p ?o FILTER(?o = UUID()) }", 1, 28, "UUID()"),
    ("ASK { ?s ?p ?o FILTER(?o = STRUUID()) }", 1, 28, "STRUUID()"),
    ("ASK { ?s ?p ?o FILTER(?o = BNODE()) }", 1, 28, "BNODE"),
    ("ASK { ?s ?p ?o FILTER(<u:f>(?o)) }", 1, 23, "<u:f>"),
    ('ASK { "x" ?p ?o }', 1, 7, '"x"'),
    ("ASK { <x> ?p ?o }", 1, 7, "<x>"),
    ("ASK { }", 1, 1, "WHERE"),
    ("CONSTRUCT { } { ?s ?p ?o }", 1, 1, "CONSTRUCT"),
]
_MALFORMED = [
    ("", 1, 1, "query"),
    ("ASK { ?s ?p }", 1, 7, "?s"),
    ("ASK { ?s ?p ?o ", 1, 5, "{"),
    ("ASK { ?s ?p (?o ] }", 1, 17, "]"),
    ("ASK { ?s ?p ?o FILTER(lenght(?o)) }", 1, 23, "lenght"),
    ("ASK { ?s e:p ?o }", 1, 10, "e:p"),
    ("PREFIX e <u:e> ASK { ?s ?p ?o }", 1, 1, "PREFIX"),
    ('ASK {\n ?s ?p "x }', 2, 8, '"'),
    ('ASK { ?s ?p "\\q" }', 1, 13, '"'),
    ('ASK { ?s ?p "\\uD800" }', 1, 13, "\\uD800"),
    ("ASK { ?s ?p <u:a b> }", 1, 14, "u:a"),
    ("ASK { ?s ?p ?o @en }", 1, 16, "@en"),
    ('ASK { ?s ?p "x"^^?o }', 1, 16, "^^"),
    ('ASK { ?s ?p "x"@x-12345678901 }', 1, 13, '"x"'),
    ("SELECT ?s WHER { ?s ?p ?o }", 1, 11, "WHER"),
    ("INSERT DATA { <u:a> <u:b> <u:c> }", 1, 1, "INSERT"),
    ("ASK { ?s ?p \x00 }", 1, 13, "\x00"),
]


@pytest.mark.parametrize(("text", "line", "column", "construct"), _REFUSED)
def test_what_is_not_maintained_is_refused_where_it_stands(
    text: str, line: int, column: int, construct: str
) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        translate(text, file="q.rq")
    error = caught.value
    assert (error.line, error.column, error.construct) == (line, column, construct)
    assert str(error).startswith(f"q.rq:{line}:{column}: {construct}: ")
    assert error.reason
    assert error.instead


@pytest.mark.parametrize(("text", "line", "column", "construct"), _MALFORMED)
def test_what_is_no_sparql_is_an_error_where_it_stands(
    text: str, line: int, column: int, construct: str
) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        translate(text, file="q.rq")
    error = caught.value
    assert (error.line, error.column, error.construct) == (line, column, construct)


def test_a_keyword_in_a_string_comment_or_iri_is_none() -> None:
    text = '# OPTIONAL\nASK { <u:OPTIONAL> ?OPTIONAL "OPTIONAL" # UNION }\n }'
    translate(text)
    with pytest.raises(UnsupportedQuery, match="<query>:3:2: OPTIONAL"):
        translate(text[:-1] + "OPTIONAL { ?s ?p ?o } }")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_by_any_line_end(line_end: str) -> None:
    with pytest.raises(UnsupportedQuery, match="<query>:3:3: UNION"):
        translate(line_end.join(["ASK {", "{ ?s ?p ?o }", "  UNION { ?s ?p ?o } }"]))
