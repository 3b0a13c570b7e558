"""How a query is maintained, in words: classes of its parts, plan, stored nodes, SQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from jobs.engine.delta import Inputs, plan_delta
from jobs.engine.neighbourhood import hops
from jobs.engine.relations import EpochRange, Statement
from jobs.engine.restrict import neighbourhood_graph
from jobs.plan.lookups import lookups
from jobs.plan.operators import (
    Component,
    Distinct,
    Exists,
    Filter,
    Instantiate,
    Plan,
    PlanNode,
    Product,
    Project,
    children,
)
from jobs.plans import plan_of
from jobs.registry import RegisteredQuery
from jobs.sparql.algebra import TriplePattern
from jobs.sparql.expressions import Call, Constant, Expression, Variable

DIALECT = "spark"
# The SQL of a run over three epochs; only the numbers differ from run to run.
EXAMPLE = EpochRange(after=4, last=7)


def explain_query(query: RegisteredQuery, *, sql: bool = False) -> str:
    """The explanation of a query as text; with `sql` also the statements of an example run."""
    plan = plan_of(query)
    lines = [
        f"{query.name}: {query.front_matter.description or query.file.name}",
        f"answer: a {'set' if plan.is_set else 'bag'} of "
        + (", ".join(name for name, _ in plan.columns) or "empty solutions"),
        *(f"without effect on the stored answer: {part}" for part in query.query.presentation),
        "",
        "plan (* = stored in embeddings/" + query.name + "):",
        *_tree(plan, plan.root, 1),
        "",
        "parts:",
        *_parts(plan),
    ]
    if sql:
        lines += ["", f"SQL of a run over the epochs {EXAMPLE.start}..{EXAMPLE.last}:"]
        for statement in _statements(plan):
            text = statement.select.sql(dialect=DIALECT, pretty=True)
            lines += ["", f"-- {statement.name} ({statement.keep})", text]
    return "\n".join(lines)


def _tree(plan: Plan, node: PlanNode, depth: int) -> Iterator[str]:
    stored = "*" if node in plan.stored else " "
    yield f"{'  ' * depth}{stored}{plan.ids[node]}: {_described(plan, node)}"
    for child in children(node):
        yield from _tree(plan, child, depth + 1)


def _described(plan: Plan, node: PlanNode) -> str:
    match node:
        case Component():
            count = len(node.patterns)
            return f"{node.kind}, {count} pattern{'s' if count > 1 else ''}"
        case Product(parts):
            return f"product of {len(parts)} parts (they share no variable)"
        case Filter(condition):
            return f"filter {_expression(plan, condition)}"
        case Project(variables):
            return "project " + (" ".join(_variable(plan, name) for name in variables) or "nothing")
        case Distinct():
            return "distinct"
        case Exists():
            return "exists: true or false"
        case Instantiate(template):
            return f"instantiate {len(template)} template triples"
        case _:
            assert_never(node)


def _parts(plan: Plan) -> Iterator[str]:
    for component in plan.components:
        yield f"  {plan.ids[component]}: {component.kind}, over the {component.scope.name}"
        for pattern in component.patterns:
            yield f"      {_pattern(plan, pattern)}"
        for condition in component.conditions:
            yield f"      FILTER {_expression(plan, condition)}"


def _pattern(plan: Plan, pattern: TriplePattern) -> str:
    return " ".join(_expression(plan, node) for node in pattern.nodes)


def _variable(plan: Plan, column: str) -> str:
    name = plan.names[int(column[1:])]
    return name if name.startswith("_:") else f"?{name}"


def _expression(plan: Plan, expression: Expression) -> str:
    match expression:
        case Variable(name):
            return _variable(plan, name)
        case Constant(term):
            return term
        case Call(function, arguments):
            return f"{function}({', '.join(_expression(plan, part) for part in arguments)})"
        case _:
            assert_never(expression)


def _statements(plan: Plan) -> Iterator[Statement]:
    graphs = {}
    for i, scope in enumerate(dict.fromkeys(part.scope for part in plan.components)):
        parts = [part for part in plan.components if part.scope == scope]
        prefix, changes = f"g{i}", f"changes{i}"
        found = hops(prefix, f"{prefix}_log", changes, lookups(parts))
        for hop in found:
            yield hop.keys
            yield hop.rows
        graph = neighbourhood_graph(prefix, [hop.rows.name for hop in found], changes, EXAMPLE)
        yield graph
        graphs[scope] = graph.name
    delta = plan_delta(plan, EXAMPLE, Inputs(graphs, "stored"), "q")
    yield from delta.statements
    yield delta.result
