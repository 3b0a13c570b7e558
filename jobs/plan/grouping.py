"""GROUP BY as plans, with the one group that SPARQL has even of no solutions."""

from __future__ import annotations

from dataclasses import replace

from jobs.plan.context import Context
from jobs.plan.leaves import UNIT
from jobs.plan.operators import Extend, Fold, Group, Match, PlanNode, Project, Union
from jobs.sparql.algebra.expressions import Constant

_ZERO = '"0"^^<http://www.w3.org/2001/XMLSchema#integer>'
_OF_NO_SOLUTIONS = {"COUNT": _ZERO, "SUM": _ZERO, "AVG": _ZERO, "GROUP_CONCAT": '""'}
"""The aggregates of no solutions; those that are missing here are errors."""


def grouped(
    node: PlanNode, keys: tuple[str, ...], folds: tuple[tuple[str, Fold], ...], context: Context
) -> PlanNode:
    """The groups of `node` by `keys`, separate for each value of the carried columns.

    Without keys there is one group, even of no solutions: one per value of the carried columns.
    """
    carried = tuple(name for name in context.carried if name not in keys)
    folds = tuple((name, _simplified(fold, node)) for name, fold in folds)
    node = _needed(node, (*carried, *keys), tuple(fold for _, fold in folds))
    if keys or not carried:
        return Group((*carried, *keys), folds, node, always=not keys)
    by_carried = Group(carried, folds, node)
    without = Match(context.carry(UNIT), by_carried, "unmatched")
    return Union((by_carried, _with_empty_group(without, by_carried)))


def _simplified(fold: Fold, node: PlanNode) -> Fold:
    """COUNT of a column that is always bound counts solutions."""
    if fold.function == "COUNT" and not fold.distinct and fold.argument in node.certain:
        return replace(fold, argument=None)
    return fold


def _needed(node: PlanNode, keys: tuple[str, ...], folds: tuple[Fold, ...]) -> PlanNode:
    """`node` without the columns that no key and no aggregate reads: fewer rows are stored then."""
    if any(fold.argument is None and fold.distinct for fold in folds):
        # COUNT(DISTINCT *) reads all.
        return node
    read = {*keys, *(fold.argument for fold in folds)}
    kept = tuple(name for name in node.variables if name in read)
    return node if kept == node.variables else Project(kept, node)


def _with_empty_group(node: PlanNode, grouped: Group) -> PlanNode:
    for name, fold in grouped.folds:
        value = _OF_NO_SOLUTIONS.get(fold.function)
        if value is not None:
            node = Extend(name, Constant(value), node)
    return Project(grouped.variables, node)
