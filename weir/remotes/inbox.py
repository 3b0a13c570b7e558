"""The inbox of a remote: a table with a commit per round.

What a commit says of itself (its *mark*) is all that the next evaluation and ingest need of the
rounds before it, so that neither reads the history.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

import pyarrow as pa
import pyarrow.dataset as ds

from weir.lake.delta.appended import NotAppended, appended_rows, commit_digest
from weir.lake.delta.commit import arrow_schema, write
from weir.lake.delta.metadata import Metadata
from weir.lake.instants import microseconds, time_at
from weir.lake.lake import Lake
from weir.lake.tables import Table

if TYPE_CHECKING:
    from dataclasses import Field

JOB: Literal["refresh"] = "refresh"
_TIMES = ("evaluation", "measured_at", "not_before")
"""Columns of `freshness` that are instants in a mark."""


def in_mark(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `freshness` as a mark has it: JSON values."""
    return {
        name: microseconds(value) if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def from_mark(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `freshness` that a mark has."""
    return {
        name: time_at(value) if name in _TIMES and value is not None else value
        for name, value in row.items()
    }


class RoundOfInbox(Protocol):
    """What the mark of any round has; its class is a dataclass of plain values.

    round: its number, from 1. changed_round: the newest round up to this one that changes the
    graph; 0 if none does. changed_before: the newest one before this one; 0 if there is none.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def round(self) -> int: ...
    @property
    def changed_round(self) -> int: ...
    @property
    def changed_before(self) -> int: ...
    @classmethod
    def of(cls, metadata: Metadata) -> Self: ...


Mark = TypeVar("Mark", bound=RoundOfInbox)


@dataclass(frozen=True, slots=True)
class Stored(Generic[Mark]):
    """A round and the version of the inbox that holds it."""

    version: int
    mark: Mark


@dataclass(frozen=True, slots=True)
class Inbox(Generic[Mark]):
    """Where the rounds of a remote are.

    Attributes:
        table: has a column `round`.
        mark: what its commits say of themselves.
        summary: the newest rows of the table up to a version of it; it can be deleted.
        summary_format: increased when a summary keeps other rows than before: earlier ones are
            then unused.
    """

    table: Table
    mark: type[Mark]
    summary: Table
    summary_format: int

    def rounds(self, lake: Lake) -> Iterator[Stored[Mark]]:
        """The rounds whose commits the log still has, the newest first."""
        for commit in lake.commits(self.table.name):
            metadata = Metadata.from_json(commit.get("userMetadata"))
            if metadata is not None and metadata.job == JOB:
                yield Stored(int(commit["version"]), self.mark.of(metadata))

    def last(self, lake: Lake) -> Stored[Mark] | None:
        """The newest round; None before the first one."""
        return next(self.rounds(lake), None)

    def append(
        self, lake: Lake, mark: Mark, rows: Sequence[Mapping[str, Any]], run_id: str
    ) -> None:
        """Commit a round: from here on it has happened."""
        metadata = Metadata(run_id, JOB, watermark=mark.round, extra=asdict(mark))
        write(lake, self.table, rows, metadata, merge_schema=True)

    def changed(self, lake: Lake, after: int) -> list[Stored[Mark]]:
        """The rounds after the round `after` that change the graph, the oldest first.

        No more commits are read than there are since the first of them.
        """
        changed = []
        for stored in self.rounds(lake):
            mark = stored.mark
            if mark.changed_round <= after:
                break
            if mark.changed_round == mark.round:
                changed.append(stored)
                if mark.changed_before <= after:
                    break
        return changed[::-1]

    def rows_of(self, lake: Lake, stored: Stored[Mark]) -> pa.Table:
        """The rows of a round."""
        version = stored.version
        try:
            return appended_rows(
                lake, self.table.name, version - 1, version, arrow_schema(self.table)
            )
        except NotAppended:
            # Its file is gone since its rows were merged with others.
            rows = lake.existing(self.table.name).to_pyarrow_dataset()
            return rows.to_table(filter=ds.field("round") == stored.mark.round)

    def since(self, lake: Lake, round: float, changed: int) -> Iterator[Stored[Mark]]:
        """The newest rounds, the newest first, down to and with the first one that is known.

        It costs as much as there are rounds since.

        Args:
            lake: has the inbox.
            round: up to this one rounds are known; infinity if all are.
            changed: up to this one changes are known.
        """
        for stored in self.rounds(lake):
            yield stored
            if stored.mark.round <= round and stored.mark.changed_round <= changed:
                return

    def since_summary(self, lake: Lake, newest: int) -> tuple[int, pa.Table]:
        """The version of the inbox that its summary goes up to, and its rows since.

        Args:
            lake: has the inbox.
            newest: the version of the inbox up to which it is read.

        Raises:
            NotAppended: there is no summary, it is one of another inbox, or the log no longer has
                what came since.
        """
        stored = lake.last_metadata(self.summary.name)
        if stored is None or stored[1].extra.get("format") != self.summary_format:
            raise NotAppended("there is no summary")
        version, commit = int(stored[1].extra["version"]), stored[1].extra["commit"]
        if version > newest or commit_digest(lake, self.table.name, version) != commit:
            raise NotAppended("the summary is one of another inbox")
        rows = appended_rows(lake, self.table.name, version, newest, arrow_schema(self.table))
        return version, rows

    def summary_metadata(self, lake: Lake, version: int, run_id: str) -> Metadata:
        """What the commit of a summary up to a version of the inbox says of itself.

        Raises:
            NotAppended: the log no longer holds that commit.
        """
        digest = commit_digest(lake, self.table.name, version)
        extra = {"format": self.summary_format, "version": version, "commit": digest}
        return Metadata(run_id, JOB, watermark=0, extra=extra)
