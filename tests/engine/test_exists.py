"""EXISTS with variables that have a value outside, compared with the reference evaluator.

EXISTS puts the value into its pattern: https://www.w3.org/TR/sparql11-query/#defn_substitute. A
path that may have length zero connects the value with itself, in the graph or not, unlike in
pyoxigraph.
A variable counts as shared in MINUS where the pattern itself binds it, not because it has a value.
"""

from __future__ import annotations

import pytest

from tests.support.generators.grammar_cases import case_of
from tests.support.grammar_laws import broken_laws
from tests.support.notation import deltas

_PREFIX = "PREFIX : <http://example.org/> SELECT * "
_DEPARTURE = "pyoxigraph substitutes differently"
_STEP = "?x ?y ?z"
_ENDS = (
    "VALUES (?y ?w) { (:a :zz) (:zz :zz) (:b :b) (UNDEF :zz) (:zz UNDEF) (UNDEF UNDEF) (1 :b)"
    " (:a :b) }"
)
_COUNT = "{ SELECT ?y (COUNT(*) AS ?n) { ?y (:p*|:q?) ?w } GROUP BY ?y } FILTER(?n > 1)"

PATHS = {
    "from a predicate": f"{_STEP} FILTER EXISTS {{ ?y :p* ?w }}",
    "not, from a predicate": f"{_STEP} FILTER NOT EXISTS {{ ?y :p? ?w }}",
    "to a predicate": f"{_STEP} FILTER EXISTS {{ ?w :p* ?y }}",
    "both ends": f"{_ENDS} FILTER EXISTS {{ ?y :p* ?w }}",
    "both ends, in both directions": f"{_ENDS} FILTER NOT EXISTS {{ ?y ^(:p|:q?) ?w }}",
    "both ends of a sequence": f"{_ENDS} FILTER EXISTS {{ ?y :p*/:q? ?w }}",
    "both ends as a flag": f"{_ENDS} BIND(EXISTS {{ ?y (:p?)+ ?w }} AS ?k)",
    "a value or none": "?x :p ?z OPTIONAL { ?x :q ?o BIND(STR(?o) AS ?y) }"
    " FILTER EXISTS { ?y :p* ?w }",
    "to itself": "?x :p ?z OPTIONAL { ?x :q ?o BIND(STR(?o) AS ?y) } FILTER EXISTS { ?y :p* ?y }",
    "in an OPTIONAL": "?x :p ?z BIND(STR(?z) AS ?y)"
    " FILTER EXISTS { ?x :q ?a OPTIONAL { ?y :p* ?w } FILTER(BOUND(?w)) }",
    "in each graph": "?x :p ?z BIND(STR(?z) AS ?y) FILTER EXISTS { GRAPH ?g { ?y :p* ?w } }",
    "in another graph": "?x :p ?z FILTER NOT EXISTS { GRAPH :g1 { ?z :p* ?w } }",
    "in the same graph": f"GRAPH ?g {{ {_STEP} FILTER EXISTS {{ ?y :p* ?w }} }}",
    "of a term of the graph": f"{_STEP} FILTER NOT EXISTS {{ ?z :p* ?w FILTER(?w != ?z) }}",
    "joined with a triple": f"{_STEP} FILTER EXISTS {{ ?y :p* ?w . ?y :q ?a }}",
    "counted": f"{_STEP} FILTER EXISTS {{ {_COUNT} }}",
    "cut off": f"{_STEP} FILTER EXISTS {{"
    " { SELECT ?y ?w { ?y :p? ?w } ORDER BY ?w LIMIT 1 } FILTER(?w = ?y) }",
    "not projected": f"{_STEP} FILTER EXISTS {{ {{ SELECT ?w {{ ?y :p* ?w }} }} FILTER(?w = ?y) }}",
    "below another EXISTS": f"{_STEP}"
    " FILTER EXISTS { ?x :q ?a FILTER NOT EXISTS { ?y :p? ?w } }",
    "of the EXISTS around": f"{_STEP} FILTER EXISTS {{ ?x ?v ?a FILTER EXISTS {{ ?v :p? ?y }} }}",
    "in a UNION": f"{_STEP} FILTER EXISTS {{ {{ ?y :p* ?w }} UNION {{ ?x :q ?w }} }}",
    "in a MINUS": f"{_STEP} FILTER EXISTS {{ ?x :p ?a MINUS {{ ?y :p* ?a }} }}",
    "joined with inline data": f"{_STEP} FILTER EXISTS {{ VALUES ?y {{ :p :a }} ?y :p* ?w }}",
    "of inline data between": "?x :p ?z OPTIONAL { ?x :q ?y }"
    " FILTER EXISTS { VALUES ?y { :zz } FILTER EXISTS { ?y :q? ?k } }",
    "of a side of a UNION between": "?x :p ?z OPTIONAL { ?x :q ?y } FILTER EXISTS {"
    " { ?x ?y ?a FILTER EXISTS { ?y :q? ?k } } UNION { ?y :p* ?d FILTER(?d = :none) } }",
    "a sequence or another": "VALUES (?y ?w) { (:zz :zz) (:a :zz) (UNDEF :zz) (:zz UNDEF) }"
    " FILTER EXISTS { ?y (:p*/:q?)|:r ?w }",
    "a sequence or another to itself": f"{_STEP} FILTER EXISTS {{ ?y :r|(:p*/:q*) ?y }}",
    "a sequence or another, from a constant": "VALUES ?w { :zz :a }"
    " FILTER EXISTS { :zz (:p*/:q?)|:r ?w }",
    "one or more sequences": "VALUES (?y ?w) { (:zz :zz) (:a :zz) (UNDEF :zz) (:zz UNDEF) }"
    " FILTER EXISTS { ?y ((:p*/:q?)|:r)+ ?w }",
    "in the condition of an OPTIONAL": f"{_STEP}"
    " OPTIONAL { ?z :q ?w FILTER EXISTS { ?y :p* ?v } }",
}


_MAYBE = "OPTIONAL { ?z :q ?a }"
_PAIRS = "VALUES (?x ?z) { (:a UNDEF) (:b :c) (UNDEF UNDEF) }"

MINUS = {
    "what an OPTIONAL may bind on the left": "OPTIONAL { ?a :q ?x } MINUS { ?k :p ?x }",
    "what nothing binds on the left": "OPTIONAL { ?a :none ?x } MINUS { ?k :p ?x }",
    "what an OPTIONAL may bind on the right": "?x :p ?a MINUS { ?k :p ?b OPTIONAL { ?b :q ?x } }",
    "what both sides bind": "?x :p ?a MINUS { ?x :p ?b }",
    "what a condition only mentions": "?x :p ?a"
    " MINUS { ?k :p ?b OPTIONAL { ?b :q ?x FILTER(?z != ?b) } }",
    "what a side of a UNION binds": "?x :p ?a"
    " MINUS { { ?k :q ?b } UNION { ?x :q ?z } FILTER(?x != ?z) }",
    "what inline data binds": f"{_MAYBE} MINUS {{ {_PAIRS} }}",
    "what BIND binds or not": "OPTIONAL { ?k :q ?z }"
    " MINUS { ?l :p ?m BIND(IF(?m = :a, :c, 1 + :b) AS ?z) }",
    "the name of a graph": "OPTIONAL { GRAPH ?z { ?a :q ?b } } MINUS { GRAPH ?g { ?z :p ?k } }",
    "the key of a group": f"{_MAYBE} MINUS {{ SELECT ?z (COUNT(*) AS ?n)"
    " { ?b :p ?c OPTIONAL { ?c :q ?z } } GROUP BY ?z }",
    "what is projected": f"{_MAYBE} MINUS {{"
    " SELECT DISTINCT ?z { ?b :p ?c OPTIONAL { ?c :q ?z } } }",
    "what is cut off": f"{_MAYBE} MINUS {{"
    " SELECT ?z { ?b :p ?c OPTIONAL { ?c :q ?z } } ORDER BY ?c LIMIT 2 }",
    "in a MINUS in a MINUS": f"{_MAYBE}"
    " MINUS { ?x :p ?z MINUS { ?l :q ?m OPTIONAL { ?m :q ?z } } }",
    "of a path": "OPTIONAL { ?z :q* ?a } MINUS { ?l :p ?k OPTIONAL { ?k :q* ?z } }",
}


@pytest.mark.parametrize("default_graph", ["union", "default"])
@pytest.mark.parametrize("name", PATHS)
def test_a_zero_length_path_begins_at_the_correlated_value(name: str, default_graph: str) -> None:
    case = case_of(f"{_PREFIX} {{ {PATHS[name]} }}", default_graph, 0, _DEPARTURE)
    assert broken_laws(case) == []


@pytest.mark.parametrize("default_graph", ["union", "default"])
@pytest.mark.parametrize("name", MINUS)
def test_minus_in_exists_shares_what_its_patterns_bind(name: str, default_graph: str) -> None:
    query = f"{_PREFIX} {{ ?x :p ?z FILTER EXISTS {{ {MINUS[name]} }} }}"
    assert broken_laws(case_of(query, default_graph, 0, _DEPARTURE)) == []


@pytest.mark.parametrize("default_graph", ["union", "default"])
def test_a_nested_exists_is_correlated_by_what_the_one_around_binds(default_graph: str) -> None:
    sides = "{ ?c :p ?d FILTER(?y = :zz) } UNION { ?c :q ?d FILTER(?y = :zz) }"
    query = (
        f"{_PREFIX} {{ ?x :p ?z OPTIONAL {{ ?x :q ?y }}"
        f" FILTER EXISTS {{ VALUES ?y {{ :zz }} ?a :p ?b FILTER EXISTS {{ {sides} }} }} }}"
    )
    assert broken_laws(case_of(query, default_graph, 0, _DEPARTURE)) == []


def test_no_iri_of_the_data_counts_as_unbound() -> None:
    """EXISTS is correlated by unbound as a distinct value, which is not an RDF term."""
    found = deltas(
        "SELECT ?x { { ?x :p ?y } UNION { ?x :q ?z }"
        " FILTER EXISTS { ?a :q ?b BIND(BOUND(?y) AS ?k) FILTER(!?k) } }",
        "+a p <urn:weir:unbound>; +c q 3",
    )
    assert found == [["+c"]]
