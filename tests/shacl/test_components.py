"""What each component finds: by hand, a shape, data, and how many results there are."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from tests.support.oracles.reference import rows
from weir.shacl.compile import REPORT_COLUMNS, compile_shapes
from weir.shacl.read import read_shapes
from weir.sparql.algebra.queries import Dataset

_PREFIXES = """\
@prefix : <http://x/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def _results(shape: str, data: str) -> int:
    text = f"{_PREFIXES}:S {shape} ."
    query = compile_shapes(read_shapes(text, "s.ttl"), Dataset())
    parsed = ox.parse(_PREFIXES + data, ox.RdfFormat.TURTLE)
    quads = [("", str(q.subject), str(q.predicate), str(q.object)) for q in parsed]
    return sum(rows(query, quads, REPORT_COLUMNS).values())


def _property(constraints: str, path: str = ":p") -> str:
    return f"a sh:PropertyShape ; sh:targetNode :a ; sh:path {path} ; {constraints}"


@pytest.mark.parametrize(
    ("constraints", "data", "results"),
    [
        ("sh:hasValue 1", ":a :p 1.0", 1),
        ("sh:hasValue 1", ":a :p 1", 0),
        ("sh:in ( 1 )", ":a :p 1.0", 1),
        ("sh:in ( 1 :b )", ":a :p 1, :b", 0),
        ("sh:minInclusive 3", ":a :p 3, 2, :b", 2),
        ("sh:minExclusive 3", ":a :p 3", 1),
        ("sh:maxLength 2", ":a :p 'abc', 'ab', []", 2),
        ("sh:minLength 0", ":a :p []", 1),
        ("sh:pattern '^a'", ":a :p 'ab', 'b', <http://x/>", 2),
        ("sh:pattern '^A' ; sh:flags 'i'", ":a :p 'ab'", 0),
        ("sh:languageIn ( 'en' )", ":a :p 'x'@en-gb, 'x'@de, 'x'", 2),
        ("sh:nodeKind sh:BlankNodeOrIRI", ":a :p [], :b, 1", 1),
        ("sh:datatype xsd:byte", ":a :p '300'^^xsd:byte, '3'^^xsd:byte, 3", 2),
        ("sh:datatype xsd:date", ":a :p '2026-02-30'^^xsd:date, '2026-02-28'^^xsd:date", 1),
        ("sh:datatype xsd:gYear", ":a :p '26'^^xsd:gYear, '2026'^^xsd:gYear", 1),
        ("sh:minCount 1", "", 1),
        ("sh:minCount 2", ":a :p 1", 1),
        ("sh:maxCount 0", ":a :p 1, 2", 1),
        ("sh:maxCount 1", ":a :p 1, 2", 1),
        ("sh:maxCount 2", ":a :p 1, 2", 0),
        ("sh:maxCount 2", ":a :p 1, 2, 3", 1),
        ("sh:uniqueLang true", ":a :p 'x'@en, 'y'@en, 'z'@de, 'z'", 1),
        ("sh:uniqueLang true", ":a :p 'x'@en, 'y'@de", 0),
        ("sh:equals :q", ":a :p 1, 2 ; :q 2, 3", 2),
        ("sh:disjoint :q", ":a :p 1, 2 ; :q 2, 3", 1),
        ("sh:lessThan :q", ":a :p 1, 5 ; :q 5, :b", 3),
        ("sh:lessThanOrEquals :q", ":a :p 1, 5 ; :q 5", 0),
        ("sh:class :C", ":a :p :b, :c . :b a :D . :D rdfs:subClassOf :C", 1),
        ("sh:not [ sh:datatype xsd:integer ]", ":a :p 1, 'x'", 1),
        ("sh:xone ( [ sh:datatype xsd:integer ] [ sh:minInclusive 1 ] )", ":a :p 0, 1, 1.5", 1),
        ("sh:or ( [ sh:datatype xsd:integer ] [ sh:minInclusive 1 ] )", ":a :p 0, 1, 'x'", 1),
        ("sh:and ( [ sh:datatype xsd:integer ] [ sh:minInclusive 1 ] )", ":a :p 0, 1, 'x'", 2),
        ("sh:node [ sh:property [ sh:path :q ; sh:minCount 1 ] ]", ":a :p :b, :c . :b :q 1", 1),
        (
            "sh:qualifiedValueShape [ sh:class :C ] ; sh:qualifiedMinCount 2",
            ":a :p :b . :b a :C",
            1,
        ),
        (
            "sh:qualifiedValueShape [ sh:class :C ] ; sh:qualifiedMaxCount 0",
            ":a :p :b . :b a :C",
            1,
        ),
        ("sh:closed true ; sh:ignoredProperties ( :r )", ":a :p :b . :b :q 1 ; :r 2", 1),
        ("sh:closed true", ":a :p :b, :c . :b :q 1 . :c :q 1", 2),
    ],
)
def test_a_component_finds_what_it_demands(constraints: str, data: str, results: int) -> None:
    assert _results(_property(constraints), f"{data} ." if data else "") == results


@pytest.mark.parametrize(
    ("path", "data", "results"),
    [
        ("[ sh:zeroOrMorePath :q ]", ":a :q :b . :b :q :a", 2),
        ("[ sh:zeroOrMorePath :q ]", ":a :q :a", 1),
        ("[ sh:oneOrMorePath :q ]", ":a :q :b", 1),
        ("[ sh:zeroOrOnePath :q ]", ":a :q :b . :b :q :c", 2),
        ("[ sh:inversePath :q ]", ":b :q :a . :c :q :a", 2),
        ("[ sh:inversePath ( :q :r ) ]", ":b :q :c . :c :r :a . :d :r :e . :e :q :a", 1),
        ("( :q [ sh:zeroOrOnePath :r ] )", ":a :q :b . :b :r :c", 2),
        ("[ sh:alternativePath ( :q :r ) ]", ":a :q :b ; :r :b", 1),
    ],
)
def test_a_path_reaches_each_value_node_once(path: str, data: str, results: int) -> None:
    assert _results(_property("sh:nodeKind sh:Literal", path), f"{data} .") == results


@pytest.mark.parametrize(
    ("constraints", "results"),
    [
        ("sh:nodeKind sh:Literal", 1),
        ("sh:class :C", 1),
        ("sh:not [ sh:nodeKind sh:IRI ]", 1),
        ("sh:maxCount 0", 1),
        ("sh:disjoint :q", 1),
        ("sh:equals :r", 2),
        ("sh:lessThan :r", 1),
        ("sh:closed true ; sh:ignoredProperties ( :q )", 1),
    ],
)
def test_a_value_node_that_is_the_focus_node_too_is_reported_once(
    constraints: str, results: int
) -> None:
    assert (
        _results(_property(constraints, "[ sh:zeroOrOnePath :q ]"), ":a :q :a ; :r 1 .") == results
    )


def _selected(query: str, more: str = "") -> str:
    declared = "[ sh:declare [ sh:prefix '' ; sh:namespace 'http://x/' ] ]"
    own = f"[ sh:prefixes {declared} ; sh:select '{query}' {more} ]"
    return f"a sh:NodeShape ; sh:targetNode :a, :b ; sh:sparql {own}"


@pytest.mark.parametrize(
    ("query", "data", "results"),
    [
        ("SELECT $this { $this :p ?x FILTER(?x > 1) }", ":a :p 1, 2", 1),
        ("SELECT $this { OPTIONAL { $this :p ?x } FILTER(!BOUND(?x)) }", ":a :p 1", 1),
        ("SELECT $this { FILTER NOT EXISTS { $this :p ?x } }", ":a :p 1", 1),
        (
            "SELECT $this { OPTIONAL { $this :p ?x } } GROUP BY $this HAVING(COUNT(?x) < 1)",
            ":a :p 1",
            1,
        ),
        (
            "SELECT $this ?value { $this :p ?value"
            " OPTIONAL { $this :q ?y FILTER(?y = ?value) } FILTER(!BOUND(?y)) }",
            ":a :p 1, 2 ; :q 1",
            1,
        ),
        ("SELECT $this { { $this :p 1 } UNION { $this :p 2 } }", ":a :p 1, 2", 2),
        (
            "SELECT $this ?value { $this :p ?value"
            " FILTER NOT EXISTS { GRAPH $shapesGraph { $currentShape :allowed ?value } } }",
            ":a :p 1, 7",
            1,
        ),
    ],
)
def test_a_query_is_evaluated_at_each_focus_node(query: str, data: str, results: int) -> None:
    assert _results(f"{_selected(query)} ; :allowed 7", f"{data} .") == results


@pytest.mark.parametrize(
    ("own", "of_shape", "message"),
    [
        ('; sh:message "{$this}: {?x}"', "", '"http://x/a: 1"'),
        ("", '; sh:message "of the shape"', '"of the shape"'),
        ('; sh:message "own"', '; sh:message "of the shape"', '"own"'),
        ('; sh:message "eigen"@de, "own"@en', "", '"own"@en'),
    ],
)
def test_a_result_of_a_query_has_the_nearest_message(own: str, of_shape: str, message: str) -> None:
    shape = _selected("SELECT $this ?x { $this :p ?x }", own) + of_shape
    query = compile_shapes(read_shapes(f"{_PREFIXES}:S {shape} .", "s.ttl"), Dataset())
    report = rows(query, [("", "<http://x/a>", "<http://x/p>", '"1"')], ["message"])
    assert [*report] == [(message,)]


def test_a_focus_node_that_is_a_value_counts_once() -> None:
    shape = _property("sh:minCount 2", "[ sh:zeroOrMorePath :q ]")
    assert _results(shape, ":a :q :a .") == 1
    assert _results(shape, ":a :q :b .") == 0


def test_a_node_that_is_reached_from_two_focus_nodes_has_two_results() -> None:
    inner = "sh:property [ sh:path :q ; sh:minCount 1 ]"
    shape = f"a sh:PropertyShape ; sh:targetNode :a, :b ; sh:path :p ; {inner}"
    assert _results(shape, ":a :p :c . :b :p :c .") == 2


def test_a_language_of_the_focus_node_counts() -> None:
    path = "[ sh:zeroOrOnePath ( [ sh:inversePath :p ] :q ) ]"
    shape = f"a sh:PropertyShape ; sh:targetObjectsOf :p ; sh:path {path} ; sh:uniqueLang true"
    assert _results(shape, ":a :p 'x'@en ; :q 'y'@en .") == 1


def test_two_targets_of_a_shape_that_hit_a_node_give_one_result() -> None:
    shape = "a sh:NodeShape ; sh:targetNode :a ; sh:targetSubjectsOf :q ; sh:nodeKind sh:Literal"
    assert _results(shape, ":a :q 1, 2 .") == 1


def test_a_shape_that_is_a_class_has_its_instances_as_focus_nodes() -> None:
    shape = "a sh:NodeShape, rdfs:Class ; sh:nodeKind sh:Literal"
    assert _results(shape, ":a a :S . :b a :T . :T rdfs:subClassOf :S .") == 2


def test_a_shape_that_is_deactivated_finds_nothing() -> None:
    assert _results(_property("sh:minCount 1 ; sh:deactivated true"), "") == 0
