"""A plan evaluated over the instants of a leg, and what the leg records of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    column,
    columns,
    greatest,
    number,
    rows_of,
    select,
    subquery,
)
from weir.engine.graph import POSITIONS
from weir.engine.plan_delta import PlanDelta, plan_delta
from weir.engine.read_graph import Thresholds
from weir.engine.relations import EpochRange, Inputs
from weir.engine.windows import Window, window_content
from weir.plan.leaves import Component
from weir.plan.plan import Plan
from weir.plan.scope import Scope
from weir.streams.graph_log import read_graph
from weir.streams.legs import Leg
from weir.streams.recording import recorded


@dataclass(frozen=True, slots=True)
class LegInputs:
    """The relations that a leg reads, as known at its last epoch.

    Attributes:
        events: by window, the relation of its stream's events (`weir.engine.windows.EVENT`).
        windows: by name.
        stored: the query's embeddings up to the epoch before the leg: node, v0, .., instant, epoch,
            weight.
        thresholds: when to give up looking up in the graph.
    """

    events: Mapping[str, str]
    windows: Mapping[str, Window]
    stored: str
    thresholds: Thresholds


def leg_delta(
    engine: SqlEngine, plan: Plan, leg: Leg, origin: int, inputs: LegInputs, prefix: str
) -> PlanDelta:
    """The statements that make the new rows of a leg.

    The result is (node, v0, .., instant, epoch, weight): the rows of (low, high] as they are now,
    less those that are stored.

    Args:
        engine: has the relations of `inputs`; if the plan reads the graph, `triples` and `quads` on
            the axis (`GraphLog.on_axis`).
        plan: of the query.
        leg: the epochs and instants.
        origin: the first instant of the query.
        inputs: what is read.
        prefix: begins the names of the relations that are made.
    """
    instants = EpochRange(leg.low, leg.high, from_nothing=leg.low < origin)
    graphs = _graphs(engine, plan, instants, inputs, prefix)
    on_axis = f"{prefix}_stored"
    names = ("node", *(f"v{i}" for i in range(plan.width)))
    axis = select(
        *columns(names),
        alias(column("instant"), "epoch"),
        column("weight"),
        from_=rows_of(inputs.stored),
    )
    engine.make(Statement(on_axis, axis))
    delta = plan_delta(plan, instants, Inputs(graphs, on_axis), prefix)
    new = select(*columns((*names, "epoch", "weight")), from_=subquery(delta.result.select, "new"))
    result = recorded(engine, new, on_axis, names, leg, prefix)
    return PlanDelta(delta.statements, result, delta.products)


def _graphs(
    engine: SqlEngine, plan: Plan, instants: EpochRange, inputs: LegInputs, prefix: str
) -> dict[Scope, str]:
    by_scope: dict[Scope, list[Component]] = {}
    for component in plan.components:
        by_scope.setdefault(component.scope, []).append(component)
    graphs: dict[Scope, str] = {}
    for i, (scope, components) in enumerate(by_scope.items()):
        name = f"{prefix}_g{i}"
        if scope.window is None:
            graphs[scope] = read_graph(engine, components, scope, instants, inputs.thresholds, name)
            continue
        content = window_content(
            inputs.events[scope.window],
            inputs.windows[scope.window],
            instants.after,
            instants.last,
        )
        if instants.from_nothing:
            content = _cut_before(content, instants.start)
        engine.make(Statement(name, content, "cache"))
        graphs[scope] = name
    return graphs


def _cut_before(content: exp.Select, start: int) -> exp.Select:
    """What a window has from `start` on: where nothing was before, all that it has appears there.

    That is a matter of queries that begin later than their streams.
    """
    return select(
        *columns(POSITIONS),
        alias(greatest(column("since"), number(start)), "since"),
        column("until"),
        from_=subquery(content, "content"),
        where=[column("until") > number(start)],
    )
