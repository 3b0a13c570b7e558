"""Semi join: EXISTS."""

from __future__ import annotations

from tests.support.notation import deltas, touched_rows
from weir.plan.operators import SemiJoin

_QUERY = "SELECT ?s ?a { ?s :p ?a FILTER EXISTS { ?s :q ?b } }"


def test_a_row_appears_with_its_first_match_and_vanishes_with_its_last() -> None:
    epochs = ("+x p 1", "+x q 2", "+x q 3", "-x q 2", "-x q 3")
    assert deltas(_QUERY, *epochs, node=SemiJoin) == [[], ["+x 1"], [], [], ["-x 1"]]


def test_a_match_that_is_replaced_in_an_epoch_changes_nothing() -> None:
    assert deltas(_QUERY, "+x p 1; +x q 2", "-x q 2; +x q 3", node=SemiJoin)[1] == []


def test_a_row_occurs_as_often_as_on_the_left_for_any_number_of_matches() -> None:
    query = "SELECT ?s { { SELECT ?s { ?s :p ?a } } FILTER EXISTS { ?s :q ?b } }"
    changes = deltas(query, "+x p 1; +x p 2; +x q 3; +x q 4; +x q 5", "-x p 1", node=SemiJoin)
    assert changes == [["+x *2"], ["-x"]]


def test_a_row_that_vanishes_with_its_match_vanishes_once() -> None:
    assert deltas(_QUERY, "+x p 1; +x q 2", "-x p 1; -x q 2", node=SemiJoin)[1] == ["-x 1"]


def test_a_match_satisfies_the_condition_on_both_sides() -> None:
    query = "SELECT ?s ?a { ?s :p ?a FILTER EXISTS { ?s :q ?b FILTER(?b > ?a) } }"
    changes = deltas(query, "+x p 2; +x q 1", "+x q 3", "-x q 3", node=SemiJoin)
    assert changes == [[], ["+x 2"], ["-x 2"]]


def test_an_unbound_variable_matches_any_value() -> None:
    """?b of x is unbound: it has a match for as long as anything has the property r."""
    query = "SELECT ?s { ?s :p ?a OPTIONAL { ?s :q ?b } FILTER EXISTS { ?c :r ?b } }"
    changes = deltas(query, "+x p 1; +c r 7; +d r 8", "-c r 7", "+x q 9", node=SemiJoin)
    assert changes == [["+x"], [], ["-x"]]


def test_a_pattern_that_shares_nothing_matches_all_rows_or_none() -> None:
    query = "SELECT ?s { ?s :p ?a FILTER EXISTS { ?t :q ?b } }"
    changes = deltas(query, "+x p 1; +y p 1", "+t q 1", "+t q 2; -t q 1", "-t q 2", node=SemiJoin)
    assert changes == [[], ["+x", "+y"], [], ["-x", "-y"]]


def test_only_rows_with_a_shared_value_of_a_changed_row_are_read() -> None:
    many = "; ".join(f"+{s} p 1; +{s} q 2" for s in "abcdef")
    assert touched_rows(_QUERY, many, "-a q 2") == {"state_l": 1, "state_r": 1}
