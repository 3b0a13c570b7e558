"""Distinct: each solution once."""

from __future__ import annotations

from tests.support.notation import deltas, touched_rows
from weir.plan.operators import Distinct

_QUERY = "SELECT DISTINCT ?a { ?s :p ?a }"


def test_a_row_appears_with_its_first_solution_and_vanishes_with_its_last() -> None:
    epochs = ("+x p 1", "+y p 1", "-x p 1", "-y p 1")
    assert deltas(_QUERY, *epochs, node=Distinct) == [["+1"], [], [], ["-1"]]


def test_replacing_a_solution_by_an_equal_one_changes_nothing() -> None:
    assert deltas(_QUERY, "+x p 1", "-x p 1; +y p 1", node=Distinct)[1] == []


def test_a_row_may_reappear() -> None:
    epochs = ("+x p 1", "-x p 1", "+y p 1")
    assert deltas(_QUERY, *epochs, node=Distinct) == [["+1"], ["-1"], ["+1"]]


def test_unbound_is_a_value_like_any_other() -> None:
    query = "SELECT DISTINCT ?b { ?s :p ?a OPTIONAL { ?s :q ?b } }"
    epochs = ("+x p 1; +y p 1", "+x q 2", "+y q 2", "-x q 2; -y q 2")
    assert deltas(query, *epochs, node=Distinct) == [["+_"], ["+2"], ["-_"], ["+_", "-2"]]


def test_without_variables_there_is_one_row_while_there_is_any_solution() -> None:
    query = "SELECT ?s { ?s :p ?a FILTER EXISTS { ?t :q ?b } }"
    epochs = ("+x p 1", "+t q 1; +u q 1", "-t q 1", "-u q 1")
    assert deltas(query, *epochs, node=Distinct) == [[], ["+x"], [], ["-x"]]


def test_only_the_changed_rows_are_read() -> None:
    many = "; ".join(f"+s{i} p {i}" for i in range(20))
    assert touched_rows(_QUERY, many, "+x p 3; -s4 p 4; +x p 99") == {"state": 2}
