"""Filter push-down: each condition as deep in a plan as it may go."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from weir.plan.leaves import Component, Values
from weir.plan.operators import (
    AntiJoin,
    Ask,
    Closure,
    Distinct,
    Extend,
    Filter,
    Group,
    Instantiate,
    Join,
    LeftJoin,
    MarkJoin,
    PlanNode,
    Product,
    Project,
    SemiJoin,
    Slice,
    Union,
)
from weir.sparql.algebra.expressions import Expression, conjuncts
from weir.sparql.algebra.scoping import variables_of


def push_filter(condition: Expression, node: PlanNode) -> PlanNode:
    """`Filter(condition, node)` with each conjunct in the deepest node that decides it.

    A conjunction holds only if all its parts are true, error or not, so it may be split. A conjunct
    moves to a side of a join only if the side certainly binds all its variables: another side might
    bind one that is unbound here.
    """
    for conjunct in conjuncts(condition):
        node = _pushed(conjunct, node)
    return node


def _pushed(condition: Expression, node: PlanNode) -> PlanNode:
    """`push_filter` of a condition that is no conjunction."""
    variables = variables_of(condition)
    match node:
        case Component() if variables <= set(node.variables):
            return replace(node, conditions=(*node.conditions, condition))
        case Product(parts) if home := _home(variables, parts):
            pushed = tuple(_pushed(condition, p) if p is home else p for p in parts)
            return replace(node, children=pushed)
        case Join(left, right) if variables <= left.certain:
            return Join(_pushed(condition, left), right)
        case Join(left, right) if variables <= right.certain:
            return Join(left, _pushed(condition, right))
        case LeftJoin() if variables <= node.left.certain:
            return replace(node, left=_pushed(condition, node.left))
        case SemiJoin() | AntiJoin() | MarkJoin() if variables <= set(node.left.variables):
            return replace(node, left=_pushed(condition, node.left))
        case Union(parts):
            return Union(tuple(_pushed(condition, part) for part in parts))
        case Extend(variable, expression, child) if variable not in variables:
            return Extend(variable, expression, _pushed(condition, child))
        case Distinct(child):
            return Distinct(_pushed(condition, child))
        case Filter(other, child):
            return Filter(other, _pushed(condition, child))
        case (
            Component()
            | Values()
            | Product()
            | Join()
            | LeftJoin()
            | SemiJoin()
            | AntiJoin()
            | MarkJoin()
            | Extend()
            | Project()
            | Group()
            | Slice()
            | Closure()
            | Ask()
            | Instantiate()
        ):
            return Filter(condition, node)
        case _:
            assert_never(node)


def _home(variables: frozenset[str], parts: tuple[PlanNode, ...]) -> PlanNode | None:
    """The part of a product that has all of `variables`; a condition without any has none."""
    return next((part for part in parts if variables and variables <= set(part.variables)), None)
