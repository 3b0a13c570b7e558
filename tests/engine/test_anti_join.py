"""Anti join: NOT EXISTS and MINUS."""

from __future__ import annotations

from tests.support.notation import deltas, touched_rows
from weir.plan.operators import AntiJoin

_QUERY = "SELECT ?s ?a { ?s :p ?a FILTER NOT EXISTS { ?s :q ?b } }"


def test_a_row_vanishes_with_its_first_match_and_comes_back_with_the_end_of_the_last() -> None:
    epochs = ("+x p 1", "+x q 2", "+x q 3", "-x q 2", "-x q 3")
    assert deltas(_QUERY, *epochs, node=AntiJoin) == [["+x 1"], ["-x 1"], [], [], ["+x 1"]]


def test_a_row_that_appears_with_a_match_never_appears_in_the_answer() -> None:
    assert deltas(_QUERY, "+x p 1; +x q 2", "-x p 1", node=AntiJoin) == [[], []]


def test_a_row_that_vanishes_in_one_epoch_with_its_match_never_appears() -> None:
    assert deltas(_QUERY, "+x p 1; +x q 2", "-x p 1; -x q 2", node=AntiJoin) == [[], []]


def test_a_row_occurs_as_often_as_on_the_left() -> None:
    query = "SELECT ?s { { SELECT ?s { ?s :p ?a } } MINUS { ?s :q ?b } }"
    changes = deltas(query, "+x p 1; +x p 2", "+x q 3", "-x q 3; -x p 1", node=AntiJoin)
    assert changes == [["+x *2"], ["-x *2"], ["+x"]]


def test_a_match_satisfies_the_condition_on_both_sides() -> None:
    query = "SELECT ?s ?a { ?s :p ?a FILTER NOT EXISTS { ?s :q ?b FILTER(?b > ?a) } }"
    changes = deltas(query, "+x p 2; +x q 1", "+x q 3", "-x q 3", node=AntiJoin)
    assert changes == [["+x 2"], ["-x 2"], ["+x 2"]]


_MAYBE = "SELECT ?s { ?s :p ?a OPTIONAL { ?s :q ?b } %s }"


def test_minus_removes_a_row_only_if_both_sides_bind_a_shared_variable() -> None:
    """Left and right share ?b: unbound on a side, they are compatible but share no variable."""
    right = "MINUS { ?c :r ?d OPTIONAL { ?c :t ?b } }"
    epochs = ("+x p 1; +c r 1", "+x q 7", "+c t 7", "-x q 7")
    assert deltas(_MAYBE % right, *epochs, node=AntiJoin) == [["+x"], [], ["-x"], ["+x"]]


def test_not_exists_removes_compatible_rows_even_if_they_share_no_variable() -> None:
    right = "FILTER NOT EXISTS { ?c :r ?b }"
    epochs = ("+x p 1", "+c r 7", "+x q 8", "-x q 8")
    assert deltas(_MAYBE % right, *epochs, node=AntiJoin) == [["+x"], ["-x"], ["+x"], ["-x"]]


def test_only_rows_with_a_shared_value_of_a_changed_row_are_read() -> None:
    many = "; ".join(f"+{s} p 1; +{s} q 2" for s in "abcdef")
    assert touched_rows(_QUERY, many, "-a q 2") == {"state_l": 1, "state_r": 1}
