"""The reference evaluator, on queries on which engines differ; sections are of SPARQL 1.1."""

from __future__ import annotations

import pytest

from tests.support.oracles.reference import Solution, answers
from tests.support.oracles.results import same
from weir.sparql.frontend.translate import translate

_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
_QUADS = [
    ("", "<u:a>", "<u:p>", "<u:b>"),
    ("", "<u:a>", "<u:q>", "<u:b>"),
    ("", "<u:b>", "<u:p>", "<u:a>"),
    ("<u:g>", "<u:a>", "<u:p>", "<u:c>"),
]


def _number(value: int) -> str:
    return f'"{value}"^^<{_INTEGER}>'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # 18.3: a solution has variables only, not the blank nodes of a pattern.
        ("SELECT (COUNT(DISTINCT *) AS ?n) { ?x ?p [] } ", [{"n": _number(3)}]),
        ("SELECT (COUNT(DISTINCT *) AS ?n) { ?x <u:p>/<u:p> ?y } ", [{"n": _number(2)}]),
        # 18.4: an alternative is a union of bags; a closure has each pair once.
        ("SELECT ?x { <u:a> <u:p>|<u:q> ?x }", [{"x": "<u:b>"}, {"x": "<u:b>"}]),
        ("SELECT ?x { <u:a> (<u:p>|<u:q>)+ ?x }", [{"x": "<u:b>"}, {"x": "<u:a>"}]),
        # 18.4: zero-length paths of any given term, or of all terms of the graph.
        ("SELECT ?x { <u:z> <u:p>* ?x }", [{"x": "<u:z>"}]),
        ("SELECT ?x { 'z' <u:p>? ?x }", [{"x": '"z"'}]),
        ("ASK { VALUES ?x { <u:z> } ?x <u:p>* ?x }", []),
        ("ASK { <u:z> <u:p>*/<u:q>* ?x }", []),
        ("SELECT ?x { ?x <u:q>? ?x }", [{"x": "<u:a>"}, {"x": "<u:b>"}]),
        # 18.6: GRAPH of a name that is not in the dataset has no solutions.
        ("ASK { GRAPH <u:missing> { } }", []),
        ("ASK { GRAPH <u:g> { } }", [{}]),
        ("ASK { GRAPH <u:missing> { GRAPH <u:g> { ?x <u:p> <u:c> } } }", []),
        # 13.2: FROM NAMED puts a graph into the dataset, even without triples.
        ("SELECT ?g FROM NAMED <u:empty> { GRAPH ?g { } }", [{"g": "<u:empty>"}]),
        ("ASK FROM NAMED <u:g> { ?x ?y ?z }", []),
        # 18.6: the graph's name is joined with the solutions inside, and not visible inside.
        ("SELECT ?g { GRAPH ?g { MINUS { ?x <u:p> <u:c> } } }", [{"g": "<u:g>"}]),
        ("SELECT ?x { GRAPH ?x { ?x <u:p> <u:c> } }", []),
        ("SELECT * { GRAPH ?g { FILTER(BOUND(?g)) } }", []),
        # 18.6: EXISTS substitutes; what its pattern binds itself has to agree with that.
        ("ASK { ?x <u:q> ?y FILTER EXISTS { FILTER(?x = <u:a>) } }", [{}]),
        ("ASK { ?x <u:q> ?y FILTER EXISTS { VALUES ?x { <u:b> } } }", []),
        ("ASK { ?x <u:q> ?y FILTER EXISTS { BIND(<u:b> AS ?x) } }", []),
        ("ASK { ?x <u:q> ?y FILTER EXISTS { ?x <u:p> ?z MINUS { ?x <u:p> ?z } } }", []),
        ("ASK { ?x <u:q> ?y FILTER EXISTS { MINUS { ?x <u:p> ?y } } }", [{}]),
        ("ASK { ?x <u:q> ?y FILTER EXISTS { OPTIONAL { ?y <u:p> ?x } FILTER BOUND(?x) } }", [{}]),
        # 12: a variable that a subquery does not project is another one.
        (
            "ASK { ?x <u:q> ?y FILTER EXISTS { SELECT ?x { ?x <u:p> ?y FILTER(?y = <u:b>) } } }",
            [{}],
        ),
        ("ASK { ?x <u:q> ?y FILTER EXISTS { SELECT ?x { FILTER(BOUND(?y)) } } }", []),
        # 18.2.4.3: VALUES at the end is joined with the groups.
        (
            "SELECT (COUNT(*) AS ?n) { ?x <u:p> ?y } VALUES ?x { <u:a> <u:z> }",
            [{"n": _number(2)}, {"n": _number(2)}],
        ),
        # 18.5.1: an aggregate of an error is an error, except COUNT and SAMPLE.
        (
            "SELECT (MAX(?x + 1) AS ?m) (COUNT(?x + 1) AS ?n) { VALUES ?x { 1 'a' } }",
            [{"n": _number(1)}],
        ),
        # 17.4.2.9: BNODE of a label is one node in a solution, without a label one in each call.
        (
            "SELECT (BNODE('l') AS ?x) (BNODE('l') AS ?y) (BNODE() AS ?z) (BNODE() AS ?w) { }",
            [{"x": "_:1", "y": "_:1", "z": "_:2", "w": "_:3"}],
        ),
        # 16.2: blank nodes of a template are new in each solution.
        (
            "CONSTRUCT { _:x <u:r> ?y } { ?x <u:p> ?y }",
            [{"s": f"_:{o}", "p": "<u:r>", "o": f"<u:{o}>"} for o in "ab"],
        ),
        # 15.1 and 15.3: a distinct solution is placed where the first of its duplicates is.
        (
            "SELECT DISTINCT ?x { VALUES (?x ?y) { (1 3) (2 2) (1 1) (3 UNDEF) } } "
            "ORDER BY DESC(?y) LIMIT 1",
            [{"x": _number(1)}],
        ),
    ],
)
def test_a_query_means_what_the_specification_says(text: str, expected: list[Solution]) -> None:
    assert same(answers(translate(text, "default"), _QUADS), expected)
