"""The new rows of one leg of what reads streams: read, computed and committed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from weir.catalog.windowing import Windowing
from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import column, number
from weir.compute.writing import Commit
from weir.engine.graph import QUADS, TRIPLES
from weir.engine.read_graph import Thresholds
from weir.engine.windows import look_back
from weir.lake.delta.commit import SaveMode, arrow_schema
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import OUTPUT_STREAMS, Table, stream_embeddings
from weir.maintain.products import make_delta
from weir.maintain.tasks import Task
from weir.settings import Limits
from weir.streams.elements import elements_as_events
from weir.streams.evaluation import LegInputs, leg_delta
from weir.streams.graph_log import GraphLog
from weir.streams.legs import Leg
from weir.streams.reading import open_events
from weir.streams.stream_names import stream_name
from weir.streams.timeline import Timeline
from weir.streams.windows import windows_of


def table_of(task: Task) -> Table:
    """The embedding table of a query over streams."""
    return stream_embeddings(task.query.name, task.query.width)


def windowing_of(task: Task) -> Windowing:
    """The windows of a query over streams."""
    assert task.query.windowing is not None, "a query over streams"
    return task.query.windowing


def make_empty(engine: Engine, name: str, table: Table) -> None:
    """Make a relation with the columns of a table and without rows."""
    engine.load(name, arrow_schema(table).empty_table())


def commit_leg(
    engine: Engine,
    lake: Lake,
    limits: Limits,
    task: Task,
    timeline: Timeline,
    leg: Leg,
    metadata: Metadata,
    mode: SaveMode,
    *,
    even_empty: bool = False,
) -> Commit | None:
    """Commit the new rows of a leg; None if there are none and there is a table.

    Args:
        engine: computes and writes.
        lake: holds the tables.
        limits: of products, and of what is looked up.
        task: of the query.
        timeline: of the query.
        leg: the epochs and instants.
        metadata: of the commit.
        mode: `overwrite` if this is the first leg of a log.
        even_empty: whether to commit without rows, too: only the metadata say how far it is.

    Raises:
        WeirError: a product exceeds the limit.
    """
    assert timeline.origin is not None, "there is a leg"
    table, stored = table_of(task), f"stored_{task.query.name}"
    if mode == "append":
        engine.open(stored, table.name)
    else:
        make_empty(engine, stored, table)
    rows = _make_rows(engine, lake, limits, task, timeline, leg, stored)
    count = engine.count(rows)
    if not count and mode == "append" and not even_empty:
        return None
    return engine.write(table, rows, metadata, mode=mode, rows=count)


def _make_rows(
    engine: Engine,
    lake: Lake,
    limits: Limits,
    task: Task,
    timeline: Timeline,
    leg: Leg,
    stored: str,
) -> str:
    """Make the relation of the new rows of a leg; gives its name."""
    windowing, prefix = windowing_of(task), f"q_{task.query.name}"
    events = name_events(engine, lake, windowing, leg.last, leg.low)
    graph = _graph_log(engine, timeline, leg) if task.query.reads else None
    match task.query.kind:
        case "query":
            return _query_rows(engine, limits, task, timeline, leg, events, graph, stored, prefix)
        case "program":
            # The grammar of programs takes its time to import.
            from weir.maintain.program_rows import make_program_rows

            return make_program_rows(
                engine,
                task.query,
                timeline,
                leg,
                tuple(events.values()),
                graph,
                stored,
                prefix,
                limits.product_rows,
            )
        case _:
            assert_never(task.query.kind)


def _query_rows(
    engine: Engine,
    limits: Limits,
    task: Task,
    timeline: Timeline,
    leg: Leg,
    events: Mapping[str, str],
    graph: GraphLog | None,
    stored: str,
    prefix: str,
) -> str:
    assert timeline.origin is not None, "there is a leg"
    if graph is not None:
        graph.on_axis(engine, leg.low, timeline.origin)
    small = max(limits.driver_rows, limits.broadcast_rows)
    thresholds = Thresholds(limits.bulk_changes, limits.neighbourhood_rows, small)
    inputs = LegInputs(events, windows_of(windowing_of(task)), stored, thresholds)
    delta = leg_delta(engine, task.plan, leg, timeline.origin, inputs, prefix)
    make_delta(engine, delta, limits.product_rows, task.plan, task.query.file.name)
    return delta.result.name


def name_events(
    engine: Engine, lake: Lake, windowing: Windowing, last: int, low: int
) -> dict[str, str]:
    """Name the events that windows may have from an instant on; gives the relations by window.

    Args:
        engine: gets the relations, as `EVENT`.
        lake: has the tables.
        windowing: the windows.
        last: the epoch up to which events are known.
        low: the instant.
    """
    windows = windows_of(windowing)
    relations = {}
    for number_, clause in enumerate(windowing.windows):
        back = look_back(windows[clause.name])
        where = None if back is None else column("instant") > number(low - back - 1)
        name = relations[clause.name] = f"events{number_}"
        upstream = windowing.upstream(clause.stream)
        if upstream is None:
            open_events(engine, lake, name, stream_name(clause.stream), last, where)
        else:
            table = OUTPUT_STREAMS.name(upstream.query)
            engine.open(f"{name}_stored", table, where=where)
            engine.make(Statement(name, elements_as_events(f"{name}_stored", last)))
    return relations


def _graph_log(engine: Engine, timeline: Timeline, leg: Leg) -> GraphLog:
    settled, times = timeline.graph_at(leg)
    stored, recent = {}, {}
    for name in (TRIPLES, QUADS):
        stored[name], recent[name] = f"all_{name}", f"recent_{name}"
        engine.open(stored[name], name)
        engine.open(recent[name], name, where=column("epoch") > number(settled))
    return GraphLog(stored, recent, settled, times)
