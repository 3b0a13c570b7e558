"""GROUP BY as plans, with the one group that SPARQL has even of no solutions."""

from __future__ import annotations

from dataclasses import replace

from weir.plan.context import Context
from weir.plan.leaves import UNIT
from weir.plan.operators import Aggregate, AntiJoin, Extend, Group, PlanNode, Project, Union
from weir.sparql.algebra.expressions import Constant

_ZERO = '"0"^^<http://www.w3.org/2001/XMLSchema#integer>'
_OF_NO_SOLUTIONS = {"COUNT": _ZERO, "SUM": _ZERO, "AVG": _ZERO, "GROUP_CONCAT": '""'}
"""The aggregates of no solutions; those that are missing here are errors."""


def grouped(
    node: PlanNode,
    keys: tuple[str, ...],
    aggregates: tuple[tuple[str, Aggregate], ...],
    context: Context,
) -> PlanNode:
    """The groups of `node` by `keys`, separate for each value of the carried columns.

    Without keys there is one group, even of no solutions: one per value of the carried columns.
    """
    carried = tuple(name for name in context.carried if name not in keys)
    aggregates = tuple((name, _simplified(aggregate, node)) for name, aggregate in aggregates)
    node = _needed(node, (*carried, *keys), tuple(aggregate for _, aggregate in aggregates))
    if keys or not carried:
        return Group((*carried, *keys), aggregates, node, always=not keys)
    by_carried = Group(carried, aggregates, node)
    without = AntiJoin(context.carry(UNIT), by_carried)
    return Union((by_carried, _with_empty_group(without, by_carried)))


def _simplified(aggregate: Aggregate, node: PlanNode) -> Aggregate:
    """COUNT of a column that is always bound counts solutions."""
    counts = aggregate.function == "COUNT" and not aggregate.distinct
    if counts and aggregate.argument in node.certain:
        return replace(aggregate, argument=None)
    return aggregate


def _needed(node: PlanNode, keys: tuple[str, ...], aggregates: tuple[Aggregate, ...]) -> PlanNode:
    """`node` without the columns that no key and no aggregate reads: fewer rows are stored then."""
    if any(aggregate.argument is None and aggregate.distinct for aggregate in aggregates):
        # COUNT(DISTINCT *) reads all.
        return node
    read = {*keys, *(aggregate.argument for aggregate in aggregates)}
    kept = tuple(name for name in node.variables if name in read)
    return node if kept == node.variables else Project(kept, node)


def _with_empty_group(node: PlanNode, grouped: Group) -> PlanNode:
    for name, aggregate in grouped.aggregates:
        value = _OF_NO_SOLUTIONS.get(aggregate.function)
        if value is not None:
            node = Extend(name, Constant(value), node)
    return Project(grouped.variables, node)
