"""Graph patterns as plans: one case per pattern of the algebra."""

from __future__ import annotations

from typing import assert_never

from weir.plan.assignments import extended
from weir.plan.binding_flags import with_binding_flags
from weir.plan.blank_nodes import with_solution_seeds
from weir.plan.context import Context
from weir.plan.correlation import correlated_variables, independent_variables
from weir.plan.decompose import decompose
from weir.plan.domain import Domain
from weir.plan.exists import filtered, with_exists_flags
from weir.plan.grouping import grouped
from weir.plan.joins import joined
from weir.plan.leaves import UNIT, Component, Values
from weir.plan.lowering import Lowering
from weir.plan.named_graphs import lower_graph
from weir.plan.operators import (
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
from weir.plan.path_plans import PathLowering
from weir.plan.services import lower_service
from weir.sparql.algebra import patterns as algebra
from weir.sparql.algebra.expressions import Variable
from weir.sparql.algebra.scoping import free_variables_of
from weir.sparql.algebra.traversal import has_exists, map_variables


def lower_pattern(pattern: algebra.Pattern, context: Context, lowering: Lowering) -> PlanNode:
    """The plan of `pattern`; its solutions carry the columns that `context` names.

    Of the values outside of an EXISTS, these are the ones that it depends on.
    """
    columns = lowering.columns
    context = _of_pattern(pattern, context, lowering)
    match pattern:
        case algebra.Bgp():
            return _bgp(pattern, context, lowering)
        case algebra.PathPattern(subject, path, object_):
            start, end = columns.node(subject), columns.node(object_)
            return PathLowering(lowering, context).pattern(start, path, end)
        case algebra.Values(variables, rows):
            names = tuple(columns.column(name) for name in variables)
            return context.carry(Values(names, rows))
        case algebra.Service():
            return context.carry(lower_service(pattern, columns))
        case algebra.Join(left, right):
            return _join(left, right, context, lowering)
        case algebra.LeftJoin():
            return _left_join(pattern, context, lowering)
        case algebra.Union(left, right):
            # Later joins would have the same rows, but by columns that may be unbound.
            both = (_carrying(left, context, lowering), _carrying(right, context, lowering))
            flat = (side.children if isinstance(side, Union) else (side,) for side in both)
            return Union(tuple(part for side in flat for part in side))
        case algebra.Minus():
            return _minus(pattern, context, lowering)
        case algebra.Graph(name, inner):
            return lower_graph(name, inner, context, lowering)
        case algebra.Extend(inner, variable, expression):
            node = _carrying(inner, context, lowering)
            return extended(node, columns.column(variable), expression, context, lowering)
        case algebra.Group():
            return _group(pattern, context, lowering)
        case algebra.Slice():
            return _slice(pattern, context, lowering)
        case algebra.Filter(condition, inner):
            return filtered(condition, _carrying(inner, context, lowering), context, lowering)
        case algebra.Project(variables, inner):
            shown = tuple(columns.column(name) for name in variables)
            kept = tuple(dict.fromkeys((*context.carried, *shown)))
            # A variable that is not projected is another than the one outside.
            if context.domain is not None:
                context = context.with_domain(context.domain.restricted(shown, shown))
            with columns.hidden({*context.carried} - {*shown}):
                return Project(kept, _carrying(inner, context, lowering))
        case algebra.Distinct(inner):
            return Distinct(_carrying(inner, context, lowering))
        case algebra.Reduced(inner):
            return lowering.pattern(inner, context)
        case _:
            assert_never(pattern)


def _of_pattern(pattern: algebra.Pattern, context: Context, lowering: Lowering) -> Context:
    """`context` with only those values from outside that `pattern` depends on."""
    domain = context.domain
    if domain is None:
        return context
    names, variable = correlated_variables(pattern), lowering.columns.variable
    correlated = [column for column in domain.correlated if variable(column) in names]
    return context.with_domain(domain.restricted(correlated, domain.linked) if correlated else None)


def _carrying(pattern: algebra.Pattern, context: Context, lowering: Lowering) -> PlanNode:
    """The plan of a part of a pattern, which depends on what `context` names or not."""
    return context.carry(lowering.pattern(pattern, context))


def _beside(
    node: PlanNode, pattern: algebra.Pattern, context: Context, lowering: Lowering
) -> PlanNode:
    """The plan of `pattern`, which is joined with `node`."""
    domain = _of_pattern(pattern, context, lowering).domain
    if domain is not None:
        linked = map(lowering.columns.column, sorted(independent_variables(pattern)))
        domain = domain.beside(node, linked, context.graph)
    return lowering.pattern(pattern, context.with_domain(domain))


def _join(
    left: algebra.Pattern, right: algebra.Pattern, context: Context, lowering: Lowering
) -> PlanNode:
    if context.domain is None or _of_pattern(right, context, lowering).domain is not None:
        node = lowering.pattern(left, context)
        return joined(node, _beside(node, right, context, lowering))
    node = lowering.pattern(right, context)
    return joined(_beside(node, left, context, lowering), node)


def _bgp(bgp: algebra.Bgp, context: Context, lowering: Lowering) -> PlanNode:
    renamed = algebra.Bgp(tuple(lowering.columns.pattern(pattern) for pattern in bgp.patterns))
    node: PlanNode = UNIT
    for segment in decompose(renamed):
        part = Component(segment.patterns, context.scope, segment.kind, (), context.graph)
        node = joined(node, part)
    return context.carry(node)


def _left_join(pattern: algebra.LeftJoin, context: Context, lowering: Lowering) -> PlanNode:
    columns = lowering.columns
    left = _carrying(pattern.left, context, lowering)
    right = _beside(left, pattern.right, context, lowering)
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
            linked = (name for name in left.variables if name in right.certain)
            domain = Domain.of(left, correlated, linked, context.graph, columns)
            left, right = domain.source, domain.carry(right, context.graph)
        condition, right = with_exists_flags(pattern.condition, right, context, lowering)
    else:
        condition = map_variables(pattern.condition, columns.column)
    node: PlanNode = LeftJoin(left, right, with_solution_seeds(condition, kept))
    return node if node.variables == kept else Project(kept, node)


def _minus(pattern: algebra.Minus, context: Context, lowering: Lowering) -> PlanNode:
    """https://www.w3.org/TR/sparql11-query/#defn_algMinus; where both sides certainly bind a
    variable in common, compatible is enough.
    """
    columns = lowering.columns
    both = {*pattern.left.in_scope} & {*pattern.right.in_scope}
    certain = both & pattern.left.certain & pattern.right.certain
    # A variable that is only carried is not shared: the patterns themselves have to bind it.
    flags: dict[str, str] = {}
    for name in map(columns.variable, () if certain else context.carried):
        if name in both:
            flags[name] = f"_:own{next(lowering.numbers)}"
    left = _carrying(with_binding_flags(pattern.left, flags), context, lowering)
    right = _beside(left, with_binding_flags(pattern.right, flags), context, lowering)
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
    node = _carrying(pattern.pattern, context, lowering)
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
    node = _carrying(pattern.pattern, context, lowering)
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
