"""Join: the product rule, multiplicities, unbound variables, and what is read."""

from __future__ import annotations

import pytest

from tests.support.notation import deltas, touched_rows
from weir.plan.operators import Join

_SETS = (
    "SELECT ?s ?a ?b { { SELECT DISTINCT ?s ?a { ?s :p ?a } }"
    " { SELECT DISTINCT ?s ?b { ?s :q ?b } } }"
)
_BAGS = "SELECT ?s { { SELECT ?s { ?s :p ?a } } { SELECT ?s { ?s :q ?b } } }"


def test_a_pair_appears_with_its_second_row_and_vanishes_with_its_first() -> None:
    epochs = ("+x p 1", "+x q 2", "-x p 1", "-x q 2")
    assert deltas(_SETS, *epochs, node=Join) == [[], ["+x 1 2"], ["-x 1 2"], []]


def test_a_pair_of_two_rows_that_appear_in_one_epoch_appears_once() -> None:
    assert deltas(_SETS, "+x p 1; +x q 2", node=Join) == [["+x 1 2"]]


def test_a_pair_of_two_rows_that_vanish_in_one_epoch_vanishes_once() -> None:
    assert deltas(_SETS, "+x p 1; +x q 2", "-x p 1; -x q 2", node=Join)[1] == ["-x 1 2"]


def test_replacing_a_row_replaces_its_pairs() -> None:
    changes = deltas(_SETS, "+x p 1; +x q 2; +x q 3", "-x p 1; +x p 4", node=Join)
    assert changes[1] == ["+x 4 2", "+x 4 3", "-x 1 2", "-x 1 3"]


def test_rows_that_change_on_both_sides_join_old_with_old_and_new_with_new() -> None:
    """Old pairs vanish, new pairs appear; an old row never joins a new one."""
    changes = deltas(_SETS, "+x p 1; +x q 2", "-x p 1; -x q 2; +x p 3; +x q 4", node=Join)
    assert changes[1] == ["+x 3 4", "-x 1 2"]


def test_a_pair_occurs_as_often_as_the_product_of_its_rows() -> None:
    changes = deltas(_BAGS, "+x p 1; +x p 2; +x q 1; +x q 2; +x q 3", "-x p 1", "-x q 1", node=Join)
    assert changes == [["+x *6"], ["-x *3"], ["-x"]]


@pytest.mark.parametrize(
    ("epoch", "delta"),
    [("+x q 1", "+x 1 1"), ("+y q 1", "+y _ 1")],
    ids=["bound on both sides", "unbound on one"],
)
def test_an_unbound_variable_is_compatible_with_any_value(epoch: str, delta: str) -> None:
    """The left side binds ?a of x only; the right side binds it always."""
    query = (
        "SELECT ?s ?a ?b { { SELECT ?s ?a { ?s :t ?t OPTIONAL { ?s :p ?a } } }"
        " { SELECT ?s ?a ?b { ?s :q ?b OPTIONAL { ?s :none ?a } } } }"
    )
    assert deltas(query, "+x t 0; +x p 1; +y t 0", epoch, node=Join)[1] == [delta]


def test_a_merged_row_takes_the_value_of_the_side_that_binds_it() -> None:
    query = (
        "SELECT ?s ?a { { SELECT ?s ?a { ?s :t ?t OPTIONAL { ?s :p ?a } } }"
        " { SELECT DISTINCT ?s ?a { ?s :q ?a } } }"
    )
    epochs = ("+x t 0; +x q 1; +x q 2", "+x p 1")
    assert deltas(query, *epochs, node=Join) == [["+x 1", "+x 2"], ["-x 2"]]


def test_only_rows_with_a_shared_value_of_a_changed_row_are_read() -> None:
    many = "; ".join(f"+{s} p 1; +{s} q 2" for s in "abcdef")
    assert touched_rows(_SETS, many, "+a q 3") == {"state": 0, "state_l": 1, "state_r": 1}
