"""The statements of a plan's delta: separate trees, each relation once, none too deep."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlglot import exp

from tests.support.notation import plan_of
from weir.compute.relations import Statement
from weir.engine.fixpoint import Fixpoint
from weir.engine.plan_delta import PlanDelta, plan_delta
from weir.engine.relations import EpochRange, Inputs
from weir.plan.plan import Plan

_QUERIES = {
    "component": "SELECT * { ?s :p ?s ; :q ?a . ?a :r 1 FILTER(?a != ?s && ISIRI(?a)) }",
    "product": "SELECT * { ?a :p ?b . ?c :q ?d . :a :p :b }",
    "join": "SELECT * { { SELECT DISTINCT ?s ?n { ?s :p ?o OPTIONAL { ?s :q ?n } } }"
    " { SELECT DISTINCT ?s ?n { ?s :q ?n } } }",
    "optional": "SELECT * { ?s :p ?a OPTIONAL { ?s :q ?b FILTER(?b > ?a) } }",
    "minus": "SELECT * { ?s :p ?a OPTIONAL { ?s :q ?b } MINUS { ?c :r ?b } }",
    "exists": "SELECT * { ?s :p ?a BIND(EXISTS { ?s :q ?b FILTER(?b > ?a) } AS ?k) }",
    "group": "SELECT ?s (SUM(?a) AS ?m) (AVG(DISTINCT ?a) AS ?n) (MAX(?a) AS ?x) (COUNT(*) AS ?c)"
    " { ?s :p ?a } GROUP BY ?s",
    "slice": "SELECT * { GRAPH ?g { SELECT * { ?s :p ?a } ORDER BY DESC(?a) LIMIT 2 OFFSET 1 } }",
    "paths": "SELECT * FROM :g FROM :h { :a :p+ ?x . ?x :q* ?y . ?y !(:r|^:p) ?z }",
    "union": "SELECT * { { ?s :p ?a } UNION { VALUES (?s ?a) { (:x UNDEF) } } }",
    "construct": "CONSTRUCT { ?s :q _:n . _:n :r ?a . ?s :s ?a } { ?s :p ?a }",
    "ask": "ASK { ?s :p ?a FILTER(?a IN (:x, :y) || LANG(?a) = 'en') }",
}
_RANGES = {"first": EpochRange(0, 2, from_nothing=True), "later": EpochRange(1, 3)}


def delta_of(plan: Plan, epochs: EpochRange) -> PlanDelta:
    graphs = {component.scope: f"graph{i}" for i, component in enumerate(plan.components)}
    return plan_delta(plan, epochs, Inputs(graphs, "stored"), "q")


def trees(delta: PlanDelta) -> list[exp.Query]:
    """The queries of all statements."""
    queries: list[exp.Query] = [delta.result.select]
    for step in delta.statements:
        if isinstance(step, Statement):
            queries.append(step.select)
        elif isinstance(step, Fixpoint):
            steps = step.steps
            queries += [step.seed, step.follow("rows", "some"), step.follow("rows", "others")]
            queries += [steps.then("some", "others"), steps.joined("some")]
    return queries


@pytest.mark.parametrize("epochs", _RANGES.values(), ids=_RANGES)
@pytest.mark.parametrize("name", _QUERIES)
def test_no_expression_is_shared_by_two_trees(name: str, epochs: EpochRange) -> None:
    """Otherwise rewriting a part of one statement would change another."""
    nodes = [n for tree in trees(delta_of(plan_of(_QUERIES[name]), epochs)) for n in _nodes(tree)]
    assert max(Counter(map(id, nodes)).values()) == 1
    misplaced = [n for n in nodes for child in _children(n) if child.parent is not n]
    assert misplaced == []


@pytest.mark.parametrize("name", _QUERIES)
def test_every_relation_is_made_once_and_before_it_is_read(name: str) -> None:
    delta = delta_of(plan_of(_QUERIES[name]), _RANGES["later"])
    names = [step.name for step in (*delta.statements, delta.result)]
    assert len(names) == len(set(names))
    made = {"stored"}
    for step in (*delta.statements, delta.result):
        if isinstance(step, Statement):
            read = {table.name for table in step.select.find_all(exp.Table)}
            assert {relation for relation in read if not relation.startswith("graph")} <= made
        made.add(step.name)


def test_a_node_that_is_read_twice_is_made_once() -> None:
    """Both sides of the union are made of the same node with memory."""
    part = "{ SELECT DISTINCT ?a { ?s :p ?a } }"
    plan = plan_of(f"SELECT * {{ {{ {part} BIND(1 AS ?k) }} UNION {{ {part} BIND(2 AS ?k) }} }}")
    (reused,) = plan.reused
    names = [step.name for step in delta_of(plan, _RANGES["later"]).statements]
    assert names.count(f"q_{plan.ids[reused]}") == 1


def test_deep_plans_are_split_into_several_statements() -> None:
    """Spark's analyzer needs a round for each level of subqueries, and stops at a hundred."""
    binds = " ".join(f"BIND(?a + {i} AS ?b{i})" for i in range(100))
    delta = delta_of(plan_of(f"SELECT * {{ ?s :p ?a {binds} }}"), _RANGES["first"])
    depths = [sum(1 for _ in tree.find_all(exp.Subquery)) for tree in trees(delta)]
    assert max(depths) < 50


def _nodes(tree: exp.Expr) -> list[exp.Expr]:
    nodes, ahead = [], [tree]
    while ahead:
        node = ahead.pop()
        nodes.append(node)
        ahead += _children(node)
    return nodes


def _children(node: exp.Expr) -> list[exp.Expr]:
    values = (
        v for value in node.args.values() for v in (value if isinstance(value, list) else [value])
    )
    return [value for value in values if isinstance(value, exp.Expr)]
