"""Product: parts that share no variable."""

from __future__ import annotations

from tests.support.notation import deltas, plan_of, touched_rows
from weir.engine.plan_delta import plan_delta
from weir.engine.relations import EpochRange, Inputs
from weir.plan.operators import Product

_PARTS = "SELECT ?a ?b ?c { ?x :p ?a . ?y :q ?b . ?z :r ?c }"
_TWO = "SELECT ?a ?b { ?x :p ?a . ?y :q ?b }"


def test_a_change_of_a_part_is_combined_with_every_row_of_the_others() -> None:
    changes = deltas(_TWO, "+x p 1; +x p 2; +y q 3", "+y q 4", node=Product)
    assert changes == [["+1 3", "+2 3"], ["+1 4", "+2 4"]]


def test_rows_of_all_parts_that_appear_in_one_epoch_are_combined_once() -> None:
    assert deltas(_PARTS, "+x p 1; +x q 2; +x r 3", node=Product) == [["+1 2 3"]]


def test_a_part_that_becomes_empty_empties_the_product() -> None:
    changes = deltas(_PARTS, "+x p 1; +x q 2; +x q 3; +x r 4", "-x p 1", node=Product)
    assert changes[1] == ["-1 2 4", "-1 3 4"]


def test_parts_that_change_at_once_combine_old_with_old_and_new_with_new() -> None:
    """Never an old row of one with a new row of the other."""
    changes = deltas(_TWO, "+x p 1; +y q 2", "-x p 1; +x p 3; -y q 2; +y q 4", node=Product)
    assert changes[1] == ["+3 4", "-1 2"]


def test_a_combination_occurs_as_often_as_the_product_of_its_rows() -> None:
    query = "SELECT ?a { { SELECT ?a { ?a :p ?x } } { SELECT ?b { ?b :q ?y } } }"
    changes = deltas(
        query, "+x p 1; +x p 2; +y q 1; +y q 2; +y q 3", "-x p 2; -y q 3", node=Product
    )
    assert changes == [["+x *6"], ["-x *4"]]


def test_a_part_without_variables_decides_whether_there_is_an_answer() -> None:
    query = "SELECT ?a { ?x :p ?a . :on :is true }"
    on = "on is " + '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'
    assert deltas(query, "+x p 1", f"+{on}", f"-{on}", node=Product) == [[], ["+1"], ["-1"]]


def test_all_rows_of_the_other_parts_are_read() -> None:
    assert touched_rows(_TWO, "+x p 1; +x p 2; +y q 3", "+y q 4") == {"state0": 2, "state1": 1}


def test_the_sizes_of_the_parts_are_known_before_they_are_combined() -> None:
    plan = plan_of(_PARTS)
    graphs = {component.scope: "graph" for component in plan.components}
    delta = plan_delta(plan, EpochRange(1, 2), Inputs(graphs, "stored"), "q")
    (product,) = delta.products
    assert len(product.parts) == 3
    assert {*product.parts} <= {statement.name for statement in delta.statements}
