"""Explains how a query is maintained: its plan, stored nodes, classes of its parts, SQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from weir.cli.service_explanation import explain_services
from weir.cli.window_explanation import explain_windows
from weir.compute.relations import Loaded, Statement
from weir.definitions.definition import Definition
from weir.definitions.plan_body import PlanBody
from weir.engine.fixpoint import Fixpoint, Step
from weir.engine.graph import log_columns
from weir.engine.neighbourhood import hops
from weir.engine.plan_delta import plan_delta
from weir.engine.read_graph import neighbourhood_graph
from weir.engine.relations import EpochRange, Inputs
from weir.engine.windows import window_content
from weir.lake.tables import DERIVED
from weir.plan.descriptions import described, expression_text
from weir.plan.lookups import needed
from weir.plan.operators import PlanNode
from weir.plan.plan import Plan
from weir.sparql.algebra.patterns import TriplePattern
from weir.sparql.recursion import deep_recursion
from weir.timeline.axis import Axis
from weir.timeline.windows import windows_of

DIALECT = "spark"
# The SQL is that of a run over three epochs; in other runs only the numbers differ.
EXAMPLE = EpochRange(after=4, last=7)


@deep_recursion()
def explain_query(
    query: Definition,
    *,
    sql: bool = False,
    starts: Mapping[str, int | None] | None = None,
    kept_from: Mapping[str, int] | None = None,
) -> str:
    """The explanation of a query as text; with `sql` also the statements of an example run.

    Args:
        query: the query.
        sql: whether the statements are part of it.
        starts: the first instant of each stream that is read; None before its first event.
        kept_from: of streams with deleted events, the first instant whose events are kept.
    """
    assert isinstance(query.body, PlanBody), "its kind says so"
    plan = query.body.plan
    lines = [
        f"{query.name}: {query.description or query.file.name}",
        f"answer: a {'set' if plan.is_set else 'bag'} of "
        + (", ".join(name for name, _ in plan.columns) or "empty solutions"),
        *(f"without effect on the stored answer: {part}" for part in query.presentation),
        *_derived_graphs(query),
        "",
        *explain_windows(query.axis, starts or {}, kept_from),
        *explain_services(query.services.blocks),
        f"plan (* = stored in embeddings/{query.name}, ~ = looked up in the graph):",
        *_trees(plan),
        "",
        "parts:",
        *_parts(plan),
    ]
    if sql:
        range_ = f"{EXAMPLE.start}..{EXAMPLE.last}"
        if not query.axis.windows:
            lines += ["", f"SQL of a run over the epochs {range_}:"]
        else:
            lines += ["", f"SQL of a run over the instants {range_}, in columns named epoch:"]
        for statement in _statements(plan, query.axis):
            lines += ["", *_sql(statement)]
    return "\n".join(lines)


def _derived_graphs(query: Definition) -> Iterator[str]:
    """The graph that a query gives, and those that it reads of others."""
    if query.graph is not None:
        yield f"gives the graph {query.graph}, in {DERIVED.name(query.name)}"
    for giver in query.derived:
        yield f"reads the graph {giver.graph} of {giver.name}, and is maintained after it"


def stored_nodes(definition: Definition) -> dict[str, str]:
    """What the nodes of a plan whose rows are stored are, by their ids; none of other kinds."""
    if not isinstance(definition.body, PlanBody):
        return {}
    plan = definition.body.plan
    return {plan.ids[node]: described(plan, node) for node in plan.stored}


def explain_tables(
    definition: Definition, starts: Mapping[str, int | None], kept_from: Mapping[str, int]
) -> str:
    """The explanation of a definition by what it reads and stores; the arguments as above."""
    name = definition.name
    lines = [
        f"{name}: {definition.description or definition.file.name}",
        f"answer: a {'set' if definition.is_set else 'bag'} of "
        + ", ".join(definition.output.columns),
        "",
        *explain_windows(definition.axis, starts, kept_from),
        *explain_services(definition.services.blocks),
        f"reads: {', '.join(definition.logs) or 'streams alone'}",
        f"stored: in embeddings/{name}",
    ]
    return "\n".join(lines)


def _trees(plan: Plan) -> Iterator[str]:
    """The nodes of the answer, then the nodes of the keys that remotes are asked for."""
    shown: set[str] = set()
    for root in dict.fromkeys((plan.root, *(keys for _, keys in plan.asked))):
        yield from _tree(plan, root, 1, shown)


def _tree(plan: Plan, node: PlanNode, depth: int, shown: set[str]) -> Iterator[str]:
    """The node and those below it; "(as above)" below a node that has been shown already."""
    stored = "*" if node in plan.stored else "~" if node in plan.looked_up else " "
    whole = " [looks at all rows below]" if node in plan.whole_reads else ""
    yield f"{'  ' * depth}{stored}{plan.ids[node]}: {described(plan, node)}{whole}"
    if plan.ids[node] in shown:
        if node.children:
            yield f"{'  ' * (depth + 1)} (as above)"
        return
    shown.add(plan.ids[node])
    for child in node.children:
        yield from _tree(plan, child, depth + 1, shown)


def _parts(plan: Plan) -> Iterator[str]:
    for component in plan.components:
        yield f"  {plan.ids[component]}: {component.kind}, over {component.scope.name}"
        for pattern in component.patterns:
            yield f"      {_pattern(plan, pattern)}"
        for condition in component.conditions:
            yield f"      FILTER {expression_text(plan, condition)}"


def _pattern(plan: Plan, pattern: TriplePattern) -> str:
    return " ".join(expression_text(plan, node) for node in pattern.nodes)


def _sql(step: Loaded | Step) -> Iterator[str]:
    match step:
        case Loaded():
            yield f"-- {step.name} (loaded): {', '.join(step.rows.column_names)}"
            for row in step.rows.to_pylist():
                yield f"-- {', '.join('' if cell is None else cell for cell in row.values())}"
        case Statement():
            yield f"-- {step.name} ({step.keep})"
            yield step.select.sql(dialect=DIALECT, pretty=True)
        case Fixpoint():
            yield f"-- {step.name}: starts with"
            yield step.seed.sql(dialect=DIALECT, pretty=True)
            yield f"-- {step.name}: repeated over the new rows until there are none"
            following = step.follow(f"{step.name}_new", step.steps.relation)
            yield following.sql(dialect=DIALECT, pretty=True)
        case _:
            assert_never(step)


def _statements(plan: Plan, axis: Axis) -> Iterator[Loaded | Step]:
    graphs = {}
    windows = windows_of(axis)
    for i, scope in enumerate(dict.fromkeys(part.scope for part in plan.components)):
        prefix, changes = f"g{i}", f"changes{i}"
        if scope.window is not None:
            window, events = windows[scope.window], f"events{i}"
            content = window_content(events, window, EXAMPLE.after, EXAMPLE.last)
            yield Statement(f"{prefix}_window", content, "cache")
            graphs[scope] = f"{prefix}_window"
            continue
        neighbourhood = hops(prefix, changes, needed(plan.lookups, scope), log_columns(scope))
        for hop in neighbourhood:
            yield hop.lookups
            yield hop.keys
            yield hop.rows(dict.fromkeys(hop.sides, f"{prefix}_log"))
        graph = neighbourhood_graph(
            scope, prefix, [hop.relation for hop in neighbourhood], changes, EXAMPLE
        )
        yield graph
        graphs[scope] = graph.name
    delta = plan_delta(plan, EXAMPLE, Inputs(graphs, "stored"), "q")
    yield from delta.statements
    yield delta.result
