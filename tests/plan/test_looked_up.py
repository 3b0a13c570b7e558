"""Which children of operators are looked up in the graph, and which ways lead to their rows."""

from __future__ import annotations

import pytest

from tests.support.notation import plan_of
from weir.plan.leaves import Component
from weir.plan.lookups import Lookup, Seed
from weir.plan.plan import Plan


def ways(plan: Plan) -> set[str]:
    """The lookups of a plan, each by the predicates on its way from the changed pattern."""
    return {" ".join(_predicates(lookup)) for lookup in plan.lookups}


def _predicates(rows: Seed | Lookup) -> list[str]:
    before = [] if isinstance(rows, Seed) else _predicates(rows.source)
    return [*before, (rows.shape.predicate or "?").rpartition("/")[2].rstrip(">")]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?x :p ?y FILTER EXISTS { ?x :q ?z } }",
        "SELECT * { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z . ?z :r ?w FILTER(?w > ?y) } }",
        "SELECT * { ?x :p ?y MINUS { ?x :q ?y } }",
        "SELECT * { ?x :p ?y OPTIONAL { ?y :q ?z } }",
        "SELECT ?x (EXISTS { ?x :q 1 } AS ?has) { ?x :p ?y }",
        "SELECT * { ?x :p ?y OPTIONAL { { ?y :q ?z } UNION { ?y :r ?z } } }",
        "SELECT * { ?x :p ?y BIND(STR(?y) AS ?s) FILTER NOT EXISTS { ?x :q ?s } }",
        "SELECT ?x (COUNT(?y) AS ?n) { ?x :p ?y } GROUP BY ?x",
        "SELECT * { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z . ?w :r ?z } }",
        "SELECT ?x (COUNT(DISTINCT ?y) AS ?n) { ?x :p/:q ?y } GROUP BY ?x HAVING(?n > 2)",
        "SELECT DISTINCT ?x { ?x :p ?y }",
        "CONSTRUCT { ?x :r ?y } { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z } }",
    ],
)
def test_sides_that_are_made_of_segments_row_by_row_are_looked_up(query: str) -> None:
    plan = plan_of(query)
    assert {*plan.components} & {*plan.stored} == set()
    assert plan.looked_up


@pytest.mark.parametrize(
    "query",
    [
        # No variable in common, or none that both sides bind for certain.
        "SELECT * { ?x :p ?y FILTER NOT EXISTS { ?z :q ?w } }",
        "SELECT * { { ?x :p ?y } UNION { ?z :p ?w } FILTER NOT EXISTS { ?z :q ?y } }",
        "SELECT (COUNT(*) AS ?n) { ?x :p ?y }",
        # By objects, of which there may be very many.
        "SELECT * { ?x :p ?y FILTER NOT EXISTS { ?z :q ?x } }",
        "SELECT ?y (COUNT(?x) AS ?n) { ?x a ?y } GROUP BY ?y",
        "SELECT DISTINCT ?y { ?x a ?y }",
        # Another scope.
        "SELECT * { ?x :p ?y FILTER NOT EXISTS { GRAPH :g { ?x :q ?z } } }",
        # Values that come from what has rows far from the changes.
        "SELECT * { ?x :p+ ?y FILTER NOT EXISTS { ?y :q ?z } }",
        "SELECT * { { SELECT * { ?x :p ?y } LIMIT 3 } FILTER NOT EXISTS { ?x :q ?z } }",
    ],
)
def test_a_side_that_no_value_of_a_change_leads_to_is_stored(query: str) -> None:
    assert len(plan_of(query).stored) > 1


def test_a_node_that_another_operator_reads_as_a_whole_is_stored() -> None:
    plan = plan_of(
        "SELECT * { { ?x :p 1 FILTER NOT EXISTS { ?x :q 2 } } UNION { ?x :p 1 . ?z :r 1 } }"
    )
    (shared,) = (node for node in plan.components if node in plan.reused)
    assert shared in plan.stored
    assert shared not in plan.looked_up


def test_a_change_leads_to_the_other_side_and_from_the_right_back_to_all_matches() -> None:
    plan = plan_of("SELECT * { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z } }")
    assert ways(plan) == {"p q", "q p", "q p q"}


def test_a_right_side_with_one_row_for_a_value_is_not_read_again() -> None:
    plan = plan_of("SELECT * { ?x :p ?y FILTER NOT EXISTS { ?y :q 1 } }")
    assert ways(plan) == {"p q", "q p"}


def test_a_change_of_a_group_leads_to_all_rows_of_the_group() -> None:
    plan = plan_of("SELECT ?x (COUNT(*) AS ?n) { ?x :p ?y . ?y :q ?z } GROUP BY ?x")
    assert ways(plan) == {"p q", "q p", "p p", "p p q", "q p p", "q p p q"}


def test_ways_go_on_through_operators_that_look_their_sides_up() -> None:
    plan = plan_of("SELECT * { ?x :p ?y OPTIONAL { ?x :q ?z } OPTIONAL { ?x :r ?w } }")
    assert {"p r", "q p r", "r r"} <= ways(plan)
    (kept,) = {*plan.stored} - {plan.root}
    assert not isinstance(kept, Component)


def test_a_variable_that_a_subquery_does_not_show_leads_nowhere() -> None:
    plan = plan_of("SELECT * { { SELECT ?x { ?x :p ?y } } OPTIONAL { ?x :q ?z . ?z :r ?y } }")
    assert "p r" not in ways(plan)
    assert "p q r" in ways(plan)
