"""Graph patterns as plans: one case per pattern of the algebra."""

from __future__ import annotations

from typing import assert_never

from jobs.plan.assignments import extended
from jobs.plan.binding_flags import with_binding_flags
from jobs.plan.context import Context, joined
from jobs.plan.correlation import bound_below
from jobs.plan.decompose import decompose
from jobs.plan.exists import filtered, outer_domain, with_exists_flags
from jobs.plan.grouping import grouped
from jobs.plan.leaves import UNIT, Component, Values
from jobs.plan.lowering import Lowering
from jobs.plan.named_graphs import lower_graph
from jobs.plan.operators import (
    Aggregate,
    AntiJoin,
    Distinct,
    LeftJoin,
    PlanNode,
    Project,
    Slice,
    SortKey,
    Union,
)
from jobs.plan.path_plans import PathLowering
from jobs.plan.services import lower_service
from jobs.sparql.algebra import patterns as algebra
from jobs.sparql.algebra.expressions import Variable
from jobs.sparql.algebra.scoping import free_variables_of, in_scope
from jobs.sparql.algebra.traversal import has_exists, map_variables


def lower_pattern(pattern: algebra.Pattern, context: Context, lowering: Lowering) -> PlanNode:
    """The plan of `pattern`; its solutions carry the columns that `context` names."""
    columns = lowering.columns
    match pattern:
        case algebra.Bgp():
            return _bgp(pattern, context, lowering)
        case algebra.PathPattern(subject, path, object_):
            start, end = columns.node(subject), columns.node(object_)
            return PathLowering(columns, context).pattern(start, path, end)
        case algebra.Values(variables, rows):
            names = tuple(columns.column(name) for name in variables)
            return context.carry(Values(names, rows))
        case algebra.Service():
            return context.carry(lower_service(pattern, columns))
        case algebra.Join(left, right):
            return joined(lowering.pattern(left, context), lowering.pattern(right, context))
        case algebra.LeftJoin():
            return _left_join(pattern, context, lowering)
        case algebra.Union(left, right):
            both = (lowering.pattern(left, context), lowering.pattern(right, context))
            flat = (side.children if isinstance(side, Union) else (side,) for side in both)
            return Union(tuple(part for side in flat for part in side))
        case algebra.Minus():
            return _minus(pattern, context, lowering)
        case algebra.Graph(name, inner):
            return lower_graph(name, inner, context, lowering)
        case algebra.Extend(inner, variable, expression):
            node = lowering.pattern(inner, context)
            return extended(node, columns.column(variable), expression, context, lowering)
        case algebra.Group():
            return _group(pattern, context, lowering)
        case algebra.Slice():
            return _slice(pattern, context, lowering)
        case algebra.Filter(condition, inner):
            return filtered(condition, lowering.pattern(inner, context), context, lowering)
        case algebra.Project(variables, inner):
            shown = tuple(columns.column(name) for name in variables)
            kept = tuple(dict.fromkeys((*context.carried, *shown)))
            # A variable that is not projected is another than the one outside.
            with columns.hidden({*context.carried} - {*shown}):
                return Project(kept, lowering.pattern(inner, context))
        case algebra.Distinct(inner):
            return Distinct(lowering.pattern(inner, context))
        case algebra.Reduced(inner):
            return lowering.pattern(inner, context)
        case _:
            assert_never(pattern)


def _bgp(bgp: algebra.Bgp, context: Context, lowering: Lowering) -> PlanNode:
    renamed = algebra.Bgp(tuple(lowering.columns.pattern(pattern) for pattern in bgp.patterns))
    node: PlanNode = UNIT
    for segment in decompose(renamed):
        part = Component(segment.patterns, context.scope, segment.kind, (), context.graph)
        node = joined(node, part)
    return context.carry(node)


def _left_join(pattern: algebra.LeftJoin, context: Context, lowering: Lowering) -> PlanNode:
    columns = lowering.columns
    left = lowering.pattern(pattern.left, context)
    right = lowering.pattern(pattern.right, context)
    if pattern.condition is None:
        return LeftJoin(left, right)
    kept = tuple(dict.fromkeys((*left.variables, *right.variables)))
    if has_exists(pattern.condition):
        # EXISTS is decided on the right side, which gets the values it depends on from the left.
        free = free_variables_of(pattern.condition)
        correlated = tuple(
            column
            for column in left.variables
            if columns.variable(column) in free and column not in right.certain
        )
        if correlated:
            left, domain = outer_domain(left, correlated, lowering)
            right = joined(right, domain)
        condition, right = with_exists_flags(pattern.condition, right, context, lowering)
    else:
        condition = map_variables(pattern.condition, columns.column)
    node: PlanNode = LeftJoin(left, right, condition)
    return node if node.variables == kept else Project(kept, node)


def _minus(pattern: algebra.Minus, context: Context, lowering: Lowering) -> PlanNode:
    """https://www.w3.org/TR/sparql11-query/#defn_algMinus; where both sides certainly bind a
    variable in common, compatible is enough.
    """
    columns = lowering.columns
    both = {*in_scope(pattern.left)} & {*in_scope(pattern.right)}
    certain = both & bound_below(pattern.left) & bound_below(pattern.right)
    # A variable that is only carried is not shared: the patterns themselves have to bind it.
    flags: dict[str, str] = {}
    for name in map(columns.variable, () if certain else context.carried):
        if name in both:
            flags[name] = f"_:own{next(lowering.numbers)}"
    left = lowering.pattern(with_binding_flags(pattern.left, flags), context)
    right = lowering.pattern(with_binding_flags(pattern.right, flags), context)
    common = sorted(columns.column(flags.get(name, name)) for name in both)
    if not common:
        return left
    if any(name in left.certain and name in right.certain for name in common):
        common = []
    node = AntiJoin(left, right, overlapping=tuple(common))
    own = {*map(columns.column, flags.values())}
    if not own:
        return node
    return Project(tuple(name for name in node.variables if name not in own), node)


def _group(pattern: algebra.Group, context: Context, lowering: Lowering) -> PlanNode:
    columns = lowering.columns
    node = lowering.pattern(pattern.pattern, context)
    keys = tuple(columns.column(name) for name in pattern.variables)
    aggregates = []
    for name, aggregate in pattern.aggregates:
        argument: str | None = None
        match aggregate.argument:
            case None:
                pass
            case Variable(variable):
                argument = columns.column(variable)
                if argument not in node.variables:
                    node = Project((*node.variables, argument), node)
            case expression:
                argument = columns.fresh("_:argument")
                node = extended(node, argument, expression, context, lowering)
        made = Aggregate(aggregate.function, argument, aggregate.distinct, aggregate.separator)
        aggregates.append((columns.column(name), made))
    missing = tuple(key for key in keys if key not in node.variables)
    if missing:
        node = Project((*node.variables, *missing), node)
    return grouped(node, keys, tuple(aggregates), context)


def _slice(pattern: algebra.Slice, context: Context, lowering: Lowering) -> PlanNode:
    columns = lowering.columns
    node = lowering.pattern(pattern.pattern, context)
    kept = node.variables
    keys = []
    for key in pattern.keys:
        match key.expression:
            case Variable(name):
                column = columns.column(name)
                if column not in node.variables:
                    continue
            case expression:
                column = columns.fresh("_:order")
                node = extended(node, column, expression, context, lowering)
        keys.append(SortKey(column, key.descending))
    ties = tuple(sorted(kept, key=columns.place))
    node = Slice(tuple(keys), pattern.offset, pattern.limit, node, context.carried, ties)
    return node if node.variables == kept else Project(kept, node)
