"""The new rows of one leg of a program, as those of an embedding table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weir.compute.relations import Statement
from weir.compute.sql import alias, column, columns, rows_of, select, text
from weir.engine.plan_delta import PlanDelta
from weir.lars.program import Program
from weir.plan.plan import ANSWER
from weir.plan.scope import Scope
from weir.rules.points import PointAxis
from weir.rules.products import ProductLimit
from weir.rules.program import ProgramInputs, program_delta
from weir.timeline.elements import LOG
from weir.timeline.evaluation import InstantInputs


@dataclass(frozen=True, slots=True)
class Rules:
    """A program, and how it is read.

    Attributes:
        program: the program.
        axis: its points.
        scope: which triples its atoms of the graph are made of.
        file: its name, for errors.
    """

    program: Program
    axis: PointAxis
    scope: Scope
    file: str


def program_rows(rules: Rules, leg: InstantInputs) -> PlanDelta:
    """The statements that make the new rows of a leg: node, v0, .., `LOG`.

    Raises:
        WeirError: a body has more rows than a product may have.
    """
    engine, axis, graph = leg.engine, rules.axis, leg.graph
    if graph is not None:
        times = tuple((epoch, axis.point(instant)) for epoch, instant in graph.times)
        on_points = replace(graph, times=times)
        on_points.on_axis(engine, axis.point(leg.leg.low), axis.point(leg.origin))
    names = [(name, f"v{i}") for i, name in enumerate(rules.program.answer_columns)]
    log = f"{leg.prefix}_log"
    named = [alias(column(stored), name) for name, stored in names]
    engine.make(Statement(log, select(*named, *columns(LOG), from_=rows_of(leg.stored))))
    limit = leg.product_rows
    delta = program_delta(
        engine,
        rules.program,
        axis,
        leg.leg,
        leg.origin,
        ProgramInputs(tuple(leg.events.values()), log, rules.scope),
        leg.prefix,
        leg.starts,
        None if limit is None else ProductLimit(limit, rules.file),
    )
    renamed = [alias(column(name), stored) for name, stored in names]
    node = alias(text(ANSWER), "node")
    rows = select(node, *renamed, *columns(LOG), from_=rows_of(delta.result.name))
    return PlanDelta((*delta.statements, delta.result), Statement(f"{leg.prefix}_new", rows), ())
