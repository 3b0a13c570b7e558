"""Queries of the greatest length and depth.

A plan that doubled with every part would not end here; one that recursed too deeply would raise.
"""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import SparkSession

from tests.support.generators.basic_cases import Quad, iri
from tests.support.harness import Memory, state
from tests.support.spark_harness import SparkMemory
from weir.compute.relations import Statement
from weir.definitions.fingerprint import plan_fingerprint
from weir.engine.plan_delta import plan_delta
from weir.engine.relations import EpochRange, Inputs
from weir.plan.lower import lower
from weir.plan.plan import Plan
from weir.sparql.frontend.translate import translate

_PREFIX = f"PREFIX : {iri('')} "
_ONE, _TWO = (f'"{n}"^^<http://www.w3.org/2001/XMLSchema#integer>' for n in (1, 2))
_HISTORY = (
    (frozenset[Quad](), frozenset({("", iri("a"), iri("p"), _ONE)})),
    (frozenset[Quad](), frozenset({("", iri("b"), iri("p"), _TWO)})),
    (frozenset({("", iri("a"), iri("p"), _ONE)}), frozenset[Quad]()),
)


def _plan(query: str) -> Plan:
    return lower(translate(_PREFIX + query), allow_product=True)


def _answer(query: str) -> Counter[tuple[str | None, ...]]:
    """After three epochs, taken one by one."""
    memory = Memory(_plan(query), _HISTORY)
    for epoch in range(3):
        memory.run(epoch, epoch + 1)
    return state(memory.log(), 3)


def _many(text: str, number: int) -> str:
    return " ".join(text.replace("#", str(i)) for i in range(number))


_COPY = "?x :p ?y " + _many("FILTER NOT EXISTS { VALUES ?a# {1} MINUS { VALUES ?x {1} } }", 15)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    "query",
    [
        f"SELECT DISTINCT ?x {_many('(COUNT(?y) AS ?n#)', 60)} {{ ?x :p ?y }} GROUP BY ?x",
        f"SELECT * {{ ?x :p ?y {_many('BIND(?y AS ?n#)', 60)} OPTIONAL {{ ?x :q ?z }} }}",
        f"SELECT ?x {'{ SELECT ?x (COUNT(*) AS ?n) ' * 40} {{ ?x :p ?y }} GROUP BY ?x"
        + "} GROUP BY ?x " * 39
        + "}",
        "SELECT * { ?x :p ?y "
        + _many("FILTER NOT EXISTS { ?a :r# ?b OPTIONAL { ?a :q ?c FILTER(?c != ?x) } }", 20)
        + "}",
        "SELECT * { ?x :p ?y "
        + _many("FILTER NOT EXISTS { ?a :r# ?b MINUS { ?a :s ?x } }", 20)
        + "}",
        f"SELECT * {{ ?x :p ?y {_many('OPTIONAL { ?x :q# ?o# }', 20)}"
        f" FILTER EXISTS {{ ?a :r ?b {_many('BIND(?b AS ?o#) FILTER(BOUND(?o#))', 20)} }} }}",
        f"SELECT * {{ {{ {_COPY} }} UNION {{ {_COPY} }} }}",
    ],
    ids=[
        "aliases",
        "binds",
        "groups",
        "exists-optional",
        "exists-minus",
        "binds-in-exists",
        "equal-copies",
    ],
)
def test_a_plan_does_not_double_with_every_part(query: str) -> None:
    plan = _plan(query)
    assert len(plan.ids) < 1000
    assert plan_fingerprint(plan) == plan_fingerprint(_plan(query))
    graphs = {component.scope: "graph" for component in plan.components}
    delta = plan_delta(plan, EpochRange(1, 2), Inputs(graphs, "stored"), "q")
    statements = [step for step in delta.statements if isinstance(step, Statement)]
    assert len(delta.statements) < 1000
    assert sum(len(step.select.sql()) for step in statements) < 2_000_000


_LONG = {
    "projection": f"SELECT ?x {_many('(?y + # AS ?b#)', 120)} {{ ?x :p ?y }}",
    "bind": f"SELECT * {{ ?x :p ?y {_many('BIND(?y AS ?b#)', 120)} }}",
    "filter": f"SELECT * {{ ?x :p ?y OPTIONAL {{ ?x :q ?z }}"
    f" {_many('FILTER(!BOUND(?z) || ?z != #)', 120)} }}",
    "order": f"SELECT ?x {{ ?x :p ?y }} ORDER BY {_many('STR(?x)', 120)} LIMIT 1",
    "subquery": f"SELECT ?x {'{ SELECT ?x ' * 100} {{ ?x :p ?y }} {'}' * 100}",
}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("name", _LONG)
def test_a_query_of_many_parts_is_maintained(name: str) -> None:
    answer = _answer(_LONG[name])
    assert [row[0] for row in answer] == [iri("b")]


@pytest.mark.parametrize("name", ["bind", "filter", "order", "subquery"])
def test_a_query_of_many_parts_is_maintained_by_spark(spark: SparkSession, name: str) -> None:
    memory = SparkMemory(spark, _plan(_LONG[name]), _HISTORY)
    memory.run(0, 3)
    assert [row[0] for row in state(memory.log(), 3)] == [iri("b")]
