"""The join of two nodes of a plan."""

from __future__ import annotations

from weir.plan.leaves import UNIT
from weir.plan.nodes import shared
from weir.plan.operators import Join, PlanNode, Product


def joined(left: PlanNode, right: PlanNode, correlated: tuple[str, ...] = ()) -> PlanNode:
    """The join of two nodes: a product if they share no column.

    Args:
        left: a node.
        right: another.
        correlated: the columns of `right`, if an EXISTS has it joined with `left`.
    """
    if UNIT in (left, right):
        return right if left == UNIT else left
    if shared(left, right):
        return Join(left, right)
    parts: list[PlanNode] = []
    for side in (left, right):
        if isinstance(side, Product):
            parts += side.children
            correlated = (*side.correlated, *correlated)
        else:
            parts.append(side)
    return Product(tuple(parts), tuple(dict.fromkeys(correlated)))
