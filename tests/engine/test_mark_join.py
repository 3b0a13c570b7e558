"""Mark join: EXISTS within an expression."""

from __future__ import annotations

from tests.support.notation import deltas
from weir.plan.operators import MarkJoin

_QUERY = "SELECT ?s ?k { ?s :p ?a BIND(EXISTS { ?s :q ?b } AS ?k) }"


def test_the_flag_turns_true_with_the_first_match_and_false_with_the_end_of_the_last() -> None:
    epochs = ("+x p 1", "+x q 2", "+x q 3", "-x q 2", "-x q 3")
    assert deltas(_QUERY, *epochs, node=MarkJoin) == [
        ["+x false"],
        ["+x true", "-x false"],
        [],
        [],
        ["+x false", "-x true"],
    ]


def test_a_row_that_appears_with_a_match_is_true_at_once() -> None:
    assert deltas(_QUERY, "+x p 1; +x q 2", node=MarkJoin) == [["+x true"]]


def test_a_row_vanishes_with_the_flag_that_it_had() -> None:
    changes = deltas(_QUERY, "+x p 1; +y p 1; +y q 2", "-x p 1; -y p 1; -y q 2", node=MarkJoin)
    assert changes[1] == ["-x false", "-y true"]


def test_a_row_occurs_as_often_as_on_the_left() -> None:
    query = "SELECT ?s ?k { { SELECT ?s { ?s :p ?a } } BIND(EXISTS { ?s :q ?b } AS ?k) }"
    changes = deltas(query, "+x p 1; +x p 2", "+x q 3; +x q 4", node=MarkJoin)
    assert changes[1] == ["+x true *2", "-x false *2"]


def test_a_condition_reads_the_flags_of_several_patterns() -> None:
    query = "SELECT ?s { ?s :p ?a FILTER(EXISTS { ?s :q ?b } || !EXISTS { ?s :r ?b }) }"
    changes = deltas(query, "+x p 1", "+x r 1", "+x q 1", "-x r 1; -x q 1", node=MarkJoin)
    assert changes == [["+x"], ["-x"], ["+x"], []]


def test_a_match_satisfies_the_condition_on_both_sides() -> None:
    query = "SELECT ?s ?k { ?s :p ?a BIND(EXISTS { ?s :q ?b FILTER(?b > ?a) } AS ?k) }"
    changes = deltas(query, "+x p 2; +x q 1", "+x q 3", node=MarkJoin)
    assert changes == [["+x false"], ["+x true", "-x false"]]
