"""The pending change sets of the sources, and how they are divided into batches."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import accumulate, groupby
from typing import TypeAlias

from weir.compute.placement import Placement
from weir.errors import WeirError
from weir.ingest.changesets import ChangeSet, SourcePosition, Waiting
from weir.ingest.endings import after_ending, is_ending
from weir.ingest.epochs import Transaction
from weir.ingest.numbered_names import left_out
from weir.ingest.sources.errors import SourceError, errors_of
from weir.ingest.sources.source import Source
from weir.lake.lake import Lake
from weir.lake.tables import TRANSACTIONS
from weir.progress.streams import stream_names
from weir.project import Project
from weir.settings import Limits


def source_positions(lake: Lake) -> Mapping[str, SourcePosition]:
    """How far each source is ingested, by `transactions`; from the beginning for a new source.

    All positions are read: a folder of files is compared with them, so that a file that appears
    among earlier ones is noticed.
    """
    if not lake.exists(TRANSACTIONS.name):
        return _advanced({}, ())
    version = lake.version(TRANSACTIONS.name)
    known = lake.derived(TRANSACTIONS.name)
    if isinstance(known, _Read) and known.version == version:
        return known.positions
    columns = [
        "epoch",
        "source",
        "position",
        "change_id",
        "ingested_at",
        "inserted",
        "deleted",
    ]
    rows = lake.rows(TRANSACTIONS.name, columns).sort_by("epoch").to_pylist()
    positions = _advanced({}, [tuple(row[name] for name in columns[1:]) for row in rows])
    lake.derive(TRANSACTIONS.name, _Read(version, positions))
    return positions


@dataclass(frozen=True, slots=True)
class _Read:
    """The positions by a version of `transactions`."""

    version: int | None
    positions: Mapping[str, SourcePosition]


def positions_after(
    positions: Mapping[str, SourcePosition], transactions: Iterable[Transaction]
) -> Mapping[str, SourcePosition]:
    """How far each source is ingested after further transactions, in the order of their epochs."""
    return _advanced(
        positions,
        [
            (t.source, t.position, t.change_id, t.ingested_at, t.inserted, t.deleted)
            for t in transactions
        ],
    )


_Step: TypeAlias = tuple[str, str | None, str | None, datetime, int, int]
"""Source, position, change id, time of ingest, quads inserted and deleted."""


def _advanced(
    positions: Mapping[str, SourcePosition], steps: Iterable[_Step]
) -> Mapping[str, SourcePosition]:
    """`positions` after further steps."""
    advanced = positions
    for is_end, some in groupby(steps, lambda step: is_ending(step[1])):
        if is_end:
            for source, position, _, ingested_at, *_ in some:
                advanced = after_ending(advanced, source, str(position), ingested_at)
        else:
            advanced = _continued(advanced, some)
    return defaultdict(SourcePosition, advanced)


def _continued(
    positions: Mapping[str, SourcePosition], steps: Iterable[_Step]
) -> Mapping[str, SourcePosition]:
    """`positions` after steps that end no name."""
    new: dict[str, list[str]] = defaultdict(list)
    last_ids: dict[str, str | None] = {}
    times: dict[str, datetime] = {}
    quads: Counter[str] = Counter()
    for source, position, change_id, ingested_at, inserted, deleted in steps:
        quads[source] += inserted - deleted
        times[source] = ingested_at
        # Where only time passed, the source is where it was.
        if position is not None:
            new[source].append(position)
            last_ids[source] = change_id
    continued = defaultdict(SourcePosition, positions)
    for source, ingested_at in times.items():
        before = continued[source]
        last_id = last_ids.get(source, before.last_id)
        continued[source] = replace(
            before,
            positions=(*before.positions, *new[source]),
            last_id=last_id,
            ingested_at=ingested_at,
            quads=before.quads + quads[source],
        )
    return continued


@dataclass(frozen=True, slots=True)
class PendingChangeSets:
    """The pending change sets, source by source; why some sources have none, and others not all.

    unread: by name of the source, how many files beside them are not read, and why.
    missing: by name of the source, which change sets seem to be missing before them.
    """

    change_sets: list[ChangeSet]
    errors: dict[str, WeirError]
    waiting: dict[str, Waiting]
    unread: dict[str, str]
    missing: dict[str, str] = field(default_factory=dict)


def pending_change_sets(
    project: Project,
    sources: Sequence[Source],
    consumed: Mapping[str, SourcePosition],
) -> PendingChangeSets:
    """What is pending of the sources; of a source nothing from the first change set that waits."""
    queue: list[ChangeSet] = []
    errors: dict[str, WeirError] = {}
    waiting: dict[str, Waiting] = {}
    unread: dict[str, str] = {}
    missing: dict[str, str] = {}
    streams = stream_names(project.lake)
    for declared in sources:
        source = declared.called_first(consumed[declared.name].first_name)
        try:
            with errors_of(source):
                position = consumed[source.name]
                if position.ended is not None:
                    raise _ended(source, position.ended)
                if position.positions:
                    _refuse_turned(source, is_stream=source.name in streams)
                new = source.pending(position, project)
                gap = _gap(source, position, new)
                if gap is not None:
                    missing[source.name] = gap
                for change_set in new:
                    if change_set.waits is not None:
                        waiting[source.name] = Waiting(change_set.position, change_set.waits)
                        break
                    queue.append(change_set)
        except WeirError as error:
            errors[source.name] = error
        if source.unread is not None:
            unread[source.name] = source.unread
    return PendingChangeSets(queue, errors, waiting, unread, missing)


def _gap(source: Source, position: SourcePosition, new: Sequence[ChangeSet]) -> str | None:
    """Which change sets seem to be missing before the new ones of a source; None if none.

    Of states the newest is all that counts, events come in any order, and where the last change set
    has an id, the next one names it.
    """
    if not new or not source.is_chain or position.last_id is not None:
        return None
    ingested = [name for name in position.positions if name not in source.unnumbered]
    return left_out(ingested, new[0].position)


def _refuse_turned(source: Source, *, is_stream: bool) -> None:
    """Refuse a source that was ingested as a part of the graph, and is a stream now, or conversely.

    Raises:
        SourceError: it is one.
    """
    if is_stream != (source.stream is not None):
        before, now = ("events", "changes") if is_stream else ("changes", "events")
        raise SourceError(
            f"source {source.name}: it was ingested as {before}, and is declared to give {now}",
            source.location,
            "Declare it under another name: what is ingested is not read again.",
        )


def _ended(source: Source, ended: str) -> SourceError:
    return SourceError(
        f"source {source.name}: the name cannot be used again: {ended}",
        source.location,
        "Declare it under another name; then it is read from the beginning.",
    )


def next_batch(queue: list[ChangeSet], limits: Limits) -> tuple[list[ChangeSet], list[ChangeSet]]:
    """The next batch, and the rest.

    A stream is in batches of its own. Files and foreign tables, which may need Spark, are in
    batches apart; of files there are as many as the driver may parse, if it may parse the first.
    """
    in_files = [bool(change_set.documents) for change_set in queue]
    sizes = accumulate(sum(file.size for file in change_set.documents) for change_set in queue)
    fits = [*map(Placement.of(limits).parses, sizes)]
    length = 0
    for index in range(min(len(queue), limits.batch_epochs)):
        if in_files[index] != in_files[0] or fits[index] != fits[0]:
            break
        if _stream_of(queue[index]) != _stream_of(queue[0]):
            break
        length = index + 1
    return queue[:length], queue[length:]


def _stream_of(change_set: ChangeSet) -> str | None:
    """The stream that a change set is of, None if it is of the graph."""
    source = change_set.source
    return None if source.stream is None else source.name
