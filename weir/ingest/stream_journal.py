"""The order in which epochs of a stream are committed, and what a run does after one that died.

    rejected, source_files, late, streams/<name>, stream_epochs, transactions

As for the graph, an epoch exists once `transactions` names it. The metadata of the commit of
`streams/<name>`, which is made for an epoch without events too, has the rows of both later tables:

* died before it: nothing has an epoch yet. Rejected rows and files are found written; rows of
  `late` are of epochs that do not exist, and are deleted. The change sets are ingested again.
* died after it: the later tables are written as they were meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from weir.compute.engine import Engine
from weir.compute.sql import (
    alias,
    column,
    columns,
    is_not_null,
    is_null,
    rows_of,
    select,
    small_number,
    text,
)
from weir.ingest.journal import Journal, Transaction, append, newest_of_ingest
from weir.ingest.lateness import StreamState
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import LATE, STREAM_EPOCHS, STREAMS, stream
from weir.lake.upkeep.row_deletion import delete_later_rows
from weir.progress.streams import DeletedEvents, deleted_events, stream_names
from weir.progress.watermarks import head


@dataclass(frozen=True, slots=True)
class StreamEpoch:
    """A row of `stream_epochs`."""

    epoch: int
    stream: str
    frontier: int | None
    rows: int
    late: int
    early: int
    run_id: str


@dataclass(frozen=True, slots=True)
class StreamEpochs:
    """Epochs of one stream, in order, with what their commit says of them.

    starts: first instant of the stream, None before its first event. latest: last instant that was
    not too early when they were ingested. lateness: for how many microseconds before the frontier
    events were taken. deleted: what had been deleted of the stream before; it stays in the newest
    commit.
    """

    transactions: Sequence[Transaction]
    epochs: Sequence[StreamEpoch]
    starts: int | None
    latest: int
    lateness: int
    deleted: DeletedEvents | None = None

    @property
    def stream(self) -> str:
        """The name of the stream."""
        return self.epochs[0].stream

    @property
    def until(self) -> int:
        """The last epoch."""
        return self.epochs[-1].epoch

    def to_json(self) -> dict[str, Any]:
        """JSON values, for the metadata of the commit."""
        return {
            "transactions": [each.to_json() for each in self.transactions],
            "stream_epochs": [asdict(each) for each in self.epochs],
            "starts": self.starts,
            "latest": self.latest,
            "lateness": self.lateness,
            **({} if self.deleted is None else self.deleted.to_json()),
        }

    @classmethod
    def of(cls, metadata: Metadata) -> StreamEpochs:
        """The epochs of a commit."""
        extra = metadata.extra
        return cls(
            tuple(Transaction.from_json(row) for row in extra["transactions"]),
            tuple(StreamEpoch(**row) for row in extra["stream_epochs"]),
            extra["starts"],
            extra["latest"],
            extra["lateness"],
            DeletedEvents.from_json(extra),
        )


def stream_state(lake: Lake, name: str) -> StreamState:
    """How far a stream is, by its newest commit."""
    last = newest_of_ingest(lake, STREAMS.name(name))
    if last is None:
        return StreamState()
    epochs = StreamEpochs.of(last)
    return StreamState(epochs.starts, epochs.epochs[-1].frontier, deleted_events(lake, name))


def unfinished_epochs(lake: Lake, declared: Iterable[str]) -> StreamEpochs | None:
    """The epochs of the batch of a stream whose events are committed, but which do not exist yet.

    Args:
        lake: which holds the tables.
        declared: names of streams beside those that the lake knows.
    """
    newest = head(lake)
    for name in sorted({*declared, *stream_names(lake)}):
        last = newest_of_ingest(lake, STREAMS.name(name))
        if last is not None and last.watermark > newest:
            return StreamEpochs.of(last)
    return None


class StreamJournal:
    """The tables of streams that ingest writes, for one run."""

    def __init__(self, lake: Lake, journal: Journal) -> None:
        self._lake, self._journal = lake, journal

    def state(self, name: str) -> StreamState:
        """How far a stream is."""
        return stream_state(self._lake, name)

    def quarantine(self, engine: Engine, name: str, events: str, until: int, count: int) -> None:
        """Commit the events of a stream that it does not take.

        Args:
            engine: knows the relations.
            name: of the stream.
            events: the relation of `lateness.events`.
            until: the last epoch of the batch.
            count: how many there are.
        """
        names = [each for each in LATE.column_names if each not in ("stream", "run_id")]
        late = select(
            *columns(names),
            alias(text(name), "stream"),
            from_=rows_of(events),
            where=[is_not_null(column("reason"))],
        )
        metadata = self._journal.metadata(until)
        append(engine, LATE, self._journal.signed(late), metadata, count)

    def commit(self, engine: Engine, events: str, found: StreamEpochs) -> None:
        """Commit the events of some epochs that the stream takes, then the epochs themselves."""
        table = stream(found.stream)
        names = [each for each in table.column_names if each != "weight"]
        taken = select(
            *columns(names),
            alias(small_number(1), "weight"),
            from_=rows_of(events),
            where=[is_null(column("reason"))],
        )
        metadata = self._journal.metadata(found.until, **found.to_json())
        append(engine, table, taken, metadata, sum(each.rows for each in found.epochs))
        self.finish(found)

    def commit_without_events(self, found: StreamEpochs) -> None:
        """Commit epochs in which only time passed."""
        metadata = self._journal.metadata(found.until, **found.to_json())
        write(self._lake, stream(found.stream), [], metadata)
        self.finish(found)

    def finish(self, found: StreamEpochs) -> None:
        """Commit what is missing of epochs whose events are committed."""
        last = newest_of_ingest(self._lake, STREAM_EPOCHS.name)
        if last is None or last.watermark < found.until:
            rows = [asdict(each) for each in found.epochs]
            write(self._lake, STREAM_EPOCHS, rows, self._journal.metadata(found.until))
        self._journal.conclude(found.transactions)

    def discard_late(self) -> None:
        """Delete the rows of `late` that a run wrote for epochs that it did not commit."""
        newest, last = self._journal.head(), newest_of_ingest(self._lake, LATE.name)
        if last is not None and last.watermark > newest:
            delete_later_rows(self._lake, LATE.name, newest, self._journal.metadata(newest))
