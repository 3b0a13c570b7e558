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
from lake.tables import TRANSACTIONS, stream


def stream_name(iri: str) -> str:
    """The name of the stream that an IRI of a window clause means; N-Triples form."""
    return iri.removeprefix(f"<{STREAM_IRI}").removesuffix(">")


def streams_of(windowing: Windowing) -> Mapping[str, str]:
    """The names of the streams that a query reads, with their IRIs in N-Triples form."""
    return {stream_name(each.stream): each.stream for each in windowing.windows}


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

    def _history(self, name: str) -> StreamHistory | None:
        return stream_history(self._lake, name, self.frontiers, self.last)

    def _earliest(self, name: str, after: int) -> Mapping[int, int]:
        """The first instant of each epoch of a stream after an epoch, of those with events."""
        relation = f"arrived_{name}"
        first = select(
            column("epoch"),
            alias(exp.Min(this=column("instant")), "instant"),
            from_=rows_of(relation),
            where=[column("epoch") <= number(self.last)],
            group_by=[column("epoch")],
        )
        with self._engine() as engine:
            engine.open(relation, stream(name).name, where=column("epoch") > number(after))
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
    streams = []
    for name in streams_of(windowing):
        history = records.history(name)
        # A stream without history has no table.
        earliest = {} if history is None else records.earliest(name, after)
        streams.append(None if history is None else replace(history, earliest=earliest))
    graph = records.graph_epochs if reads_graph else ()
    return Timeline.of([*windows_of(windowing).values()], streams, graph, windowing.corrects_back)


def settled_until(records: StreamRecords, windowing: Windowing, timeline: Timeline) -> int | None:
    """An instant before which no later leg begins; None if nothing is settled.

    Args:
        records: of the streams of the query.
        windowing: the windows of the query.
        timeline: of the query, which is maintained up to the newest epoch.
    """
    horizon = timeline.horizon(records.last)
    if horizon is None:
        return None
    found = [horizon - windowing.corrects_back]
    for name in streams_of(windowing):
        frontier = records.frontiers.at(name, records.last)
        assert frontier is not None, "there is a horizon"
        found.append(frontier - records.lateness(name))
    return min(found) - 2


def stream_history(
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


def _instant(time: datetime | None) -> int | None:
    """Microseconds since 1970; a time of the lake is in UTC."""
    if time is None:
        return None
    return microseconds(time if time.tzinfo else time.replace(tzinfo=UTC))
