"""BNODE in every place of a query: one node for a solution and label, also in conditions."""

from __future__ import annotations

import pytest

from tests.support.generators.basic_cases import Quad
from tests.support.harness import WHOLE, History, Memory, run_in_cuts, state
from tests.support.oracles.reference import rows
from weir.plan.lower import lower
from weir.sparql.frontend.errors import UnsupportedQuery
from weir.sparql.frontend.translate import translate

QUERIES = {
    "FILTER": "SELECT ?s { ?s :p ?o FILTER(isBlank(BNODE())) }",
    "FILTER, two calls": "SELECT ?s { ?s :p ?o FILTER(BNODE() = BNODE()) }",
    "FILTER, one label": "SELECT ?s { ?s :p ?o FILTER(BNODE('k') = BNODE('k')) }",
    "FILTER, two labels": "SELECT ?s { ?s :p ?o FILTER(BNODE('k') != BNODE(STR(?o))) }",
    "FILTER of a node of BIND": "SELECT ?s { ?s :p ?o BIND(BNODE() AS ?b) FILTER(?b != BNODE()) }",
    "FILTER of nothing": "ASK { FILTER(BNODE() = BNODE()) }",
    "FILTER of nothing, one label": "ASK { FILTER(BNODE('k') = BNODE('k')) }",
    "FILTER of a join": "SELECT ?s ?x { ?s :p ?o . ?x :q ?y FILTER(isBlank(BNODE(STR(?o)))) }",
    "FILTER of UNION": "SELECT ?s { { ?s :p ?o } UNION { ?s :q ?x } FILTER(isBlank(BNODE())) }",
    "FILTER with IF": "SELECT ?s { ?s :p ?o FILTER(IF(?o = 1, isBlank(BNODE()), false)) }",
    "HAVING": "SELECT ?s { ?s :p ?o } GROUP BY ?s HAVING(isBlank(BNODE()))",
    "HAVING with COUNT": "SELECT ?s { ?s :p ?o } GROUP BY ?s HAVING(COUNT(BNODE()) > 1)",
    "an aggregate": "SELECT (COUNT(DISTINCT BNODE()) AS ?n) { ?s :p ?o }",
    "GROUP BY": "SELECT (COUNT(*) AS ?n) { ?s :p ?o } GROUP BY (BNODE() AS ?b)",
    "ORDER BY": "SELECT ?s { ?s :p ?o } ORDER BY isBlank(BNODE()) ?s ?o LIMIT 1",
    "BIND": "SELECT ?s (isBlank(BNODE()) AS ?b) { ?s :p ?o }",
    "EXISTS": "SELECT ?s { ?s :p ?o FILTER EXISTS { ?s :q ?x FILTER(isBlank(BNODE())) } }",
    "NOT EXISTS": "SELECT ?s { ?s :p ?o FILTER NOT EXISTS { ?s :q ?x FILTER(isBlank(BNODE())) } }",
    "EXISTS with a value of outside": "SELECT ?s { ?s :p ?o"
    " FILTER EXISTS { ?s :q ?x FILTER(?o < ?x && isBlank(BNODE())) } }",
    "EXISTS in an expression": "SELECT ?s (EXISTS { ?s :q ?x"
    " FILTER(isBlank(BNODE('k'))) } AS ?e) { ?s :p ?o }",
    "EXISTS within a condition": "SELECT ?s { ?s :p ?o"
    " FILTER(isIRI(BNODE()) || EXISTS { ?s :q ?x }) }",
    "OPTIONAL": "SELECT ?s ?x { ?s :p ?o OPTIONAL { ?s :q ?x FILTER(BNODE('k') = BNODE('k')) } }",
    "OPTIONAL, two calls": "SELECT ?s ?x { ?s :p ?o"
    " OPTIONAL { ?s :q ?x FILTER(BNODE() = BNODE()) } }",
    "OPTIONAL with a value of outside": "SELECT ?s ?x { ?s :p ?o"
    " OPTIONAL { ?s :q ?x FILTER(?o < ?x && isBlank(BNODE())) } }",
    "OPTIONAL with EXISTS": "SELECT ?s ?x { ?s :p ?o"
    " OPTIONAL { ?s :q ?x FILTER(isBlank(BNODE()) && EXISTS"
    " { ?s :p ?x FILTER(isBlank(BNODE())) }) } }",
    "MINUS": "SELECT ?s { ?s :p ?o MINUS { ?s :q ?x FILTER(isBlank(BNODE())) } }",
    "a subquery": "SELECT ?s { ?s :p ?o { SELECT ?s { ?s :q ?x FILTER(isBlank(BNODE())) } } }",
    "CONSTRUCT": "CONSTRUCT { ?s :r ?o } { ?s :p ?o FILTER(isBlank(BNODE())) }",
}
CHANGING = ("NOW()", "RAND()", "UUID()", "STRUUID()")
PLACES = (
    "SELECT ({} AS ?x) {{ ?s ?p ?o }}",
    "SELECT ?s {{ ?s ?p ?o BIND({} AS ?x) }}",
    "SELECT ?s {{ ?s ?p ?o FILTER({} = ?o) }}",
    "SELECT ?s {{ ?s ?p ?o FILTER(IF(false, {}, ?o) = ?o) }}",
    "SELECT ?s {{ ?s ?p ?o }} GROUP BY ?s HAVING({} = ?s)",
    "SELECT (MAX({}) AS ?x) {{ ?s ?p ?o }}",
    "SELECT (COUNT(*) AS ?x) {{ ?s ?p ?o }} GROUP BY ({} AS ?g)",
    "SELECT ?s {{ ?s ?p ?o }} ORDER BY {} LIMIT 1",
    "SELECT ?s {{ ?s ?p ?o }} ORDER BY {}",
    "SELECT ?s {{ ?s ?p ?o OPTIONAL {{ ?s ?q ?x FILTER({} = ?x) }} }}",
    "SELECT ?s {{ ?s ?p ?o FILTER EXISTS {{ ?s ?q ?x FILTER({} = ?x) }} }}",
    "SELECT ?s {{ ?s ?p ?o MINUS {{ ?s ?q ?x FILTER({} = ?x) }} }}",
    "CONSTRUCT {{ ?s ?p ?x }} {{ ?s ?p ?o BIND({} AS ?x) }}",
    "ASK {{ FILTER({} = 1) }}",
)


def _quads(*lines: str) -> frozenset[Quad]:
    def term(text: str) -> str:
        number = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        return number.format(text) if text.isdigit() else f"<http://a/{text}>"

    return frozenset(("", *map(term, line.split())) for line in lines)  # type: ignore[misc]


HISTORY: History = [
    (frozenset(), _quads("a p 1", "a p 2", "b p 1", "b q 3")),
    (_quads("b q 3"), _quads("a q 1", "a q 2", "c p 3")),
    (_quads("a p 1", "a q 2"), _quads("b q 1")),
    (_quads("a p 2", "b p 1", "c p 3"), frozenset()),
]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("text", [*QUERIES.values()], ids=[*QUERIES])
def test_a_query_with_bnode_has_the_answer_of_each_snapshot(text: str) -> None:
    query = translate(f"PREFIX : <http://a/> {text}")
    plan = lower(query, allow_product=True)
    columns = [name for name, _ in plan.columns]
    held: set[Quad] = set()
    by_one = run_in_cuts(Memory(plan, HISTORY), len(HISTORY), [1, 2, 3]).log()
    at_once = run_in_cuts(Memory(plan, HISTORY), len(HISTORY), [], thresholds=WHOLE).log()
    for epoch, (vanish, appear) in enumerate(HISTORY, start=1):
        held = (held - vanish) | appear
        expected = rows(query, held, columns)
        assert (epoch, state(by_one, epoch)) == (epoch, expected)
        assert (epoch, state(at_once, epoch)) == (epoch, expected)


@pytest.mark.parametrize("call", CHANGING)
@pytest.mark.parametrize("place", PLACES)
def test_functions_whose_value_changes_without_a_change_are_refused_everywhere(
    place: str, call: str
) -> None:
    with pytest.raises(UnsupportedQuery, match=call[:-2]):
        translate(place.format(call))
