"""Which events of streams can be deleted: those older than `keep` that nothing needs.

If a source declares `keep` for its stream, events before `frontier - keep` can be deleted, except:

* events within `lateness` of the frontier, so that ingest accepts no event older than those kept;
* events of epochs that are not validated: validation counts them;
* events that a present or later leg of a registered query reads: those within the look-back of its
  windows before the earliest instant at which a leg may begin. Legs whose rows are not published
  count as present: if a check of their rows fails, they are computed again.

A query that the next run computes from nothing (it is new, edited, or to be rebuilt) needs all
events. So may a query whose file has an error, and one that was removed and not dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.sql import column, number, rows_of, select
from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.engine.relations import BEFORE_ALL
from weir.engine.windows import LastElements
from weir.lake.tables import STREAMS
from weir.lake.upkeep.earlier_rows import may_have_earlier_rows
from weir.progress.backlog import HORIZON, LaterStart
from weir.progress.completion import Completion
from weir.progress.streams import Frontiers, accepted_lateness
from weir.progress.watermarks import Watermark
from weir.timeline.axis import Instants
from weir.timeline.completeness import settled_until
from weir.timeline.reading import open_events, read_timeline
from weir.timeline.retention import needed_elements, needed_from
from weir.timeline.stream_names import stream_name, streams_of
from weir.timeline.windows import windows_of


@dataclass(frozen=True, slots=True)
class StreamRule:
    """The declaration of a stream; durations in microseconds.

    keep: how long events are needed; None: without end. lateness: how late events may arrive.
    """

    keep: int | None
    lateness: int


@dataclass(frozen=True, slots=True)
class OldEvents:
    """The events of a stream that are older than `keep`.

    Attributes:
        stream: its name.
        older_than: the instant `frontier - keep`.
        before: the events before this instant can be deleted.
        held_by: what needs the other old events; None if all can be deleted.
    """

    stream: str
    older_than: int
    before: int
    held_by: str | None


@dataclass(frozen=True, slots=True)
class Reader:
    """A registered query over streams, and the state that the next run continues from.

    stored: the watermark of its embeddings; None if it is computed from nothing.
    """

    query: Definition
    stored: Watermark | None


@dataclass(frozen=True, slots=True)
class _Hold:
    """The events since `instant` are needed by `by`."""

    instant: int
    by: str


def old_events(
    engine: Engine,
    completion: Completion,
    catalog: Catalog,
    readers: Iterable[Reader],
    rules: Mapping[str, StreamRule],
) -> list[OldEvents]:
    """The old events of each stream that declares `keep` and has any.

    Args:
        engine: reads events.
        completion: of the lake.
        catalog: what is declared.
        readers: the registered queries over streams.
        rules: by name of the stream.
    """
    lake, frontiers = completion.lake, Frontiers.read(completion.lake)
    older_than: dict[str, int] = {}
    for name, rule in rules.items():
        frontier = frontiers.at(name, completion.head)
        if rule.keep is None or frontier is None:
            continue
        oldest = frontier - rule.keep
        if may_have_earlier_rows(lake, STREAMS.name(name), "instant", oldest):
            older_than[name] = oldest
    if not older_than:
        return []
    lateness = {name: rule.lateness for name, rule in rules.items()}
    unreadable = [*_unreadable(completion, catalog)]
    by_readers: dict[str, list[_Hold]] = {name: [] for name in older_than}
    for reader in readers:
        with engine.scope() as own:
            needed = _needed(own, completion, reader, lateness)
        for name, instant in needed.items():
            if name in by_readers:
                by_readers[name].append(
                    _Hold(instant, f"the {reader.query.kind.name} {reader.query.name}")
                )
    old = []
    for name, oldest in older_than.items():
        frontier = frontiers.at(name, completion.head)
        assert frontier is not None, "it has old events"
        longest = max(lateness[name], accepted_lateness(lake, name))
        holds = [
            _Hold(frontier - longest, "its `lateness`"),
            *_not_validated(engine, completion, name),
            *by_readers[name],
            *unreadable,
        ]
        first = min(holds, key=lambda hold: hold.instant)
        held_by = first.by if first.instant < oldest else None
        old.append(OldEvents(name, oldest, min(first.instant, oldest), held_by))
    return old


def _unreadable(completion: Completion, catalog: Catalog) -> Iterator[_Hold]:
    """The holds of queries whose needed events are unknown: they need all."""
    for name in catalog.errors:
        yield _Hold(BEFORE_ALL, f"the file of {name}, which has an error")
    for name in stored_over_streams_without_file(completion, catalog):
        if name not in catalog.errors:
            yield _Hold(BEFORE_ALL, f"{name}, whose file is gone (`weir drop {name}` ends this)")


def stored_over_streams_without_file(completion: Completion, catalog: Catalog) -> Iterator[str]:
    """The names of queries over streams with embeddings, whose file has an error or is gone."""
    usable = {query.name for query in catalog.members}
    for name in sorted(completion.last_maintenance.keys() - usable):
        stored = completion.maintained(name)
        if stored is not None and HORIZON in stored.metadata.extra:
            yield name


def _not_validated(engine: Engine, completion: Completion, name: str) -> Iterator[_Hold]:
    """The hold of epochs that are not validated yet."""
    validated, lake = completion.graph_validated_to, completion.lake
    if validated >= completion.head:
        return
    later = column("epoch") > number(validated)
    events = open_events(engine, lake, f"new_{name}", name, completion.head, later)
    first = select(exp.Min(this=column("instant")), from_=rows_of(events))
    ((instant,),) = engine.rows(first)
    if instant is not None:
        by = f"the epochs after {validated}, which are not validated"
        yield _Hold(int(str(instant)), by)


def _needed(
    engine: Engine, completion: Completion, reader: Reader, lateness: Mapping[str, int]
) -> Mapping[str, int]:
    """By stream of a query, the first instant whose events it needs."""
    lake, last, query = completion.lake, completion.head, reader.query
    axis, published = query.axis, completion.published(query.name)
    assert isinstance(axis, Instants), "it reads streams"
    everything = dict.fromkeys(streams_of(axis), BEFORE_ALL)
    if reader.stored is None or published is None:
        return everything
    after = min(reader.stored.epoch, published.epoch)
    start = LaterStart.from_json(reader.stored.metadata.extra)
    timeline = read_timeline(
        engine,
        lake,
        axis,
        reads_graph=bool(query.logs),
        after=after,
        last=last,
        begins=None if start is None else start.begins,
    )
    low = settled_until(lake, axis, last, lateness)
    if low is None:
        return everything
    low = min([low, *(leg.low for leg in timeline.legs(after, last))])
    needed: dict[str, int] = {}
    windows = windows_of(axis)
    for clause in axis.windows:
        if axis.upstream(clause.stream) is not None:
            continue
        name, window = stream_name(clause.stream), windows[clause.name]
        if isinstance(window, LastElements):
            with engine.scope() as own:
                events = open_events(own, lake, f"elements_{name}", name, last)
                rows = own.rows(needed_elements(events, window, low, after))
            instant = next((int(str(first)) for (first,) in rows), BEFORE_ALL)
        else:
            instant = needed_from(window, low)
        needed[name] = min(instant, needed.get(name, instant))
    return needed
