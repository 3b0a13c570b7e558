"""Read what decides on the legs of a query over streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache, partial

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
from lake.tables import TRANSACTIONS, output_stream, stream


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


class StreamRecords:
    """What is recorded of streams and of the graph up to an epoch, read once for all queries.

    Args:
        lake: holds the streams.
        last: the newest epoch.
        engine: opens an engine, which reads the first instants of epochs.
    """

    def __init__(
        self, lake: Lake, last: int, engine: Callable[[], AbstractContextManager[Engine]]
    ) -> None:
        self.last = last
        self._lake, self._engine = lake, engine
        self.history = lru_cache(maxsize=None)(self._history)
        self.output_history = lru_cache(maxsize=None)(self._output_history)
        self.lateness = lru_cache(maxsize=None)(partial(accepted_lateness, lake))
        self.earliest = lru_cache(maxsize=None)(self._earliest)

    @cached_property
    def frontiers(self) -> Frontiers:
        """Of all streams."""
        return Frontiers.read(self._lake)

    @cached_property
    def graph_epochs(self) -> Sequence[tuple[int, int | None]]:
        """The epochs that changed the graph, with their event times as instants."""
        names = ["epoch", "event_time", "inserted", "deleted"]
        found = self._lake.rows(TRANSACTIONS.name, names, [("epoch", "<=", self.last)])
        return [
            (row["epoch"], _instant(row["event_time"]))
            for row in found.sort_by("epoch").to_pylist()
            if row["inserted"] or row["deleted"]
        ]

    def horizons(self, windowing: Windowing) -> Timeline:
        """The timeline of a query without what changes its answer."""
        return read_horizons(self._lake, windowing, self.frontiers, self.last)

    def _history(self, name: str) -> StreamHistory | None:
        return source_history(self._lake, name, self.frontiers, self.last)

    def _output_history(self, windowing: Windowing) -> StreamHistory | None:
        return output_history(self._lake, windowing, self.frontiers, self.last)

    def _earliest(self, table: str, after: int) -> Mapping[int, int]:
        """The first instant of each epoch of a stream after an epoch, of those with events."""
        relation = f"arrived_{table.replace('/', '_')}"
        first = select(
            column("epoch"),
            alias(exp.Min(this=column("instant")), "instant"),
            from_=rows_of(relation),
            where=[column("epoch") <= number(self.last)],
            group_by=[column("epoch")],
        )
        with self._engine() as engine:
            engine.open(relation, table, where=column("epoch") > number(after))
            rows = engine.rows(first)
        return {int(str(epoch)): int(str(instant)) for epoch, instant in rows}


def read_timeline(
    records: StreamRecords, windowing: Windowing, *, reads_graph: bool, after: int
) -> Timeline:
    """The timeline of a query up to the newest epoch.

    Args:
        records: of its streams.
        windowing: the windows of the query.
        reads_graph: whether it reads the graph.
        after: the epoch up to which the query is maintained.
    """
    histories = {stream(name).name: records.history(name) for name in streams_of(windowing)}
    histories |= {
        output_stream(each.query, ()).name: records.output_history(each.windowing)
        for each in windowing.upstreams
    }
    streams = []
    for table, history in histories.items():
        # A stream without history has no table.
        earliest = {} if history is None else records.earliest(table, after)
        streams.append(None if history is None else replace(history, earliest=earliest))
    graph = records.graph_epochs if reads_graph else ()
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


def settled_until(records: StreamRecords, windowing: Windowing) -> int | None:
    """An instant before which no later leg begins; None if nothing is settled.

    Args:
        records: of the streams of the query.
        windowing: the windows of the query, which is maintained up to the newest epoch.
    """
    horizon = records.horizons(windowing).horizon(records.last)
    if horizon is None:
        return None
    found = [horizon - windowing.corrects_back]
    for name in streams_of(windowing):
        frontier = records.frontiers.at(name, records.last)
        assert frontier is not None, "there is a horizon"
        found.append(frontier - records.lateness(name))
    for each in windowing.upstreams:
        settled = settled_until(records, each.windowing)
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


def _instant(time: datetime | None) -> int | None:
    """Microseconds since 1970; a time of the lake is in UTC."""
    if time is None:
        return None
    return microseconds(time if time.tzinfo else time.replace(tzinfo=UTC))
