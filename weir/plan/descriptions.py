"""What the nodes of a plan do, in words."""

from __future__ import annotations

from typing import assert_never

from weir.lake.counted import counted
from weir.plan import leaves, operators
from weir.plan.operators import Aggregate, PlanNode
from weir.plan.plan import Plan
from weir.sparql.algebra.expressions import Call, Constant, Exists, Expression, Variable


def described(plan: Plan, node: PlanNode) -> str:
    """What a node does, in a few words, with the variables of the query."""
    match node:
        case leaves.Component():
            count = len(node.patterns)
            return f"{node.kind}, {count} pattern{'s' if count > 1 else ''}"
        case operators.Product(parts, ()):
            return f"product of {len(parts)} parts (they share no variable)"
        case operators.Product(parts, correlated):
            names = _variables(plan, correlated)
            return f"product of {len(parts)} parts (an EXISTS evaluates one for each {names})"
        case leaves.Values(variables, rows):
            return f"values {_variables(plan, variables)}: {counted(len(rows), 'row')}, constant"
        case operators.Join():
            return f"join on {_variables(plan, node.touch_key)}"
        case operators.LeftJoin():
            return f"left join {_on(plan, node)}"
        case operators.SemiJoin():
            return f"left solutions with a match, {_on(plan, node)}"
        case operators.AntiJoin():
            return f"left solutions without a match, {_on(plan, node)}"
        case operators.MarkJoin():
            flag = _variable(plan, node.flag)
            return f"all left solutions, and in {flag} whether they match, {_on(plan, node)}"
        case operators.Union(parts):
            return f"union of {len(parts)} parts"
        case operators.Extend(variable, expression):
            return f"extend {_variable(plan, variable)} := {expression_text(plan, expression)}"
        case operators.Group():
            aggregates = ", ".join(
                f"{_variable(plan, name)} := {_aggregate(plan, aggregate)}"
                for name, aggregate in node.aggregates
            )
            by = f" by {_variables(plan, node.keys)}" if node.keys else ", one group"
            return f"group{by}: {aggregates or 'no aggregates'}"
        case operators.Slice():
            order = ", ".join(
                f"{_variable(plan, key.column)}{' descending' if key.descending else ''}"
                for key in node.keys
            )
            limit = "all" if node.limit is None else str(node.limit)
            return (
                f"slice: {limit} after the first {node.offset}, ordered by {order or 'the terms'}"
            )
        case operators.Closure():
            ends = _variables(plan, (node.source, node.target))
            return f"closure of steps {ends}" + (f" from {node.start}" if node.start else "")
        case operators.Filter(condition):
            return f"filter {expression_text(plan, condition)}"
        case operators.Project(variables):
            return f"project {_variables(plan, variables)}"
        case operators.Distinct():
            return "distinct"
        case operators.Ask():
            return "exists: true or false"
        case operators.Instantiate(template):
            return f"instantiate {len(template)} template triples"
        case _:
            assert_never(node)


def _on(plan: Plan, node: operators.LeftJoin | operators.Matching) -> str:
    condition = f" where {expression_text(plan, node.condition)}" if node.condition else ""
    return f"on {_variables(plan, node.touch_key)}{condition}"


def _aggregate(plan: Plan, aggregate: Aggregate) -> str:
    argument = "*" if aggregate.argument is None else _variable(plan, aggregate.argument)
    return f"{aggregate.function}({'DISTINCT ' if aggregate.distinct else ''}{argument})"


def _variables(plan: Plan, columns: tuple[str, ...]) -> str:
    return " ".join(_variable(plan, name) for name in columns) or "nothing"


def _variable(plan: Plan, column: str) -> str:
    name = plan.names[int(column[1:])]
    return name if name.startswith("_:") else f"?{name}"


def expression_text(plan: Plan, of: Expression) -> str:
    """An expression, with the variables of the query."""
    match of:
        case Variable(name):
            return _variable(plan, name)
        case Constant(term):
            return term
        case Call(function, arguments):
            return f"{function}({', '.join(expression_text(plan, part) for part in arguments)})"
        case Exists():
            raise ValueError("a plan has joins where a query has EXISTS")
        case _:
            assert_never(of)
