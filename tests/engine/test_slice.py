"""Slice: LIMIT and OFFSET."""

from __future__ import annotations

import pytest

from tests.support.notation import deltas, touched_rows
from weir.plan.operators import Slice


def _sliced(modifiers: str, select: str = "?a") -> str:
    return f"SELECT {select} {{ ?s :p ?a }} {modifiers}"


def test_after_a_deletion_the_next_row_moves_up() -> None:
    changes = deltas(_sliced("ORDER BY ?a LIMIT 2"), "+x p 1; +x p 2; +x p 3", "-x p 1", node=Slice)
    assert changes == [["+1", "+2"], ["+3", "-1"]]


def test_a_row_that_comes_first_pushes_the_last_out() -> None:
    changes = deltas(_sliced("ORDER BY ?a LIMIT 2"), "+x p 2; +x p 3", "+x p 1", node=Slice)
    assert changes[1] == ["+1", "-3"]


def test_a_row_beyond_the_limit_changes_nothing() -> None:
    assert deltas(_sliced("ORDER BY ?a LIMIT 1"), "+x p 1", "+x p 2", "-x p 2")[1:] == [[], []]


def test_as_many_rows_move_up_as_vanish() -> None:
    rows = "; ".join(f"+x p {i}" for i in range(1, 8))
    changes = deltas(_sliced("ORDER BY ?a LIMIT 3"), rows, "-x p 1; -x p 2; -x p 3; -x p 4")
    assert changes[1] == ["+5", "+6", "+7", "-1", "-2", "-3"]


def test_offset_skips_the_first_rows() -> None:
    changes = deltas(
        _sliced("ORDER BY ?a OFFSET 1"), "+x p 1; +x p 2; +x p 3", "-x p 1", node=Slice
    )
    assert changes == [["+2", "+3"], ["-2"]]


def test_a_window_moves_as_a_whole() -> None:
    rows = "+x p 1; +x p 2; +x p 3; +x p 4"
    changes = deltas(_sliced("ORDER BY ?a OFFSET 1 LIMIT 2"), rows, "+x p 0", "-x p 0; -x p 1")
    assert changes == [["+2", "+3"], ["+1", "-3"], ["+3", "+4", "-1", "-2"]]


def test_descending_order_begins_with_the_greatest() -> None:
    changes = deltas(_sliced("ORDER BY DESC(?a) LIMIT 1"), "+x p 1; +x p 2", "+x p 3", "-x p 3")
    assert changes == [["+2"], ["+3", "-2"], ["+2", "-3"]]


def test_a_row_that_occurs_several_times_is_cut_at_the_limit() -> None:
    changes = deltas(_sliced("ORDER BY ?a LIMIT 2"), "+x p 1; +y p 1; +z p 1", "-x p 1; -y p 1")
    assert changes == [["+1 *2"], ["-1"]]


def test_ties_are_ordered_by_text() -> None:
    query = _sliced("ORDER BY STRLEN(STR(?a)) LIMIT 2")
    assert deltas(query, '+x p "c"; +x p "b"', '+x p "a"')[1] == ['+"a"', '-"c"']


def test_a_row_that_is_unbound_in_the_order_comes_first() -> None:
    query = "SELECT ?s { ?s :p ?a OPTIONAL { ?s :q ?b } } ORDER BY ?b LIMIT 1"
    assert deltas(query, "+x p 1; +x q 1; +y p 1; +y q 2", "-y q 2") == [["+x"], ["+y", "-x"]]


def test_each_graph_has_a_limit_of_its_own() -> None:
    query = "SELECT ?g ?a { GRAPH ?g { SELECT ?a { ?s :p ?a } ORDER BY ?a LIMIT 1 } }"
    epochs = ("+x p 1 @g; +x p 2 @g; +x p 3 @h", "-x p 1 @g", "-x p 3 @h")
    changes = deltas(query, *epochs, node=Slice)
    assert changes == [["+g 1", "+h 3"], ["+g 2", "-g 1"], ["-h 3"]]


def test_only_the_first_rows_of_the_state_and_as_many_as_vanish_are_read() -> None:
    rows = "; ".join(f"+x p {i}" for i in range(50))
    read = touched_rows(_sliced("ORDER BY ?a OFFSET 2 LIMIT 3"), rows, "-x p 4; -x p 30")
    assert read == {"state": 50, "first": 7}


@pytest.mark.parametrize(
    ("modifiers", "rows"),
    [
        ("LIMIT 99999999999999999999", 1),
        ("OFFSET 99999999999999999999", 0),
        pytest.param("LIMIT " + "9" * 5000, 1, id="5000 digits"),
        ("OFFSET 9223372036854775807 LIMIT 9223372036854775807", 0),
    ],
)
def test_a_limit_may_be_any_number(modifiers: str, rows: int) -> None:
    (change,) = deltas(_sliced(f"ORDER BY ?a {modifiers}"), "+x p 1")
    assert len(change) == rows
