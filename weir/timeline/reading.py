"""Read what decides on the legs of a query over streams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import alias, all_of, column, columns, number, rows_of, select
from weir.engine.graph import log_relation
from weir.engine.windows import EVENT, look_back
from weir.lake.instants import microseconds
from weir.lake.lake import Lake
from weir.lake.tables import (
    DERIVED,
    EMBEDDINGS,
    OUTPUT_STREAMS,
    QUADS,
    STREAMS,
    TRANSACTIONS,
    TRIPLES,
    output_stream,
    split_name,
)
from weir.lake.upkeep.consolidated import consolidated_until
from weir.progress.backlog import LaterStart
from weir.progress.streams import Frontiers, first_instant
from weir.timeline.axis import Instants, Upstream
from weir.timeline.elements import elements_as_events
from weir.timeline.graph_log import GraphLog
from weir.timeline.stream_names import stream_name, streams_of
from weir.timeline.timeline import StreamHistory, Timeline
from weir.timeline.windows import windows_of


def read_timeline(
    engine: Engine,
    lake: Lake,
    axis: Instants,
    *,
    reads_graph: bool,
    after: int,
    last: int,
    begins: int | None = None,
) -> Timeline:
    """The timeline of a query up to an epoch.

    Args:
        engine: reads the first instants of epochs.
        lake: holds the streams.
        axis: the windows of the query.
        reads_graph: whether it reads the graph.
        after: the epoch up to which the query is maintained.
        last: the newest epoch.
        begins: the first instant, if it is not that of its streams.
    """
    frontiers = Frontiers.read(lake)
    streams = []
    for name in streams_of(axis):
        history = source_history(lake, name, frontiers, last)
        streams.append(_with_arrivals(engine, lake, STREAMS.name(name), history, after, last))
    for upstream in axis.upstreams:
        history = output_history(lake, upstream, frontiers, last)
        table = output_stream(upstream.query, ())
        streams.append(_with_arrivals(engine, lake, table.name, history, after, last))
    graph = graph_epochs(lake, last) if reads_graph else ()
    return _timeline(axis, streams, graph, begins)


def read_horizons(
    lake: Lake,
    axis: Instants,
    frontiers: Frontiers,
    last: int | None = None,
    begins: int | None = None,
) -> Timeline:
    """The timeline of a query without what changes its answer, by default of all epochs."""
    streams = [source_history(lake, name, frontiers, last) for name in streams_of(axis)]
    streams += [output_history(lake, upstream, frontiers, last) for upstream in axis.upstreams]
    return _timeline(axis, streams, (), begins)


def _timeline(
    axis: Instants,
    streams: Sequence[StreamHistory | None],
    graph: Sequence[tuple[int, int | None]],
    begins: int | None,
) -> Timeline:
    return Timeline.of(
        [*windows_of(axis).values()],
        streams,
        graph,
        axis.corrects_back,
        begins,
        grid=axis.grid,
        starts=axis.starts,
    )


def began_at(lake: Lake, upstream: Upstream) -> int | None:
    """The first instant of a query, if it is not that of its streams."""
    maintained = lake.last_metadata(EMBEDDINGS.name(upstream.query), job="maintain")
    start = None if maintained is None else LaterStart.from_json(maintained[1].extra)
    return None if start is None else start.begins


def open_events(
    engine: Engine, lake: Lake, name: str, stream_: str, last: int, where: exp.Expr | None = None
) -> str:
    """Name the events of a stream that are known at an epoch, as `EVENT`; gives the name.

    The state of the table is that which the lake has open, so that what was deleted of it is known.
    """
    table = STREAMS.name(stream_)
    engine.open(f"{name}_stored", table, version=lake.version(table), where=where)
    known = [column("epoch") <= number(last)]
    engine.make(
        Statement(name, select(*columns(EVENT), from_=rows_of(f"{name}_stored"), where=known))
    )
    return name


def open_windows(engine: Engine, lake: Lake, axis: Instants, last: int, low: int) -> dict[str, str]:
    """Name the events that windows may have from an instant on; gives the relations by window.

    Args:
        engine: gets the relations, as `EVENT`.
        lake: has the tables.
        axis: has the windows.
        last: the epoch up to which events are known.
        low: the instant.
    """
    windows = windows_of(axis)
    relations = {}
    for number_, clause in enumerate(axis.windows):
        back = look_back(windows[clause.name])
        where = None if back is None else column("instant") > number(low - back - 1)
        name = relations[clause.name] = f"events{number_}"
        upstream = axis.upstream(clause.stream)
        if upstream is None:
            open_events(engine, lake, name, stream_name(clause.stream), last, where)
        else:
            table = OUTPUT_STREAMS.name(upstream.query)
            engine.open(f"{name}_stored", table, where=where)
            engine.make(Statement(name, elements_as_events(f"{name}_stored", last)))
    return relations


def open_graph_log(
    engine: Engine,
    lake: Lake,
    tables: Iterable[str],
    settled: int,
    times: tuple[tuple[int, int], ...],
    last: int | None = None,
) -> GraphLog:
    """Name the logs of the graph, and of derived graphs.

    Args:
        engine: gets the relations.
        lake: has the tables.
        tables: that are read; `triples` and `quads` are opened anyway.
        settled: as in `GraphLog`.
        times: as in `GraphLog`.
        last: the epoch after which no row is read; None to read all.
    """
    stored, recent, begins = {}, {}, {}
    for table in dict.fromkeys((TRIPLES.name, QUADS.name, *tables)):
        name = log_relation(table)
        stored[table], recent[table] = f"all_{name}", f"recent_{name}"
        begins[table] = known_from(lake, table)
        later = column("epoch") > number(settled)
        if last is None:
            engine.open(stored[table], table)
            engine.open(recent[table], table, where=later)
        else:
            known = column("epoch") <= number(last)
            engine.open(stored[table], table, where=known)
            engine.open(recent[table], table, where=all_of([later, known.copy()]))
    return GraphLog(stored, recent, settled, times, begins)


def known_from(lake: Lake, table: str) -> int:
    """The epoch whose state is the first that a log of triples has; 0 if it has all changes."""
    folder, _ = split_name(table)
    if folder != DERIVED.folder:
        return consolidated_until(lake, table)
    last = lake.last_metadata(table, job="maintain")
    return 0 if last is None else last[1].base


def source_history(
    lake: Lake, name: str, frontiers: Frontiers, last: int | None = None
) -> StreamHistory | None:
    """What is recorded of a stream, by default of all epochs; None if it has had no event.

    The first instants of its epochs are missing: they are in the events.
    """
    known = [
        (epoch, frontier)
        for epoch, frontier in frontiers.streams.get(name, ())
        if frontier is not None and (last is None or epoch <= last)
    ]
    starts = first_instant(lake, name) if known else None
    return None if starts is None else StreamHistory(starts, known, {})


def output_history(
    lake: Lake, upstream: Upstream, frontiers: Frontiers, last: int | None = None
) -> StreamHistory | None:
    """What follows of the stream out of a query from its windows; None before it can have events.

    Its frontier is right after what is final of the query.
    """
    if not lake.exists(OUTPUT_STREAMS.name(upstream.query)):
        return None
    timeline = read_horizons(lake, upstream.axis, frontiers, last, began_at(lake, upstream))
    known = [
        (arrival.epoch, arrival.horizon + 1)
        for arrival in timeline.arrivals
        if arrival.horizon is not None
    ]
    if timeline.origin is None or not known:
        return None
    return StreamHistory(timeline.origin, known, {})


def _with_arrivals(
    engine: Engine, lake: Lake, table: str, history: StreamHistory | None, after: int, last: int
) -> StreamHistory | None:
    """The history with the first instant of each epoch in (after, last] that has events."""
    if history is None:
        return None
    relation = f"arrived_{table.replace('/', '_')}"
    later = column("epoch") > number(after)
    engine.open(relation, table, version=lake.version(table), where=later)
    first = select(
        column("epoch"),
        alias(exp.Min(this=column("instant")), "instant"),
        from_=rows_of(relation),
        where=[column("epoch") <= number(last)],
        group_by=[column("epoch")],
    )
    earliest = {int(str(epoch)): int(str(instant)) for epoch, instant in engine.rows(first)}
    return replace(history, earliest=earliest)


def graph_epochs(lake: Lake, last: int) -> Sequence[tuple[int, int | None]]:
    """The epochs that changed the graph, with their event times as instants.

    A change cannot have happened after it was ingested: a time in the future would keep later
    changes from holding until then.
    """
    names = ["epoch", "event_time", "ingested_at", "inserted", "deleted"]
    rows = lake.rows(TRANSACTIONS.name, names, [("epoch", "<=", last)]).sort_by("epoch")
    return [
        (row["epoch"], _earlier(_instant(row["event_time"]), _instant(row["ingested_at"])))
        for row in rows.to_pylist()
        if row["inserted"] or row["deleted"]
    ]


def _earlier(event_time: int | None, ingested: int | None) -> int | None:
    return event_time if event_time is None or ingested is None else min(event_time, ingested)


def _instant(time: datetime | None) -> int | None:
    """Microseconds since 1970; a time of the lake is in UTC."""
    if time is None:
        return None
    return microseconds(time if time.tzinfo else time.replace(tzinfo=UTC))
