"""Refusals and syntax errors: what, where, why and what to write instead."""

from __future__ import annotations

import pytest

from weir.sparql.frontend.errors import QuerySyntaxError, UnsupportedQuery
from weir.sparql.frontend.translate import translate

_REFUSED = [
    ("SELECT * { SERVICE <u:x> { ?s ?p ?o SERVICE <u:y> { ?o ?q ?r } } }", 1, 37, "SERVICE"),
    ("SELECT * { GRAPH <urn:weir:replica:x> { ?s ?p ?o } }", 1, 18, "<urn:weir:replica:x>"),
    ("SELECT * FROM <urn:weir:replica:x> { ?s ?p ?o }", 1, 15, "<urn:weir:replica:x>"),
    ("ASK FROM NAMED <urn:weir:replica:x> { ?s ?p ?o }", 1, 16, "<urn:weir:replica:x>"),
    ("ASK { GRAPH <urn:weir:web:n:http://h/d> { } }", 1, 13, "<urn:weir:web:n:http://h/d>"),
    ("ASK FROM <urn:weir:web:n:about:http://h/d> { }", 1, 10, "<urn:weir:web:n:about:http://h/d>"),
    ("ASK { OPTIONAL { { SERVICE SILENT ?x { } } } }", 1, 20, "SERVICE"),
    ("DESCRIBE <u:x>", 1, 1, "DESCRIBE"),
    ("INSERT DATA { <u:a> <u:b> <u:c> }", 1, 1, "INSERT"),
    ("ASK { ?s ?p ?o FILTER(?o < NOW()) }", 1, 28, "NOW()"),
    ("ASK { ?s ?p ?o FILTER(?o < rand()) }", 1, 28, "RAND()"),
    ("ASK { ?s ?p ?o FILTER(?o = UUID()) }", 1, 28, "UUID()"),
    ("ASK { ?s ?p ?o FILTER(?o = STRUUID()) }", 1, 28, "STRUUID()"),
    ("SELECT * { { SELECT (SUM(?x + RAND()) AS ?y)\n{ ?s ?p ?x } } }", 1, 31, "RAND()"),
    ("SELECT ?s { ?s ?p ?o }\nORDER BY NOW()", 2, 10, "NOW()"),
    ("SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING (NOW() > 1)", 1, 44, "NOW()"),
    ("ASK { ?s ?p ?o FILTER NOT EXISTS { BIND(UUID() AS ?x) } }", 1, 41, "UUID()"),
    ("ASK { ?s ?p ?o FILTER(<u:f>(?o)) }", 1, 23, "<u:f>"),
    ("SELECT (<u:f>(DISTINCT ?s) AS ?x) { ?s ?p ?o }", 1, 9, "<u:f>"),
    ("ASK { <x> ?p ?o }", 1, 7, "<x>"),
    ("CONSTRUCT { } { ?s ?p ?o }", 1, 1, "CONSTRUCT"),
    ("CONSTRUCT WHERE { }", 1, 1, "CONSTRUCT"),
    (f"ASK {{ ?s {'/'.join(['<u:p>'] * 65)} ?o }}", 1, 10, "property path"),
    (f"ASK {{ {' '.join(['FILTER(?x)'] * 129)} }}", 1, 1422, "query"),
    (f"ASK {{ {' UNION '.join(['{ ?s ?p 1 }'] * 129)} }}", 1, 2313, "query"),
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
    ("ASK { ?s ?p \x00 }", 1, 13, "\x00"),
    ("SELECT * { ?s ?p ?o BIND(1 AS ?o) }", 1, 31, "?o"),
    ("SELECT * { ?s ?p ?o .\n{ SELECT ?s (1 AS ?o) { ?s ?p ?o } } }", 2, 19, "?o"),
    ("SELECT (1 AS ?s) { ?s ?p ?o }", 1, 14, "?s"),
    ("SELECT ?x (1 AS ?x) { }", 1, 17, "?x"),
    ("SELECT (1 AS ?x) ?x { }", 1, 18, "?x"),
    ("SELECT ?s { ?s ?p ?o } GROUP BY (1 AS ?s)", 1, 39, "?s"),
    ("SELECT ?s { ?s ?p ?o } GROUP BY ?p", 1, 8, "?s"),
    ("SELECT (?s + COUNT(*) AS ?x) { ?s ?p ?o }", 1, 9, "?s"),
    ("SELECT * { ?s ?p ?o } GROUP BY ?s", 1, 1, "SELECT *"),
    ("SELECT * { ?s ?p ?o { SELECT\n* { ?s ?p ?o } GROUP BY ?s } }", 1, 23, "SELECT *"),
    ("SELECT (SUM(COUNT(?s)) AS ?x) { ?s ?p ?o }", 1, 13, "COUNT"),
    ("ASK { ?s ?p ?o FILTER(MAX(?o) > 1) }", 1, 23, "MAX"),
    ("SELECT ?s { ?s ?p ?o } GROUP BY ?s HAVING EXISTS { FILTER(MIN(?o) > 1) }", 1, 59, "MIN"),
    ("SELECT ?x { ?s ?p ?o } GROUP BY (SUM(?o) AS ?x)", 1, 34, "SUM"),
    ("ASK { VALUES (?x ?y) { (1) } }", 1, 25, "VALUES"),
    ("ASK { } VALUES (?x) {\n(1) (1 <u:a>) }", 2, 6, "VALUES"),
    ("ASK { VALUES (?x ?x) { } }", 1, 18, "?x"),
    ("ASK { _:x ?p ?o OPTIONAL { ?s ?p _:x } }", 1, 34, "_:x"),
    ("ASK { _:x ?p ?o FILTER EXISTS { ?s ?p _:x } }", 1, 39, "_:x"),
    ("ASK { _:x ?p ?o BIND(1 AS ?y) _:x ?p ?o }", 1, 31, "_:x"),
    ("SELECT ?s { ?s ?p ?o } LIMIT 1.0", 1, 30, "1.0"),
    ("SELECT ?s { ?s ?p ?o } OFFSET 1e1", 1, 31, "1e1"),
    ("SELECT (GROUP_CONCAT(?s; SEPARATOR='x'@en) AS ?x) { ?s ?p ?o }", 1, 36, "SEPARATOR"),
    ("SELECT (GROUP_CONCAT(?s; SEPARATOR=true) AS ?x) { ?s ?p ?o }", 1, 36, "SEPARATOR"),
    ("ASK { ?s !(^ ^<u:p>) ?o }", 1, 12, "^"),
]


@pytest.mark.parametrize(("text", "line", "column", "construct"), _REFUSED)
def test_an_unsupported_construct_is_refused_at_its_place(
    text: str, line: int, column: int, construct: str
) -> None:
    with pytest.raises(UnsupportedQuery) as caught:
        translate(text, file="q.rq")
    error = caught.value
    assert (error.line, error.column, error.construct) == (line, column, construct)
    assert str(error).startswith(f"q.rq:{line}:{column}: {construct}: ")
    assert error.reason
    assert error.hint


@pytest.mark.parametrize(("text", "line", "column", "construct"), _MALFORMED)
def test_malformed_text_is_an_error_at_its_place(
    text: str, line: int, column: int, construct: str
) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        translate(text, file="q.rq")
    error = caught.value
    assert (error.line, error.column, error.construct) == (line, column, construct)


def test_a_word_in_a_string_comment_or_iri_is_no_keyword() -> None:
    text = '# SERVICE\nASK { <u:SERVICE> ?SERVICE "SERVICE" # SERVICE }\n }'
    translate(text)
    with pytest.raises(UnsupportedQuery, match="<query>:3:2: SERVICE"):
        translate(text[:-1] + "SERVICE ?x { ?s ?p ?o } }")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_by_any_line_end(line_end: str) -> None:
    with pytest.raises(UnsupportedQuery, match="<query>:3:11: SERVICE"):
        translate(line_end.join(["ASK {", "{ ?s ?p ?o }", "  UNION { SERVICE ?x { ?s ?p ?o } } }"]))
