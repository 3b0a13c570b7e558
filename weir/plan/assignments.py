"""Assignments: a column bound to the value of an expression (BIND, `AS`), or to another column."""

from __future__ import annotations

from weir.plan.blank_nodes import with_solution_seeds
from weir.plan.context import Context
from weir.plan.exists import with_exists_flags
from weir.plan.filters import push_filter
from weir.plan.lowering import Lowering
from weir.plan.operators import Extend, PlanNode, Project, Union
from weir.sparql.algebra.expressions import Call, Expression, Variable


def extended(
    node: PlanNode, column: str, expression: Expression, context: Context, lowering: Lowering
) -> PlanNode:
    """The solutions of `node` with `column` bound to the value of `expression`."""
    if column in node.variables:
        # A BIND below EXISTS, of a variable that has a value outside: as if joined with it.
        value = lowering.columns.fresh("_:bind")
        node = extended(node, value, expression, context, lowering)
        node = unified(node, column, value)
        return Project(tuple(name for name in node.variables if name != value), node)
    kept = node.variables
    resolved, node = with_exists_flags(expression, node, context, lowering)
    solution = node
    while isinstance(solution, Extend):
        solution = solution.child
    node = Extend(column, with_solution_seeds(resolved, solution.variables), node)
    return node if node.variables == (*kept, column) else Project((*kept, column), node)


def unified(node: PlanNode, column: str, value: str) -> PlanNode:
    """The solutions of `node` in which two columns agree: both are equal, or one is unbound.

    `column` is bound afterwards if either is; `node` may not have it at all.
    """
    if column not in node.variables:
        return Extend(column, Variable(value), node)
    agree: Expression = Call("SAMETERM", (Variable(column), Variable(value)))
    if value not in node.certain:
        agree = Call("&&", (_is_bound(column), Call("||", (_is_unbound(value), agree))))
    same = push_filter(agree, node)
    if column in node.certain:
        return same
    without = Project(
        tuple(name for name in node.variables if name != column),
        push_filter(_is_unbound(column), node),
    )
    kept = node.variables
    return Union((same, Project(kept, Extend(column, Variable(value), without))))


def _is_bound(column: str) -> Expression:
    return Call("BOUND", (Variable(column),))


def _is_unbound(column: str) -> Expression:
    return Call("!", (_is_bound(column),))
