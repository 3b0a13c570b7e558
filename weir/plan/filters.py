"""Filter push-down: each condition as deep in a plan as it may go."""

from __future__ import annotations

from dataclasses import replace

from weir.plan.leaves import Component
from weir.plan.operators import Filter, PlanNode
from weir.sparql.algebra.expressions import Expression, conjuncts
from weir.sparql.algebra.scoping import variables_of


def push_filter(condition: Expression, node: PlanNode) -> PlanNode:
    """`Filter(condition, node)` with each conjunct in the deepest node that decides it.

    A conjunction holds only if all its parts are true, error or not, so it may be split. A conjunct
    moves to a side of a join only if the side certainly binds all its variables: another side might
    bind one that is unbound here.
    """
    for conjunct in conjuncts(condition):
        node = _pushed(conjunct, variables_of(conjunct), node)
    return node


def _pushed(condition: Expression, variables: frozenset[str], node: PlanNode) -> PlanNode:
    """`push_filter` of a condition on `variables` that is no conjunction."""
    if isinstance(node, Component) and variables <= {*node.variables}:
        return replace(node, conditions=(*node.conditions, condition))
    places = node.filter_places(variables)
    if not places:
        return Filter(condition, node)
    children = (
        _pushed(condition, variables, child) if place in places else child
        for place, child in enumerate(node.children)
    )
    return node.with_children(tuple(children))
