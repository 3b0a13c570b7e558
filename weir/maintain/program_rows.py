"""The new rows of one leg of a program, as those of an embedding table."""

from __future__ import annotations

from dataclasses import replace

from weir.catalog.maintained import Maintained
from weir.catalog.programs import RegisteredProgram
from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import alias, column, columns, rows_of, select, text
from weir.engine.fixpoint import make
from weir.engine.graph import POSITIONS, QUADS, TRIPLES
from weir.plan.plan import ANSWER
from weir.rules.points import PointAxis
from weir.rules.products import ProductLimit
from weir.rules.program import ProgramInputs, program_delta
from weir.streams.elements import LOG
from weir.streams.graph_log import GraphLog
from weir.streams.legs import Leg
from weir.streams.timeline import Timeline


def make_program_rows(
    engine: Engine,
    query: Maintained,
    timeline: Timeline,
    leg: Leg,
    events: tuple[str, ...],
    graph: GraphLog | None,
    stored: str,
    prefix: str,
    product_rows: int,
) -> str:
    """Make the relation of the new rows of a leg (node, v0, .., `LOG`); gives its name.

    Args:
        engine: computes.
        query: a program.
        timeline: of the program.
        leg: the epochs and instants.
        events: the relations of the events of its streams.
        graph: the log of the graph; None if the program does not read it.
        stored: the relation of its embedding table.
        prefix: begins the names of the relations that are made.
        product_rows: most rows of a body that pairs atoms without a common variable.

    Raises:
        WeirError: a body has more.
    """
    assert isinstance(query, RegisteredProgram), "its kind says so"
    assert timeline.origin is not None, "there is a leg"
    said = query.front_matter
    axis = PointAxis(said.unit_us, said.origin_us, said.time_terms)
    if graph is not None:
        if said.default_graph == "default":
            graph = _of_default_graph(engine, graph)
        times = tuple((epoch, axis.point(instant)) for epoch, instant in graph.times)
        on_points = replace(graph, times=times)
        on_points.on_axis(engine, axis.point(leg.low), axis.point(timeline.origin))
    log, made = f"{prefix}_log", f"{prefix}_new"
    named = [alias(column(stored_), name) for name, stored_ in query.columns]
    engine.make(Statement(log, select(*named, *columns(LOG), from_=rows_of(stored))))
    delta = program_delta(
        engine,
        query.program,
        axis,
        leg,
        timeline.origin,
        ProgramInputs(events, log),
        prefix,
        timeline.starts,
        ProductLimit(product_rows, query.file.name),
    )
    for step in (*delta.statements, delta.result):
        make(engine, step)
    renamed = [alias(column(name), stored_) for name, stored_ in query.columns]
    node = alias(text(ANSWER), "node")
    rows = select(node, *renamed, *columns(LOG), from_=rows_of(delta.result.name))
    engine.make(Statement(made, rows))
    return made


def _of_default_graph(engine: Engine, graph: GraphLog) -> GraphLog:
    """The log in which the unnamed graph is in the place of all graphs merged."""
    found = {}
    for part, relations in (("stored", graph.stored), ("recent", graph.recent)):
        name = f"default_{part}"
        of_default = [column("graph").eq(text(""))]
        rows = select(
            *columns((*POSITIONS, "epoch", "weight")),
            from_=rows_of(relations[QUADS]),
            where=of_default,
        )
        engine.make(Statement(name, rows))
        found[part] = {**relations, TRIPLES: name}
    return replace(graph, stored=found["stored"], recent=found["recent"])
