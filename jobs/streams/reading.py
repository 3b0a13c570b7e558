"""Read what decides on the legs of a query over streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sqlglot import exp

from jobs.catalog.windowing import Windowing
from jobs.compute.engine import Engine
from jobs.compute.sql import alias, column, number, rows_of, select
from jobs.progress.streams import Frontiers, accepted_lateness, first_instant
from jobs.sparql.frontend.rspql.names import STREAM_IRI
from jobs.streams.timeline import StreamHistory, Timeline
from jobs.streams.windows import windows_of
from lake.instants import microseconds
from lake.lake import Lake
from lake.tables import TRANSACTIONS, stream


def stream_name(iri: str) -> str:
    """The name of the stream that an IRI of a window clause means; N-Triples form."""
    return iri.removeprefix(f"<{STREAM_IRI}").removesuffix(">")


def streams_of(windowing: Windowing) -> Mapping[str, str]:
    """The streams of sources that a query reads: their names, with their IRIs in N-Triples form."""
    given = {each.stream for each in windowing.upstreams}
    iris = [each.stream for each in windowing.windows if each.stream not in given]
    return {stream_name(iri): iri for iri in iris}


def all_streams_of(windowing: Windowing) -> frozenset[str]:
    """The names of the streams of sources on which a query depends, also by other queries."""
    others = (all_streams_of(each.windowing) for each in windowing.upstreams)
    return frozenset(streams_of(windowing)).union(*others)


def read_timeline(
    engine: Engine, lake: Lake, windowing: Windowing, *, reads_graph: bool, after: int, last: int
) -> Timeline:
    """The timeline of a query up to an epoch.

    Args:
        engine: reads the first instants of epochs.
        lake: holds the streams.
        windowing: the windows of the query.
        reads_graph: whether it reads the graph.
        after: the epoch up to which the query is maintained.
        last: the newest epoch.
    """
    frontiers = Frontiers.read(lake)
    streams = []
    for name in streams_of(windowing):
        history = source_history(lake, name, frontiers, last)
        streams.append(_with_arrivals(engine, stream(name).name, history, after, last))
    for each in windowing.upstreams:
        history = output_history(lake, each.windowing, frontiers, last)
        streams.append(_with_arrivals(engine, f"output_streams/{each.query}", history, after, last))
    graph = _graph_epochs(lake, last) if reads_graph else ()
    return Timeline.of([*windows_of(windowing).values()], streams, graph, windowing.corrects_back)


def read_horizons(
    lake: Lake, windowing: Windowing, frontiers: Frontiers, last: int | None = None
) -> Timeline:
    """The timeline of a query without what changes its answer, by default of all epochs."""
    streams = [source_history(lake, name, frontiers, last) for name in streams_of(windowing)]
    streams += [
        output_history(lake, each.windowing, frontiers, last) for each in windowing.upstreams
    ]
    return Timeline.of([*windows_of(windowing).values()], streams, (), windowing.corrects_back)


def settled_until(lake: Lake, windowing: Windowing, epoch: int) -> int | None:
    """An instant before which no later leg begins; None if nothing is settled.

    Args:
        lake: holds the streams.
        windowing: the windows of the query.
        epoch: the epoch up to which it is maintained.
    """
    frontiers = Frontiers.read(lake)
    horizon = read_horizons(lake, windowing, frontiers).horizon(epoch)
    if horizon is None:
        return None
    found = [horizon - windowing.corrects_back]
    for name in streams_of(windowing):
        frontier = frontiers.at(name, epoch)
        assert frontier is not None, "there is a horizon"
        found.append(frontier - accepted_lateness(lake, name))
    for each in windowing.upstreams:
        settled = settled_until(lake, each.windowing, epoch)
        assert settled is not None, "there is a horizon"
        found.append(settled)
    return min(found) - 2


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
    lake: Lake, windowing: Windowing, frontiers: Frontiers, last: int | None = None
) -> StreamHistory | None:
    """What follows of the stream out of a query from its windows; None before it can have events.

    Its frontier is right after what is final of the query.
    """
    timeline = read_horizons(lake, windowing, frontiers, last)
    known = [
        (each.epoch, each.horizon + 1) for each in timeline.arrivals if each.horizon is not None
    ]
    if timeline.origin is None or not known:
        return None
    return StreamHistory(timeline.origin, known, {})


def _with_arrivals(
    engine: Engine, table: str, history: StreamHistory | None, after: int, last: int
) -> StreamHistory | None:
    """The history with the first instant of each epoch in (after, last] that has events."""
    if history is None:
        return None
    relation = f"arrived_{table.replace('/', '_')}"
    engine.open(relation, table, where=column("epoch") > number(after))
    first = select(
        column("epoch"),
        alias(exp.Min(this=column("instant")), "instant"),
        from_=rows_of(relation),
        where=[column("epoch") <= number(last)],
        group_by=[column("epoch")],
    )
    earliest = {int(str(epoch)): int(str(instant)) for epoch, instant in engine.rows(first)}
    return replace(history, earliest=earliest)


def _graph_epochs(lake: Lake, last: int) -> Sequence[tuple[int, int | None]]:
    """The epochs that changed the graph, with their event times as instants."""
    names = ["epoch", "event_time", "inserted", "deleted"]
    rows = lake.rows(TRANSACTIONS.name, names, [("epoch", "<=", last)]).sort_by("epoch")
    return [
        (row["epoch"], _instant(row["event_time"]))
        for row in rows.to_pylist()
        if row["inserted"] or row["deleted"]
    ]


def _instant(time: datetime | None) -> int | None:
    """Microseconds since 1970; a time of the lake is in UTC."""
    if time is None:
        return None
    return microseconds(time if time.tzinfo else time.replace(tzinfo=UTC))
