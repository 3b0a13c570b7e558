"""EXISTS: in a filter a semi-join or anti-join, anywhere else a column that is true or false.

The values of the solution are substituted in the pattern. Mostly that is a join with the pattern's
solutions. What is not is unnested: the part of the pattern that depends on such values
(`correlated_variables`) is joined with their domain (`weir.plan.domain`).
https://www.w3.org/TR/sparql11-query/#defn_substitute
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from weir.plan.blank_nodes import with_solution_seeds
from weir.plan.context import Context
from weir.plan.correlation import correlated_variables, independent_variables
from weir.plan.domain import Domain
from weir.plan.filters import push_filter
from weir.plan.lowering import Lowering
from weir.plan.nodes import shared
from weir.plan.operators import AntiJoin, Distinct, MarkJoin, PlanNode, Project, SemiJoin
from weir.sparql.algebra.expressions import (
    Call,
    Constant,
    Exists,
    Expression,
    Variable,
    conjunction,
    conjuncts,
)
from weir.sparql.algebra.patterns import Filter, Pattern
from weir.sparql.algebra.scoping import variables_of
from weir.sparql.algebra.traversal import has_exists, map_variables


def filtered(
    condition: Expression, node: PlanNode, context: Context, lowering: Lowering
) -> PlanNode:
    """The solutions of `node` for which `condition` is true."""
    kept = node.variables
    for conjunct in conjuncts(condition):
        match conjunct:
            case Exists(pattern):
                node = _exists_join(node, pattern, context, lowering, SemiJoin)
            case Call("!", (Exists(pattern),)):
                node = _exists_join(node, pattern, context, lowering, AntiJoin)
            case Variable() | Constant() | Call():
                resolved, node = with_exists_flags(conjunct, node, context, lowering)
                node = push_filter(with_solution_seeds(resolved, kept), node)
            case _:
                assert_never(conjunct)
    return node if node.variables == kept else Project(kept, node)


def with_exists_flags(
    expression: Expression, node: PlanNode, context: Context, lowering: Lowering
) -> tuple[Expression, PlanNode]:
    """`expression` over columns, each EXISTS replaced by a flag, and `node` with the flags."""
    match expression:
        case Exists(pattern):
            flag = lowering.columns.fresh("_:exists")
            return Variable(flag), _exists_join(
                node,
                pattern,
                context,
                lowering,
                lambda left, right, on: MarkJoin(left, right, flag, on),
            )
        case Call(function, arguments) if has_exists(expression):
            over_columns = []
            for argument in arguments:
                resolved, node = with_exists_flags(argument, node, context, lowering)
                over_columns.append(resolved)
            return Call(function, tuple(over_columns)), node
        case Variable() | Constant() | Call():
            return map_variables(expression, lowering.columns.column), node
        case _:
            assert_never(expression)


def _exists_join(
    left: PlanNode,
    pattern: Pattern,
    context: Context,
    lowering: Lowering,
    join: Callable[[PlanNode, PlanNode, Expression | None], PlanNode],
) -> PlanNode:
    """`left` joined with `pattern` by whether that has a compatible solution.

    Filters right at the top of the pattern become the condition of the join, which sees both
    sides.
    """
    conditions: list[Expression] = []
    inner = pattern
    while isinstance(inner, Filter) and not has_exists(inner.condition):
        conditions.append(inner.condition)
        inner = inner.pattern
    columns = lowering.columns
    # `variable`, not `column`, which would make columns for variables of the pattern too early.
    outside = {column: columns.variable(column) for column in left.variables}
    in_graph = left.graph_terms(context.scope, context.graph)
    terms = frozenset(name for column in in_graph if (name := outside[column]) is not None)
    names, others = correlated_variables(inner, terms), independent_variables(inner, terms)
    own, graph = left.variables, context.graph
    correlated = tuple(sorted(c for c, n in outside.items() if n in names and c != graph))
    domain = None
    if correlated:
        linked = sorted(c for c, n in outside.items() if n in others)
        domain = Domain.of(left, correlated, linked, graph, columns)
        left = domain.source
    # The solutions outside carry what they depend on themselves.
    right = lowering.pattern(inner, context.with_domain(domain))
    if not (conditions or shared(left, right)):
        # It is compatible with every solution or none, so whether it has any row is enough.
        right = Distinct(Project((), right))
    both = frozenset((*left.variables, *right.variables))
    condition = conjunction([map_variables(part, columns.column) for part in conditions])
    if condition is not None:
        # The solutions are those of the pattern, with the values that it gets from outside.
        condition = with_solution_seeds(condition, right.variables)
    if condition is not None and not both & (variables_of(condition) - right.certain):
        right = push_filter(condition, right)
        condition = None
    added = {*left.variables} - {*own}
    node = join(left, right, condition)
    kept = tuple(name for name in node.variables if name not in added)
    return node if node.variables == kept else Project(kept, node)
