"""Plans of queries: their parts, stored nodes and columns."""

from __future__ import annotations

import pytest

from weir.plan.leaves import Component
from weir.plan.lookups import needed, predicates, seeds
from weir.plan.lower import lower
from weir.plan.operators import Distinct, Filter, Product, walk
from weir.plan.plan import Plan
from weir.plan.scope import Scope
from weir.sparql.frontend.translate import translate

PREFIX = "PREFIX : <http://example.org/> "


def plan(text: str) -> Plan:
    """The plan of a query."""
    return lower(translate(PREFIX + text))


def kinds(made: Plan) -> list[str]:
    """Classes of the parts."""
    return [component.kind for component in made.components]


def test_a_plain_query_stores_its_answer_only() -> None:
    made = plan("SELECT ?x { ?x :p ?y . ?y :q ?z }")
    assert [*made.stored] == [made.root]


def test_distinct_stores_a_child_that_is_not_looked_up() -> None:
    made = plan("SELECT DISTINCT ?x { ?x :p+ ?y }")
    assert isinstance(made.root, Distinct)
    assert made.root.child in made.stored


def test_parts_without_a_shared_variable_are_a_product_of_stored_parts() -> None:
    made = plan("SELECT * { ?x :p ?y . ?z :q :c . :a :p :b }")
    assert kinds(made) == ["ground", "connected-variable", "simple var-centric star"]
    assert set(made.components) <= set(made.stored)


def test_a_filter_moves_to_the_part_that_binds_its_variables() -> None:
    made = plan("SELECT * { ?x :p ?y . ?z :q :c FILTER(?y > 1 && isIRI(?z)) }")
    assert [len(component.conditions) for component in made.components] == [1, 1]


def test_a_filter_over_two_parts_stays_above_their_product() -> None:
    made = plan("SELECT * { ?x :p ?y . ?z :q :c FILTER(?y = ?z) }")
    (above,) = (node for node in walk(made.root) if isinstance(node, Filter))
    assert isinstance(above.child, Product)


def test_a_filter_on_a_variable_that_nothing_binds_is_kept() -> None:
    made = plan("SELECT * { ?x :p ?y FILTER(!BOUND(?nowhere)) }")
    assert any(isinstance(node, Filter) for node in walk(made.root))


def test_variables_that_differ_by_case_have_columns_of_their_own() -> None:
    assert plan("SELECT ?x { ?x :p ?X }").names == ("x", "X")


def test_the_published_columns_are_in_the_order_of_the_select() -> None:
    assert [name for name, _ in plan("SELECT ?b ?a { ?a :p ?b }").columns] == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("ASK { ?x :p ?y }", ["answer"]),
        ("CONSTRUCT { ?x :q ?y } WHERE { ?x :p ?y }", ["subject", "predicate", "object"]),
    ],
)
def test_ask_and_construct_publish_fixed_columns(text: str, columns: list[str]) -> None:
    made = plan(text)
    assert made.is_set
    assert [name for name, _ in made.columns] == columns


def test_from_replaces_the_default_graph() -> None:
    text = "SELECT * FROM <http://example.org/g> { ?x <http://example.org/p> ?y }"
    (component,) = lower(translate(text)).components
    assert component.scope == Scope(("<http://example.org/g>",))


def test_every_pattern_is_looked_up_from_every_other() -> None:
    made = plan("SELECT * { ?x :p ?y . ?y :q ?z . ?z :r ?w }")
    order = needed(made.lookups, Scope())
    reached = {(one.seed.shape.predicate, one.shape.predicate) for one in order}
    assert len(reached) == len(order) == 6
    assert [one.depth for one in order] == sorted(one.depth for one in order)


def test_queries_with_common_patterns_share_lookups() -> None:
    first = plan("SELECT * { ?x :p ?y . ?y :q ?z }")
    second = plan("SELECT ?a { ?a :p ?b . ?b :q ?c . ?c :r ?d }")
    both = needed((*first.lookups, *second.lookups), Scope())
    assert len(both) == len(second.lookups)


def test_the_ground_triples_are_looked_up_without_a_shared_variable() -> None:
    made = plan("ASK { :a :p :b . :c :q :d }")
    assert len(made.lookups) == 2


def test_a_variable_predicate_reads_all_predicates() -> None:
    assert predicates(plan("SELECT * { ?x ?p ?y }").components) is None
    known = predicates(plan("SELECT * { ?x :p ?y . ?y :q ?z }").components)
    assert known == frozenset({"<http://example.org/p>", "<http://example.org/q>"})


def test_a_pattern_that_occurs_twice_has_one_seed() -> None:
    made = plan("SELECT * { ?x :p ?y . ?y :p ?z }")
    assert len(seeds(made.components)) == 1
    assert isinstance(made.components[0], Component)
