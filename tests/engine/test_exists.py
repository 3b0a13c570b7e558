"""EXISTS with variables that have a value outside, compared with the reference evaluator.

EXISTS puts the value into its pattern: https://www.w3.org/TR/sparql11-query/#defn_substitute. A
path that may have length zero connects the value with itself, in the graph or not, unlike in
pyoxigraph.
A variable counts as shared in MINUS where the pattern itself binds it, not because it has a value.
"""

from __future__ import annotations

from itertools import cycle

import pytest

from tests.support.generators.grammar_cases import case_of
from tests.support.grammar_laws import broken_laws
from tests.support.harness import Memory
from tests.support.notation import deltas, history, plan_of
from weir.plan.operators import Product
from weir.plan.plan import Plan

_PREFIX = "PREFIX : <http://example.org/> SELECT * "
_DEPARTURE = "pyoxigraph substitutes differently"
_STEP = "?x ?y ?z"
_ENDS = (
    "VALUES (?y ?w) { (:a :zz) (:zz :zz) (:b :b) (UNDEF :zz) (:zz UNDEF) (UNDEF UNDEF) (1 :b)"
    " (:a :b) }"
)
_COUNT = "{ SELECT ?y (COUNT(*) AS ?n) { ?y (:p*|:q?) ?w } GROUP BY ?y } FILTER(?n > 1)"

_DEFAULT_GRAPHS = ("union", "default")
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

_OUTER = "?x :p ?o"
_MAYBE_OUTER = "?x :p ?k OPTIONAL { ?x :q ?o }"

NESTED = {
    "a MINUS that binds it": f"{_OUTER} FILTER NOT EXISTS {{ ?x :q ?z MINUS {{ ?z :p ?o }} }}",
    "a MINUS that compares it": f"{_OUTER}"
    " FILTER EXISTS { ?x ?y ?z MINUS { ?z :p ?w FILTER(?w = ?o) } }",
    "a MINUS in a MINUS": f"{_OUTER}"
    " FILTER NOT EXISTS { ?x ?y ?z MINUS { ?z :p ?w MINUS { ?w :q ?o } } }",
    "a MINUS, or unbound": f"{_MAYBE_OUTER}"
    " FILTER EXISTS { ?x :p ?z MINUS { ?z :p ?w FILTER(!BOUND(?o) || ?w = ?o) } }",
    "a MINUS, unbound or bound inside": f"{_MAYBE_OUTER} FILTER EXISTS {{"
    " ?x :p ?z OPTIONAL { ?z :q ?o } MINUS { ?z :p ?w FILTER(?w = ?o || !BOUND(?o)) } }",
    "an OPTIONAL that compares it": f"{_OUTER}"
    " FILTER EXISTS { ?x ?y ?z OPTIONAL { ?z :p ?k FILTER(?k = ?o) } FILTER(!BOUND(?k)) }",
    "a group in an OPTIONAL": f"{_OUTER} FILTER NOT EXISTS {{"
    " ?x ?y ?z OPTIONAL { { ?z :p ?k FILTER(?k != ?o) } } FILTER(BOUND(?k)) }",
    "a group in an OPTIONAL, unbound or bound inside": f"{_MAYBE_OUTER} FILTER EXISTS {{"
    " ?x :p ?z OPTIONAL { ?z :q ?o } OPTIONAL { { ?z :p ?v FILTER(BOUND(?o)) } }"
    " FILTER(!BOUND(?v)) }",
    "both sides of a UNION": f"{_OUTER} FILTER NOT EXISTS {{"
    " { ?x :q ?z FILTER(?z = ?o) } UNION { ?x ?y ?k . ?k :p ?z FILTER(?z = ?o) } }",
    "one side of a UNION": f"{_OUTER} FILTER EXISTS {{"
    " { ?x :q ?z FILTER(?z != ?o) } UNION { ?x :q ?z . ?z :q ?k } }",
    "one side of a UNION that shares nothing": f"{_OUTER} FILTER EXISTS {{"
    " { ?x :q ?z FILTER(?z != ?o) } UNION { ?z :none ?k } }",
    "a UNION that is joined": f"{_OUTER} FILTER EXISTS {{ ?x ?y ?z"
    " { { ?z :p ?k FILTER(?k = ?o) } UNION { ?z :q ?k OPTIONAL { ?k :p ?m FILTER(?m != ?o) } } } }",
    "a group before what binds the shared variable": f"{_OUTER} FILTER NOT EXISTS {{"
    " { ?z :p ?k FILTER(?k != ?o) } ?x ?y ?z }",
    "a path": f"{_OUTER} FILTER NOT EXISTS {{ ?x :p+ ?z MINUS {{ ?z :q ?o }} }}",
    "a path that may have length zero": f"{_OUTER}"
    " FILTER NOT EXISTS { ?x :p* ?z MINUS { ?z :q ?o } }",
    "a subquery": f"{_OUTER} FILTER EXISTS {{"
    " { SELECT ?x ?o (COUNT(*) AS ?n) { ?x ?y ?z MINUS { ?z :p ?o } } GROUP BY ?x ?o }"
    " FILTER(?n > 1) }",
    "a subquery that counts": f"{_OUTER} FILTER EXISTS {{"
    " { SELECT ?o (COUNT(?z) AS ?n) { ?x :p ?z MINUS { ?z :q ?o } } GROUP BY ?o }"
    " FILTER(?n > 1) }",
    "a subquery with names of the outside": f"{_OUTER} FILTER EXISTS {{ ?x ?y ?z"
    " { SELECT ?z ?o { ?z :p ?x MINUS { ?x :q ?o } } } }",
    "a subquery with a limit": f"{_OUTER} FILTER EXISTS {{ ?x ?y ?z"
    " { SELECT ?z ?o { ?z :p ?k FILTER(?k != ?o) } ORDER BY ?k LIMIT 1 } }",
    "a subquery with a limit on what the pattern beside it binds": f"{_OUTER} FILTER EXISTS {{"
    " ?x ?y ?w { SELECT ?w ?o { ?w ?v ?z FILTER(?z != ?o) } ORDER BY ?z ?w LIMIT 1 } }",
    "a subquery that counts by what may be unbound outside": f"{_OUTER} OPTIONAL {{ ?x :q ?l }}"
    " FILTER EXISTS { { SELECT ?o ?l (COUNT(*) AS ?n) { ?l ?v ?z MINUS { ?z :q ?o } }"
    " GROUP BY ?o ?l } FILTER(?n = 1) }",
    "each graph": f"GRAPH ?g {{ {_OUTER} FILTER NOT EXISTS {{ ?x ?y ?z MINUS {{ ?z :p ?o }} }} }}",
    "each graph, where only that is shared": f"GRAPH ?g {{ {_OUTER}"
    " FILTER NOT EXISTS { ?k ?y ?z MINUS { ?z :p ?o } } }",
    "another graph": f"GRAPH ?g {{ {_OUTER} FILTER EXISTS {{"
    " ?x ?y ?z GRAPH :g1 { ?z :p ?k FILTER(?k != ?o) } } }",
    "each graph inside": f"{_OUTER} FILTER NOT EXISTS {{"
    " GRAPH ?g { ?x ?y ?z MINUS { ?z :p ?o } } }",
    "the graph of the outside": f"GRAPH ?g {{ {_OUTER} }} FILTER EXISTS {{"
    " GRAPH ?g { ?x ?y ?z MINUS { ?z :p ?o } } }",
    "another EXISTS": f"{_OUTER} FILTER EXISTS {{"
    " ?x ?y ?z FILTER NOT EXISTS { ?z :p ?k MINUS { ?k :q ?o } } }",
    "another EXISTS that depends on the one around": f"{_OUTER} FILTER EXISTS {{ ?a ?y ?z"
    " MINUS { ?a :q ?o } FILTER NOT EXISTS { ?x :p ?k MINUS { ?k :q ?m FILTER(?m != ?z) } } }",
    "BIND": f"{_OUTER} FILTER EXISTS {{ ?x ?y ?z {{ ?z :p ?k BIND(?k = ?o AS ?b) FILTER(?b) }} }}",
    "BIND of it": f"{_OUTER} FILTER EXISTS {{"
    " ?x ?y ?z { ?z :p ?k BIND(1 + ?k AS ?o) FILTER(?o != ?z) } }",
    "a value": f"{_OUTER} BIND(EXISTS {{ ?x :q ?z MINUS {{ ?z :p ?o }} }} AS ?k)",
    "nothing shared": f"{_OUTER} FILTER NOT EXISTS {{ ?k :q ?z MINUS {{ ?z :p ?o }} }}",
    "the condition of an OPTIONAL": f"{_OUTER}"
    " OPTIONAL { ?x :q ?z FILTER NOT EXISTS { ?z :p ?k MINUS { ?k :q ?o } } }",
    "the condition of an OPTIONAL in EXISTS": f"{_OUTER} FILTER EXISTS {{"
    " ?x ?y ?z OPTIONAL { ?z :p ?k FILTER EXISTS { ?k :q ?m FILTER(?m != ?o) } }"
    " FILTER(!BOUND(?k)) }",
}

_LARGE = (
    "FILTER NOT EXISTS { ?s :q ?z MINUS { ?z :r ?o } }",
    "FILTER NOT EXISTS { ?s :q ?z MINUS { ?z :r ?k MINUS { ?k :p ?o } } }",
    "FILTER EXISTS { ?s :q ?z OPTIONAL { ?z :r ?k FILTER(?k = ?o) } FILTER(!BOUND(?k)) }",
    "FILTER EXISTS { ?s :q ?z { { ?z :r ?k FILTER(?k = ?o) } UNION { ?z :r ?o } } }",
    "FILTER NOT EXISTS { { ?s :q ?z FILTER(?z = ?o) } UNION { ?s :r ?z FILTER(?z = ?o) } }",
    "FILTER NOT EXISTS { ?s :q* ?z MINUS { ?z :r ?o } }",
    "OPTIONAL { ?s :q ?z FILTER EXISTS { ?z :r ?o } }",
)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("name", NESTED)
def test_a_nested_part_depends_on_the_values_outside(name: str) -> None:
    default_graph = "default" if "GRAPH" in NESTED[name] else "union"
    case = case_of(f"{_PREFIX} {{ {NESTED[name]} }}", default_graph, 0, _DEPARTURE)
    assert broken_laws(case) == []


@pytest.mark.parametrize("condition", _LARGE)
def test_a_nested_part_is_evaluated_for_the_values_that_it_meets(condition: str) -> None:
    """The stored rows are in the order of the solutions outside, not of their square."""
    plan = plan_of(f"SELECT * {{ ?s :p ?o {condition} }}")
    assert not [node for node in plan.ids if isinstance(node, Product)]
    few, twice = _stored_rows(plan, 20), _stored_rows(plan, 40)
    assert 0 < few < twice < 2.5 * few


def _stored_rows(plan: Plan, solutions: int) -> int:
    triples = (
        f"+s{i} p o{i}; +s{i} q z{i}; +z{i} r o{i * 7 % solutions}; +s{i} r z{i}"
        for i in range(solutions)
    )
    memory = Memory(plan, history("; ".join(triples)))
    memory.run(0, 1)
    return len(memory.stored())


def test_a_product_that_exists_makes_names_the_variable_outside() -> None:
    plan = plan_of("SELECT * { ?s :p ?o FILTER NOT EXISTS { ?k :q ?z MINUS { ?z :r ?o } } }")
    (product,) = (node for node in plan.ids if isinstance(node, Product))
    assert [plan.names[int(column[1:])] for column in product.correlated] == ["o"]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(("name", "default_graph"), [*zip(PATHS, cycle(_DEFAULT_GRAPHS))])
def test_a_zero_length_path_begins_at_the_correlated_value(name: str, default_graph: str) -> None:
    case = case_of(f"{_PREFIX} {{ {PATHS[name]} }}", default_graph, 0, _DEPARTURE)
    assert broken_laws(case) == []


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(("name", "default_graph"), [*zip(MINUS, cycle(_DEFAULT_GRAPHS))])
def test_minus_in_exists_shares_what_its_patterns_bind(name: str, default_graph: str) -> None:
    query = f"{_PREFIX} {{ ?x :p ?z FILTER EXISTS {{ {MINUS[name]} }} }}"
    assert broken_laws(case_of(query, default_graph, 0, _DEPARTURE)) == []


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("default_graph", _DEFAULT_GRAPHS)
def test_a_nested_exists_is_correlated_by_what_the_one_around_binds(default_graph: str) -> None:
    sides = "{ ?c :p ?d FILTER(?y = :zz) } UNION { ?c :q ?d FILTER(?y = :zz) }"
    query = (
        f"{_PREFIX} {{ ?x :p ?z OPTIONAL {{ ?x :q ?y }}"
        f" FILTER EXISTS {{ VALUES ?y {{ :zz }} ?a :p ?b FILTER EXISTS {{ {sides} }} }} }}"
    )
    assert broken_laws(case_of(query, default_graph, 0, _DEPARTURE)) == []


def test_no_iri_of_the_data_counts_as_unbound() -> None:
    """EXISTS is correlated by unbound as a distinct value, which is not an RDF term."""
    changes = deltas(
        "SELECT ?x { { ?x :p ?y } UNION { ?x :q ?z }"
        " FILTER EXISTS { ?a :q ?b BIND(BOUND(?y) AS ?k) FILTER(!?k) } }",
        "+a p <urn:weir:unbound>; +c q 3",
    )
    assert changes == [["+c"]]
