"""Closure: paths of one or more steps."""

from __future__ import annotations

import pytest

from tests.support.generators.basic_cases import Quad, iri
from tests.support.generators.grammar_cases import long_paths_case, whole_case
from tests.support.harness import Memory, state
from tests.support.laws import Seeds
from tests.support.notation import deltas, plan_of, touched_rows
from weir.plan.lower import lower
from weir.plan.operators import Closure
from weir.sparql.frontend.translate import translate


@pytest.mark.law("rounds of steps")
def test_rounds_of_many_steps_give_the_rows_that_rounds_of_one_step_give(seeds: Seeds) -> None:
    for seed in seeds:
        pair = long_paths_case(seed) if seed % 3 else whole_case(seed)
        plan = lower(
            translate(pair.query, pair.default_graph),  # type: ignore[arg-type]
            allow_product=True,
        )
        near, distant = Memory(plan, pair.histories[0]), Memory(plan, pair.histories[0])
        distant.engine.is_distant = True
        for memory in (near, distant):
            memory.run(0, 1, initial=True)
            memory.run(1, len(pair.histories[0]))
        assert near.stored() == distant.stored(), pair.query


_QUERY = "SELECT ?x ?y { ?x :p+ ?y }"


def test_a_step_connects_all_before_it_with_all_after_it() -> None:
    changes = deltas(_QUERY, "+a p b; +c p d", "+b p c", node=Closure)
    assert changes == [["+a b", "+c d"], ["+a c", "+a d", "+b c", "+b d"]]


def test_a_step_that_vanishes_removes_only_pairs_without_another_path() -> None:
    changes = deltas(_QUERY, "+a p b; +b p d; +a p c; +c p d", "-b p d", "-c p d", node=Closure)
    assert changes[1:] == [["-b d"], ["-a d", "-c d"]]


def test_replacing_a_path_by_another_changes_nothing() -> None:
    changes = deltas("SELECT ?y { :a :p+ ?y }", "+a p b; +b p d; +a p c", "-b p d; +c p d")
    assert changes[1] == []


def test_a_cycle_connects_a_node_with_itself_and_ends() -> None:
    changes = deltas(_QUERY, "+a p b", "+b p a", "-a p b", node=Closure)
    assert changes == [["+a b"], ["+a a", "+b a", "+b b"], ["-a a", "-a b", "-b b"]]


def test_steps_that_never_hold_at_once_make_no_path() -> None:
    assert deltas(_QUERY, "+a p b", "-a p b; +b p c", node=Closure)[1] == ["+b c", "-a b"]


def test_a_pair_counts_once_even_with_several_paths() -> None:
    changes = deltas(_QUERY, "+a p b; +a p c; +b p d; +c p d", node=Closure)
    assert changes == [["+a b", "+a c", "+a d", "+b d", "+c d"]]


def test_a_path_from_a_constant_does_not_follow_other_nodes() -> None:
    changes = deltas("SELECT ?y { :a :p+ ?y }", "+a p b; +c p d", "+b p c", "-a p b", node=Closure)
    assert changes == [["+b"], ["+c", "+d"], ["-b", "-c", "-d"]]


def test_a_path_to_a_constant_is_followed_backwards() -> None:
    changes = deltas("SELECT ?x { ?x :p+ :d }", "+a p b; +c p d", "+b p c", node=Closure)
    assert changes == [["+c"], ["+a", "+b"]]


def test_a_path_stays_in_its_graph() -> None:
    query = "SELECT ?g ?x ?y { GRAPH ?g { ?x :p+ ?y } }"
    changes = deltas(query, "+a p b @g; +b p c @h", "+b p c @g", node=Closure)
    assert changes == [["+g a b", "+h b c"], ["+g a c", "+g b c"]]


def test_a_zero_length_path_begins_at_the_terms_of_the_graph() -> None:
    changes = deltas("SELECT ?x ?y { ?x :p* ?y }", "+a p b", "-a p b", node=Closure)
    assert changes == [["+a a", "+a b", "+b b"], ["-a a", "-a b", "-b b"]]


def test_a_zero_length_path_connects_a_constant_with_itself_even_in_an_empty_graph() -> None:
    assert deltas("SELECT ?y { :a :p* ?y }", "+x q 1", "+a p b") == [["+a"], ["+b"]]


def test_a_change_of_one_step_reads_all_stored_steps() -> None:
    steps = "; ".join(f"+{s} p {s}1" for s in "abcdef")
    assert touched_rows(_QUERY, steps, "+a p g") == {"state": 6}


@pytest.mark.parametrize("epochs", [1, 2])
def test_a_path_of_a_hundred_steps_is_maintained(epochs: int) -> None:
    """More rounds than are merged at once, and merges of merged ones."""
    steps = [("", iri(f"n{i}"), iri("p"), iri(f"n{i + 1}")) for i in range(100)]
    history = (
        (frozenset[Quad](), frozenset(steps)),
        (frozenset({steps[60]}), frozenset[Quad]()),
    )
    memory = Memory(plan_of(_QUERY), history)
    for after in range(0, 2, epochs):
        memory.run(after, after + epochs)
    assert len(state(memory.log(), 1)) == 100 * 101 // 2
    assert len(state(memory.log(), 2)) == 60 * 61 // 2 + 39 * 40 // 2
