"""Groups, with the one that is there without solutions."""

from __future__ import annotations

from jobs.plan.context import Context
from jobs.plan.leaves import UNIT
from jobs.plan.operators import Extend, Fold, Group, Match, PlanNode, Project, Union
from jobs.sparql.expressions import Constant

_ZERO = '"0"^^<http://www.w3.org/2001/XMLSchema#integer>'
EMPTY_GROUP = {"COUNT": _ZERO, "SUM": _ZERO, "AVG": _ZERO, "GROUP_CONCAT": '""'}
"""The aggregates of no solutions; those that are missing are errors."""


def grouped(
    node: PlanNode, keys: tuple[str, ...], folds: tuple[tuple[str, Fold], ...], context: Context
) -> PlanNode:
    """The groups of `node` by `keys`, apart for what the context carries.

    Without keys there is one group, also of no solutions: one for each value of what is carried.
    """
    carried = tuple(name for name in context.carried if name not in keys)
    if keys or not carried:
        return Group((*carried, *keys), folds, node, always=not keys)
    by_carried = Group(carried, folds, node)
    without = Match(context.carry(UNIT), by_carried, "unmatched")
    return Union((by_carried, _with_empty_group(without, by_carried)))


def _with_empty_group(node: PlanNode, grouped: Group) -> PlanNode:
    for name, fold in grouped.folds:
        value = EMPTY_GROUP.get(fold.function)
        if value is not None:
            node = Extend(name, Constant(value), node)
    return Project(grouped.variables, node)
