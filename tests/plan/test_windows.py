"""Which window, or which graphs, each part of a plan reads."""

from __future__ import annotations

import pytest

from weir.plan.leaves import Component
from weir.plan.lower import lower
from weir.plan.operators import PlanNode, Product, walk
from weir.plan.plan import Plan
from weir.plan.scope import Scope
from weir.sparql.frontend.translate import translate

_W = Scope(window="<u:w>")
_V = Scope(window="<u:v>")
_CLAUSES = (
    "FROM NAMED WINDOW <u:w> ON <u:s> [RANGE 1h] FROM NAMED WINDOW <u:v> ON <u:s> [ELEMENTS 1]"
)


def _plan(form: str, where: str) -> Plan:
    clauses = _CLAUSES if "<u:v>" in where else _CLAUSES.partition(" FROM NAMED WINDOW <u:v>")[0]
    return lower(translate(f"{form} {clauses} WHERE {{ {where} }}"), allow_product=True)


def _scope_of(plan: Plan, predicate: str) -> set[Scope]:
    return {
        part.scope
        for part in plan.components
        if any(predicate in repr(pattern.predicate) for pattern in part.patterns)
    }


@pytest.mark.parametrize(
    "group",
    [
        "?x <u:p> ?y",
        "{ SELECT DISTINCT ?x { ?x <u:p> ?y } ORDER BY ?y LIMIT 3 }",
        "?x <u:p>+ ?y",
        "VALUES ?x { 1 } FILTER EXISTS { ?x <u:p> ?y }",
        "VALUES ?x { 1 } OPTIONAL { ?x <u:p> ?y FILTER NOT EXISTS { ?y <u:p> 1 } }",
        "{ ?x <u:p> 1 } UNION { ?x <u:p> 2 } MINUS { ?x <u:p> 3 }",
        "BIND(EXISTS { ?x <u:p> ?y } AS ?z)",
    ],
)
def test_every_pattern_inside_a_window_reads_that_window(group: str) -> None:
    plan = _plan("SELECT *", f"?x <u:q> ?n WINDOW <u:w> {{ {group} }}")
    assert _scope_of(plan, "<u:p>") == {_W}
    assert _scope_of(plan, "<u:q>") == {Scope()}


def test_a_zero_length_path_in_a_window_reads_that_window_alone() -> None:
    plan = _plan("SELECT *", "WINDOW <u:w> { ?x <u:p>* ?y }")
    assert {part.scope for part in plan.components} == {_W}


def test_patterns_of_the_dataset_and_of_each_window_read_their_own_scope() -> None:
    plan = lower(
        translate(
            f"SELECT * FROM <u:f> FROM NAMED <u:g> {_CLAUSES} {{ ?x <u:a> ?y"
            " WINDOW <u:w> { ?x <u:b> ?y } WINDOW <u:v> { ?x <u:c> ?y } GRAPH <u:g> { ?x <u:d> ?y }"
            " GRAPH ?g { ?x <u:e> ?y } }"
        )
    )
    assert _scope_of(plan, "<u:a>") == {Scope(("<u:f>",))}
    assert _scope_of(plan, "<u:b>") == {_W}
    assert _scope_of(plan, "<u:c>") == {_V}
    assert _scope_of(plan, "<u:d>") == {Scope(("<u:g>",))}
    assert _scope_of(plan, "<u:e>") == {Scope(("<u:g>",), each=True)}


def test_the_nearest_window_is_read() -> None:
    plan = _plan("SELECT *", "WINDOW <u:w> { ?x <u:p> ?y WINDOW <u:v> { ?x <u:q> ?y } }")
    assert (_scope_of(plan, "<u:p>"), _scope_of(plan, "<u:q>")) == ({_W}, {_V})


def test_a_window_in_a_graph_reads_the_window_if_there_is_such_a_graph() -> None:
    graph = Scope(("<u:g>",))
    plan = _plan("SELECT *", "GRAPH <u:g> { WINDOW <u:w> { ?x <u:p> ?y } }")
    assert _scope_of(plan, "<u:p>") == {_W}
    assert {part.scope for part in plan.components} == {_W, graph}


def test_an_empty_window_exists_although_an_empty_graph_does_not() -> None:
    """Over an empty graph there would be no solution at all; over a window, the count is 0."""
    count = "{ SELECT (COUNT(*) AS ?n) { ?s ?p ?o } }"
    in_window = _plan("SELECT *", f"WINDOW <u:w> {{ {count} }}")
    assert not _products(in_window.root)
    assert {part.scope for part in in_window.components} == {_W}
    assert len(in_window.components) == 1
    in_graph = lower(translate(f"SELECT * {{ GRAPH <u:g> {{ {count} }} }}"), allow_product=True)
    assert _products(in_graph.root)
    assert len(in_graph.components) == 2


def test_a_window_among_the_named_graphs_of_the_dataset_is_still_one() -> None:
    plan = lower(
        translate(
            "SELECT * FROM NAMED <u:g> FROM NAMED WINDOW <u:w> ON <u:s> [RANGE 1h]"
            " { WINDOW <u:w> { ?x <u:p> ?y } }"
        )
    )
    assert [part.scope for part in plan.components] == [_W]


def test_a_scope_is_a_window_or_graphs() -> None:
    assert _W.name == "the window <u:w>"
    assert not _W.is_merge
    assert len({_W, _V, Scope()}) == 3
    for graphs, by_graph in ((("<u:g>",), False), (None, True)):
        with pytest.raises(ValueError, match="a window or some graphs"):
            Scope(graphs, by_graph, "<u:w>")


def _products(root: PlanNode) -> list[PlanNode]:
    return [node for node in walk(root) if isinstance(node, Product)]


def test_components_of_other_windows_are_not_equal() -> None:
    plan = _plan("SELECT *", "WINDOW <u:w> { ?x <u:p> ?y } WINDOW <u:v> { ?x <u:p> ?y }")
    one, two = (node for node in walk(plan.root) if isinstance(node, Component))
    assert (one.scope, two.scope) == (_W, _V)
    assert plan.ids[one] != plan.ids[two]
