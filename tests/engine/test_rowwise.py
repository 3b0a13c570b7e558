"""Operators without memory: filter, extend, project, union and values map deltas, row by row."""

from __future__ import annotations

import pytest

from tests.support.notation import deltas, plan_of, touched_rows
from weir.compute.relations import Statement
from weir.engine.plan_delta import plan_delta
from weir.engine.relations import EpochRange, Inputs
from weir.plan.leaves import Values
from weir.plan.operators import Extend, Filter, Project, Union

_MAYBE = "?s :p ?a OPTIONAL { ?s :q ?b }"


def test_a_filter_passes_the_changes_for_which_it_is_true() -> None:
    query = f"SELECT ?s {{ {_MAYBE} FILTER(!BOUND(?b) || ?b > 1) }}"
    epochs = ("+x p 1", "+x q 1", "+x q 2")
    assert deltas(query, *epochs, node=Filter) == [["+x"], ["-x"], ["+x"]]


def test_a_filter_drops_rows_for_which_it_is_an_error() -> None:
    query = f"SELECT ?s {{ {_MAYBE} FILTER(?b > 1) }}"
    assert deltas(query, "+x p 1", "+x q 2", node=Filter) == [[], ["+x"]]


def test_an_extension_that_is_an_error_is_unbound() -> None:
    query = f"SELECT ?s ?c {{ {_MAYBE} BIND(?b + 1 AS ?c) }}"
    changes = deltas(query, "+x p 1", "+x q 2", '-x q 2; +x q "no number"', node=Extend)
    assert changes == [["+x _"], ["+x 3", "-x _"], ["+x _", "-x 3"]]


def test_a_projection_keeps_every_solution() -> None:
    query = "SELECT ?a { ?s :p ?a }"
    changes = deltas(query, "+x p 1; +y p 1", "-x p 1; +z p 2", node=Project)
    assert changes == [["+1 *2"], ["+2", "-1"]]


def test_a_projected_variable_that_nothing_binds_is_unbound() -> None:
    assert deltas("SELECT ?s ?none { ?s :p ?a }", "+x p 1") == [["+x _"]]


def test_a_union_is_a_bag_and_leaves_variables_of_the_other_side_unbound() -> None:
    query = "SELECT ?s ?a ?b { { ?s :p ?a } UNION { ?s :q ?b } UNION { ?s :p ?a } }"
    changes = deltas(query, "+x p 1", "+x q 2; -x p 1", node=Union)
    assert changes == [["+x 1 _ *2"], ["+x _ 2", "-x 1 _ *2"]]


def test_a_row_that_moves_from_one_side_of_a_union_to_the_other_does_not_change() -> None:
    query = "SELECT ?s { { ?s :p ?a } UNION { ?s :q ?a } }"
    assert deltas(query, "+x p 1", "-x p 1; +x q 1", node=Union)[1] == []


def test_inline_data_holds_from_the_first_epoch_on() -> None:
    query = "SELECT ?a ?b { VALUES (?a ?b) { (1 2) (3 UNDEF) (1 2) } }"
    assert deltas(query, "+x p 1", "-x p 1", node=Values) == [["+1 2 *2", "+3 _"], []]


def test_inline_data_without_rows_gives_no_solution() -> None:
    assert deltas("SELECT ?s ?a { ?s :p ?a VALUES ?a { } }", "+x p 1", node=Values) == [[]]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?s { ?s :p ?a FILTER(STRLEN(STR(?s)) > 1) }",
        "SELECT ?s ?c { ?s :p ?a BIND(?a + 1 AS ?c) }",
        "SELECT ?s { { ?s :p ?a } UNION { ?s :q ?a } }",
    ],
)
def test_an_operator_without_memory_reads_no_stored_row(query: str) -> None:
    assert touched_rows(query, "+x p 1; +y p 2", "+z p 3") == {}


def _texts(rows: int) -> list[str]:
    values = " ".join(f"(<urn:{number}> {number})" for number in range(rows))
    plan = plan_of(f"SELECT * {{ VALUES (?s ?n) {{ {values} }} ?s :p ?o }}")
    graphs = {component.scope: "graph" for component in plan.components}
    epochs = EpochRange(0, 1, from_nothing=True)
    delta = plan_delta(plan, epochs, Inputs(graphs, "stored"), "q")
    steps = [step for step in delta.statements if isinstance(step, Statement)]
    return [step.select.sql() for step in (*steps, delta.result)]


def test_inline_data_is_no_text_of_a_statement() -> None:
    assert _texts(2) == _texts(2000)
