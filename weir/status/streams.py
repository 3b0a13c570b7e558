"""How far each stream is complete, and up to which instant answers over streams are final."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from weir.errors import ConfigurationError
from weir.lake.delta.metadata import Metadata
from weir.lake.instants import time_at
from weir.lake.tables import EMBEDDINGS
from weir.progress.backlog import HORIZON, unknown_instants
from weir.progress.completion import Completion
from weir.progress.streams import (
    DeletedEvents,
    Frontiers,
    StreamRows,
    deleted_events,
    stream_names,
    stream_rows,
)
from weir.project import open_lake
from weir.settings import Settings

if TYPE_CHECKING:
    from weir.definitions.definition import Definition
    from weir.timeline.horizons import Horizons


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """How far a stream is complete.

    Attributes:
        epoch: its newest epoch; None before the first.
        frontier: the time before which no event is expected; None before the first event.
        age: how long ago the frontier was.
        rows: the number of stored events.
        late: the number of events that were not stored, as they came too late or too early.
        early: the number of those that were dated too far ahead.
        deleted_before: events before this time have been deleted; None if none have.
    """

    stream: str
    epoch: int | None
    frontier: datetime | None
    age: timedelta | None
    rows: int
    late: int
    early: int
    deleted_before: datetime | None = None


@dataclass(frozen=True, slots=True)
class StreamAnswer:
    """The published answer of a query over streams, and how far it is final.

    Attributes:
        horizons: by epoch, the last instant that is final.
        published: the epoch up to which the answer is published.
        decided_by: the stream whose frontier determines the horizon; None if the query was removed
            or edited since.
        unknown: the instants [since, until) at which the answer is unknown, as events had been
            deleted before it was evaluated.
    """

    horizons: Horizons
    published: int
    decided_by: str | None
    unknown: Sequence[Sequence[int]]

    @property
    def final_to(self) -> datetime | None:
        """The last instant that is final."""
        horizon = self.horizons.at(self.published)
        return None if horizon is None else time_at(horizon)

    def is_correction(self, epoch: int, time: datetime | None) -> bool:
        """Whether the answer at a time had been final before an epoch, which then corrects it."""
        before = self.horizons.at(epoch - 1)
        return before is not None and time is not None and time <= time_at(before)


def stream_answer(
    completion: Completion, frontiers: Frontiers, query: str, registered: Definition | None
) -> StreamAnswer | None:
    """The published answer of a query; None if there is none, or if the query reads no stream.

    Args:
        completion: of the lake.
        frontiers: of its streams.
        query: the name of the query.
        registered: its present declaration; None if it is broken or removed.
    """
    published, source = completion.published(query), _published_from(completion, query)
    if published is None or source is None or HORIZON not in source.extra:
        return None
    from weir.timeline.axis import Instants
    from weir.timeline.horizons import Horizons, slowest_stream

    lake, epoch, unknown = completion.lake, published.epoch, unknown_instants(published.metadata)
    if registered is None or registered.fingerprint != source.fingerprint:
        return StreamAnswer(Horizons.recorded(lake, query), epoch, None, unknown)
    axis = registered.axis
    assert isinstance(axis, Instants), "it has a horizon"
    horizons = Horizons.read(lake, axis, frontiers)
    return StreamAnswer(horizons, epoch, slowest_stream(axis, frontiers, epoch), unknown)


def is_over_streams(completion: Completion, query: str) -> bool:
    """Whether a query has a published answer that was computed over streams."""
    source = _published_from(completion, query)
    return source is not None and HORIZON in source.extra


def stream_statuses(settings: Settings) -> list[StreamStatus]:
    """The status of each stream that is declared or has a table, by name."""
    lake = open_lake(settings)
    frontiers, rows = Frontiers.read(lake), stream_rows(lake)
    names = {*_declared(settings), *stream_names(lake), *frontiers.streams}
    return [_status(name, frontiers, rows, deleted_events(lake, name)) for name in sorted(names)]


def _status(
    name: str,
    frontiers: Frontiers,
    rows: Mapping[str, StreamRows],
    deleted: DeletedEvents | None,
) -> StreamStatus:
    epoch, frontier = frontiers.streams.get(name, ((None, None),))[-1]
    counted = rows.get(name, StreamRows(0, 0, 0))
    time = None if frontier is None else time_at(frontier)
    age = None if time is None else datetime.now(UTC) - time
    stored, before = counted.rows, None
    if deleted is not None:
        stored, before = stored - deleted.rows, time_at(deleted.before)
    return StreamStatus(name, epoch, time, age, stored, counted.late, counted.early, before)


def _declared(settings: Settings) -> list[str]:
    """The names of the declared streams; none if the file of sources is wrong."""
    from weir.ingest.sources.declared import load_sources

    try:
        sources = load_sources(settings.sources)
    except ConfigurationError:
        return []
    return [source.name for source in sources if source.stream is not None]


def _published_from(completion: Completion, query: str) -> Metadata | None:
    """The metadata of the commit of maintain whose rows were published last."""
    published, maintained = completion.published(query), completion.maintained(query)
    if published is None or maintained is None:
        return None
    version = published.metadata.extra["embeddings_version"]
    if maintained.version == version:
        return maintained.metadata
    for commit in completion.lake.commits(EMBEDDINGS.name(query)):
        if commit["version"] == version:
            return Metadata.from_json(commit.get("userMetadata"))
    return None
