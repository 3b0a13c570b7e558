"""Epochs as ingest writes them: rows of `transactions` and `stream_epochs`, and as JSON.

The commit that begins the epochs of a batch has them in its metadata, so that a later run can
finish what one that died had begun.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self

from weir.lake.delta.metadata import Metadata
from weir.progress.streams import DeletedEvents

_TIMES = ("event_time", "ingested_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """A row of `transactions`, but for the versions of the commits that hold the epoch.

    position: None if only time passed in a stream.
    """

    epoch: int
    source: str
    position: str | None
    change_id: str | None = None
    event_time: datetime | None = None
    ingested_at: datetime
    inserted: int = 0
    deleted: int = 0
    rejected: int = 0
    run_id: str

    def to_json(self) -> dict[str, Any]:
        """JSON values, as they stand in the metadata of the commit that begins the epoch."""
        row = asdict(self)
        return row | {name: row[name] and row[name].isoformat() for name in _TIMES}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """The transaction that `to_json` wrote down."""
        times = {name: row[name] and datetime.fromisoformat(row[name]) for name in _TIMES}
        return cls(**{**row, **times})


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

    def to_json(self) -> dict[str, Any]:
        """JSON values, for the metadata of the commit."""
        return {
            "transactions": [transaction.to_json() for transaction in self.transactions],
            "stream_epochs": [asdict(epoch) for epoch in self.epochs],
            "starts": self.starts,
            "latest": self.latest,
            "lateness": self.lateness,
            **({} if self.deleted is None else self.deleted.to_json()),
        }

    @classmethod
    def of(cls, metadata: Metadata) -> Self:
        """The epochs of a commit."""
        extra = metadata.extra
        return cls(
            transactions_of(metadata),
            tuple(StreamEpoch(**row) for row in extra["stream_epochs"]),
            extra["starts"],
            extra["latest"],
            extra["lateness"],
            DeletedEvents.from_json(extra),
        )


def transactions_of(metadata: Metadata) -> tuple[Transaction, ...]:
    """The transactions of the epochs that a commit begins."""
    return tuple(Transaction.from_json(row) for row in metadata.extra["transactions"])
