"""Component: the triple patterns of a segment, over the union of graphs, some of them, or each."""

from __future__ import annotations

import pytest

from tests.support.harness import Memory
from tests.support.notation import deltas, history, plan_of
from weir.plan.leaves import Component
from weir.plan.operators import Distinct

_STAR = "SELECT ?s ?a ?b { ?s :p ?a ; :q ?b }"


def test_a_solution_appears_with_its_last_triple_and_vanishes_with_its_first() -> None:
    epochs = ("+x p 1", "+x q 2", "-x p 1", "-x q 2")
    assert deltas(_STAR, *epochs, node=Component) == [[], ["+x 1 2"], ["-x 1 2"], []]


def test_solutions_reappear_with_their_triple() -> None:
    epochs = ("+x p 1; +x q 2", "-x q 2", "+x q 2", "-x q 2")
    assert deltas(_STAR, *epochs) == [["+x 1 2"], ["-x 1 2"], ["+x 1 2"], ["-x 1 2"]]


def test_replacing_a_triple_replaces_its_solutions() -> None:
    assert deltas(_STAR, "+x p 1; +x q 2", "-x q 2; +x q 3")[1] == ["+x 1 3", "-x 1 2"]


def test_triples_that_never_hold_at_once_make_no_solution() -> None:
    assert deltas(_STAR, "+x p 1", "-x p 1; +x q 2") == [[], []]


def test_a_chain_is_found_from_a_change_at_its_end() -> None:
    query = "SELECT ?a ?d { ?a :p ?b . ?b :p ?c . ?c :p ?d }"
    epochs = ("+a p b; +b p c", "+c p d", "-a p b")
    assert deltas(query, *epochs) == [[], ["+a d"], ["-a d"]]


def test_a_variable_stands_for_one_term_within_a_pattern() -> None:
    assert deltas("SELECT ?s { ?s :p ?s }", "+a p b; +b p b", "-b p b") == [["+b"], ["-b"]]


def test_one_triple_may_match_several_patterns() -> None:
    query = "SELECT ?a ?b ?c { ?a :p ?b . ?b :p ?c }"
    assert deltas(query, "+a p a", "-a p a") == [["+a a a"], ["-a a a"]]


def test_a_condition_over_the_variables_of_a_segment_is_tested_within_it() -> None:
    query = "SELECT ?s ?a { ?s :p ?a ; :q ?b FILTER(?a < ?b) }"
    (component,) = plan_of(query).components
    assert component.conditions
    assert deltas(query, "+x p 1; +x q 0", "+x q 2") == [[], ["+x 1"]]


def test_the_union_of_all_graphs_contains_a_triple_once() -> None:
    """It holds from the first graph that asserts it until the last retracts it."""
    epochs = ("+x p 1 @g", "+x p 1 @h", "-x p 1 @g", "-x p 1 @h")
    changes = deltas("SELECT ?s { ?s :p ?a }", *epochs, default_graph="union")
    assert changes == [["+x"], [], [], ["-x"]]


def test_the_merge_of_some_graphs_contains_a_triple_once() -> None:
    query = "SELECT ?s FROM :g FROM :h { ?s :p ?a }"
    epochs = ("+x p 1 @g; +x p 1 @i", "+x p 1 @h", "-x p 1 @g", "-x p 1 @h")
    assert deltas(query, *epochs) == [["+x"], [], [], ["-x"]]


def test_a_triple_that_moves_from_graph_to_graph_stays_in_their_merge() -> None:
    query = "SELECT ?s FROM :g FROM :h { ?s :p ?a }"
    assert deltas(query, "+x p 1 @g", "-x p 1 @g; +x p 1 @h") == [["+x"], []]


def test_patterns_in_each_graph_match_triples_of_one_graph() -> None:
    query = "SELECT ?g ?s { GRAPH ?g { ?s :p ?a ; :q ?b } }"
    epochs = ("+x p 1 @g; +x q 2 @h; +x p 1; +x q 2", "+x q 2 @g", "-x p 1 @g")
    assert deltas(query, *epochs) == [[], ["+g x"], ["-g x"]]


def test_patterns_without_variables_leave_all_solutions_or_none() -> None:
    query = "SELECT ?s { ?s :p 1 . :on :is :up . :off :is :down }"
    epochs = ("+x p 1; +on is up", "+off is down", "-on is up")
    assert deltas(query, *epochs) == [[], ["+x"], ["-x"]]


@pytest.mark.parametrize("changed", [1, 3])
def test_only_the_neighbourhood_of_the_changes_is_joined(changed: int) -> None:
    """Of a hundred subjects with both triples, only the changed one."""
    subjects = [f"s{i}" for i in range(100)]
    base = "; ".join(f"+{s} p 1; +{s} q 2" for s in subjects)
    change = "; ".join(f"-{s} q 2" for s in subjects[:changed])
    memory = Memory(plan_of(_STAR), history(base, change))
    memory.run(0, 1)
    with memory.running(1, 2):
        assert memory.engine.count("scope0_graph") == 2 * changed


def test_a_bag_of_solutions_is_not_merged() -> None:
    query = "SELECT ?a { ?s :p ?a }"
    assert deltas(query, "+x p 1; +y p 1", "-x p 1") == [["+1 *2"], ["-1"]]
    assert not any(isinstance(node, Distinct) for node in plan_of(query).ids)
