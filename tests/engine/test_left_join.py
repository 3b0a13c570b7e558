"""Left join: OPTIONAL."""

from __future__ import annotations

from tests.support.notation import deltas, plan_of, touched_rows
from weir.engine.plan_delta import plan_delta
from weir.engine.relations import EpochRange, Inputs
from weir.plan.operators import LeftJoin

_QUERY = "SELECT ?s ?a ?b { ?s :p ?a OPTIONAL { ?s :q ?b } }"


def test_the_first_match_replaces_the_row_without_one() -> None:
    assert deltas(_QUERY, "+x p 1", "+x q 2", node=LeftJoin) == [["+x 1 _"], ["+x 1 2", "-x 1 _"]]


def test_a_further_match_adds_a_row_only() -> None:
    assert deltas(_QUERY, "+x p 1; +x q 2", "+x q 3", node=LeftJoin)[1] == ["+x 1 3"]


def test_the_unmatched_row_reappears_with_the_end_of_the_last_match() -> None:
    changes = deltas(_QUERY, "+x p 1; +x q 2; +x q 3", "-x q 2", "-x q 3", node=LeftJoin)
    assert changes[1:] == [["-x 1 2"], ["+x 1 _", "-x 1 3"]]


def test_a_match_that_is_replaced_in_an_epoch_leaves_no_row_without_one() -> None:
    changes = deltas(_QUERY, "+x p 1; +x q 2", "-x q 2; +x q 3", node=LeftJoin)
    assert changes[1] == ["+x 1 3", "-x 1 2"]


def test_a_row_that_appears_with_its_match_is_never_unmatched() -> None:
    assert deltas(_QUERY, "+x p 1; +x q 2", node=LeftJoin) == [["+x 1 2"]]


def test_a_right_row_without_a_left_one_adds_nothing() -> None:
    assert deltas(_QUERY, "+x q 2", node=LeftJoin) == [[]]


def test_multiplicities_of_unmatched_rows_are_preserved() -> None:
    query = "SELECT ?s ?b { { SELECT ?s { ?s :p ?a } } OPTIONAL { ?s :q ?b } }"
    changes = deltas(query, "+x p 1; +x p 2", "+x q 3", node=LeftJoin)
    assert changes == [["+x _ *2"], ["+x 3 *2", "-x _ *2"]]


def test_the_condition_is_about_both_sides() -> None:
    query = "SELECT ?s ?a ?b { ?s :p ?a OPTIONAL { ?s :q ?b FILTER(?b > ?a) } }"
    changes = deltas(query, "+x p 2; +x q 1", "+x q 3", "-x q 3", node=LeftJoin)
    assert changes == [["+x 2 _"], ["+x 2 3", "-x 2 _"], ["+x 2 _", "-x 2 3"]]


def test_a_row_that_leaves_the_shared_variable_unbound_has_matches_with_other_keys() -> None:
    """The row of x leaves ?b unbound: it still matches 7 when its match with 8 vanishes."""
    query = "SELECT ?s ?b ?c { ?s :p ?a OPTIONAL { ?s :q ?b } OPTIONAL { ?c :r ?b } }"
    changes = deltas(query, "+x p 1; +c r 7; +d r 8", "-d r 8", "-c r 7", node=LeftJoin)
    assert changes == [["+x 7 c", "+x 8 d"], ["-x 8 d"], ["+x _ _", "-x 7 c"]]


def test_only_rows_with_a_shared_value_of_a_changed_row_are_read() -> None:
    many = "; ".join(f"+{s} p 1; +{s} q 2" for s in "abcdef")
    assert touched_rows(_QUERY, many, "-a q 2") == {"state_l": 1, "state_r": 1}


def test_sides_that_share_nothing_are_a_product_whose_sizes_are_known() -> None:
    plan = plan_of("SELECT * { ?s :p ?a OPTIONAL { ?t :q ?b } }")
    graphs = {component.scope: "graph" for component in plan.components}
    delta = plan_delta(plan, EpochRange(1, 2), Inputs(graphs, "stored"), "q")
    (sides,) = delta.products
    assert len(sides.parts) == 2
