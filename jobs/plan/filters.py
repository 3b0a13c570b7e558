"""Filters as deep in a plan as they may go."""

from __future__ import annotations

from dataclasses import replace

from jobs.plan.leaves import Component
from jobs.plan.operators import (
    AntiJoin,
    Distinct,
    Extend,
    Filter,
    Join,
    LeftJoin,
    MarkJoin,
    PlanNode,
    Product,
    SemiJoin,
)
from jobs.plan.operators import Union as UnionNode
from jobs.sparql.algebra.expressions import Call, Expression, variables_of


def push_filter(condition: Expression, node: PlanNode) -> PlanNode:
    """`Filter(condition, node)` with each conjunct in the deepest node that decides it.

    A conjunction holds only if all its parts are true, error or not, so it may be split. A conjunct
    moves to a side of a join only if the side certainly binds all its variables: another side might
    bind one that is unbound here.
    """
    if isinstance(condition, Call) and condition.function == "&&":
        for conjunct in condition.arguments:
            node = push_filter(conjunct, node)
        return node
    mentioned = variables_of(condition)
    match node:
        case Component() if mentioned <= set(node.variables):
            return replace(node, conditions=(*node.conditions, condition))
        case Product(parts) if mentioned:
            homes = [part for part in parts if mentioned <= set(part.variables)]
            if homes:
                return Product(
                    tuple(push_filter(condition, p) if p is homes[0] else p for p in parts)
                )
        case Join(left, right) if mentioned <= left.certain:
            return Join(push_filter(condition, left), right)
        case Join(left, right) if mentioned <= right.certain:
            return Join(left, push_filter(condition, right))
        case LeftJoin() if mentioned <= node.left.certain:
            return replace(node, left=push_filter(condition, node.left))
        case SemiJoin() | AntiJoin() | MarkJoin() if mentioned <= set(node.left.variables):
            return replace(node, left=push_filter(condition, node.left))
        case UnionNode(parts):
            return UnionNode(tuple(push_filter(condition, part) for part in parts))
        case Extend(variable, expression, child) if variable not in mentioned:
            return Extend(variable, expression, push_filter(condition, child))
        case Distinct(child):
            return Distinct(push_filter(condition, child))
        case Filter(other, child):
            return Filter(other, push_filter(condition, child))
        case _:
            pass
    return Filter(condition, node)
