"""How far each stream is complete: its frontier at each epoch, its events, deleted events."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import STREAM_EPOCHS, STREAMS
from weir.progress.watermarks import head


@dataclass(frozen=True, slots=True)
class StreamRows:
    """The numbers of stored and of late events of a stream; late ones include the `early` ones."""

    rows: int
    late: int
    early: int


@dataclass(frozen=True, slots=True)
class Frontiers:
    """The recorded frontiers of every stream: (epoch, frontier), in the order of epochs."""

    streams: Mapping[str, tuple[tuple[int, int | None], ...]]

    @classmethod
    def read(cls, lake: Lake) -> Self:
        """The frontiers up to the newest epoch; kept with the lake, as every query reads them."""
        if not lake.exists(STREAM_EPOCHS.name):
            return cls({})
        state = lake.version(STREAM_EPOCHS.name), head(lake)
        known: tuple[object, Self] | None = lake.derived(STREAM_EPOCHS.name)
        if known is not None and known[0] == state:
            return known[1]
        read = cls._up_to(lake, state[1])
        lake.derive(STREAM_EPOCHS.name, (state, read))
        return read

    @classmethod
    def _up_to(cls, lake: Lake, last: int) -> Self:
        names = ["epoch", "stream", "frontier"]
        rows = lake.rows(STREAM_EPOCHS.name, names, [("epoch", "<=", last)])
        by_stream: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
        for row in rows.sort_by("epoch").to_pylist():
            by_stream[row["stream"]].append((row["epoch"], row["frontier"]))
        return cls({name: tuple(epochs) for name, epochs in by_stream.items()})

    def at(self, stream: str, epoch: int) -> int | None:
        """The frontier of a stream after an epoch of any source; None before its first event."""
        epochs = self.streams.get(stream, ())
        before = bisect_right(epochs, epoch, key=lambda recorded: recorded[0])
        return epochs[before - 1][1] if before else None


@dataclass(frozen=True, slots=True)
class EpochBounds:
    """The instants that ingest accepted in an epoch of a stream: those in [starts, latest]."""

    epoch: int
    starts: int | None
    latest: int


def epoch_bounds(lake: Lake, name: str, from_epoch: int, to_epoch: int) -> tuple[EpochBounds, ...]:
    """The bounds of the epochs (from_epoch, to_epoch] of a stream, from the commits of ingest."""
    bounds: list[EpochBounds] = []
    for commit in lake.commits(STREAMS.name(name)):
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is None or metadata.job != "ingest":
            continue
        if metadata.watermark <= from_epoch:
            break
        extra = metadata.extra
        bounds += [
            EpochBounds(row["epoch"], extra["starts"], extra["latest"])
            for row in extra["stream_epochs"]
        ]
    return tuple(bound for bound in bounds if from_epoch < bound.epoch <= to_epoch)


def first_instant(lake: Lake, name: str) -> int | None:
    """The first instant of a stream, which never changes; None before its first event."""
    last = lake.last_metadata(STREAMS.name(name), job="ingest")
    return None if last is None else last[1].extra["starts"]


def accepted_lateness(lake: Lake, name: str) -> int:
    """The lateness (microseconds before the frontier) with which a stream was last ingested."""
    last = lake.last_metadata(STREAMS.name(name), job="ingest")
    return 0 if last is None else int(last[1].extra["lateness"])


@dataclass(frozen=True, slots=True)
class DeletedEvents:
    """The deleted events of a stream: all of instants before `before`, `rows` in number."""

    before: int
    rows: int

    @classmethod
    def from_json(cls, extra: Mapping[str, Any]) -> Self | None:
        """The inverse of `to_json`; None for a stream of which nothing was deleted."""
        before = extra.get("deleted_before")
        return None if before is None else cls(before, extra["deleted_rows"])

    def to_json(self) -> dict[str, Any]:
        """For the metadata of the deleting commit, and of every later one of the stream."""
        return {"deleted_before": self.before, "deleted_rows": self.rows}


def deleted_events(lake: Lake, name: str) -> DeletedEvents | None:
    """The deleted events of a stream in the opened version of its table; None if there are none."""
    last = lake.last_metadata(STREAMS.name(name))
    return None if last is None else DeletedEvents.from_json(last[1].extra)


def stream_rows(lake: Lake) -> Mapping[str, StreamRows]:
    """How many events each stream has."""
    if not lake.exists(STREAM_EPOCHS.name):
        return {}
    names = ["stream", "rows", "late", "early"]
    rows = lake.rows(STREAM_EPOCHS.name, names, [("epoch", "<=", head(lake))])
    sums = rows.group_by("stream").aggregate([(name, "sum") for name in names[1:]])
    return {
        row["stream"]: StreamRows(row["rows_sum"], row["late_sum"], row["early_sum"])
        for row in sums.to_pylist()
    }


def stream_names(lake: Lake) -> tuple[str, ...]:
    """The streams that have a table."""
    return tuple(lake.owners(STREAMS))
