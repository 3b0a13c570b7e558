"""EXISTS: in a filter a semi-join or anti-join, anywhere else a column that is true or false.

The values of the solution are substituted in the pattern. Mostly that is a join with the pattern's
solutions; where it is not (`correlated_variables`), the pattern is evaluated for every combination
of the values that it depends on. https://www.w3.org/TR/sparql11-query/#defn_substitute
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from jobs.plan.context import Context
from jobs.plan.correlation import correlated_variables, terms_of_graph
from jobs.plan.filters import push_filter
from jobs.plan.lowering import Lowering
from jobs.plan.operators import AntiJoin, Distinct, Extend, MarkJoin, PlanNode, Project, SemiJoin
from jobs.plan.structure import shared
from jobs.sparql.algebra.expressions import (
    Call,
    Constant,
    Exists,
    Expression,
    Variable,
    conjunction,
    conjuncts,
)
from jobs.sparql.algebra.patterns import Filter, Pattern
from jobs.sparql.algebra.scoping import variables_of
from jobs.sparql.algebra.traversal import has_exists, map_variables

# No term of a graph: an IRI has no spaces.
_UNBOUND = "<not bound>"
# The name decides how `Slice` orders the columns of ties: another one would change stored plans.
_DOMAIN_KEY = "_:told"


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
                node = push_filter(resolved, node)
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


def outer_domain(
    node: PlanNode, correlated: tuple[str, ...], lowering: Lowering
) -> tuple[PlanNode, PlanNode]:
    """`node`, and all combinations of values that its solutions have for the columns `correlated`.

    Unbound is compatible with every value, but what is evaluated for unbound is for unbound only.
    So both nodes get a column in which unbound is a value like any other.
    """
    keys = []
    for name in correlated:
        if name not in node.certain:
            keys.append(lowering.columns.fresh(_DOMAIN_KEY))
            value = Call("COALESCE", (Variable(name), Constant(_UNBOUND)))
            node = Extend(keys[-1], value, node)
    return node, Distinct(Project((*correlated, *keys), node))


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
    in_graph = terms_of_graph(left, context)
    terms = frozenset(name for column in in_graph if (name := outside[column]) is not None)
    names, known = correlated_variables(inner, terms), context.certain
    correlated = tuple(sorted(c for c, name in outside.items() if name in names and c not in known))
    own = left.variables
    if correlated:
        left, domain = outer_domain(left, correlated, lowering)
        context = context.with_domain(domain)
    right = lowering.pattern(inner, context)
    if not (conditions or shared(left, right)):
        # It is compatible with every solution or none, so whether it has any row is enough.
        right = Distinct(Project((), right))
    both = frozenset((*left.variables, *right.variables))
    condition = conjunction([map_variables(part, columns.column) for part in conditions])
    if condition is not None and not both & (variables_of(condition) - right.certain):
        right = push_filter(condition, right)
        condition = None
    added = {*left.variables} - {*own}
    node = join(left, right, condition)
    kept = tuple(name for name in node.variables if name not in added)
    return node if node.variables == kept else Project(kept, node)
