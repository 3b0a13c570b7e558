"""What made the rows of an answer appear and vanish: a change set, or an edit of the query."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from weir.lake.lake import Lake
from weir.lake.tables import TRANSACTIONS
from weir.progress.answer_commits import publications
from weir.progress.backlog import DIFFERENCE_AT

CAUSE: Final = "changed by"
"""The name of the column; no variable can have it."""

_EDIT: Final = "an edit of the query"
_REBUILD: Final = "a rebuild of the answer"


@dataclass(frozen=True, slots=True)
class Causes:
    """The causes of the rows of an answer.

    Attributes:
        change_sets: by epoch, its source and change set.
        differences: by epoch at which a difference to the published answer was published, why.
        over_streams: whether the query reads streams: then all rows have an event_time.
    """

    change_sets: Mapping[int, str]
    differences: Mapping[int, str]
    over_streams: bool

    @classmethod
    def of(cls, lake: Lake, query: str, epochs: Collection[int], *, over_streams: bool) -> Self:
        """The causes of the rows of some epochs."""
        if not epochs:
            return cls({}, {}, over_streams)
        first, last = min(epochs), max(epochs)
        rows = lake.rows(
            TRANSACTIONS.name,
            ["epoch", "source", "position"],
            [("epoch", ">=", first), ("epoch", "<=", last)],
        )
        change_sets = {
            row["epoch"]: change_set_text(row["source"], row["position"])
            for row in rows.to_pylist()
        }
        return cls.of_change_sets(lake, query, change_sets, over_streams=over_streams)

    @classmethod
    def of_change_sets(
        cls, lake: Lake, query: str, change_sets: Mapping[int, str], *, over_streams: bool
    ) -> Self:
        """The causes of the rows of some epochs, whose change sets are known."""
        first = min(change_sets, default=None)
        differences = {} if first is None else _differences(lake, query, first)
        return cls(change_sets, differences, over_streams)

    def of_epoch(self, epoch: int) -> str:
        """What made rows appear or vanish at an epoch."""
        causes = (self.change_sets.get(epoch), self.differences.get(epoch))
        return " or ".join(filter(None, causes))

    def of_row(self, epoch: int, event_time: datetime | None) -> str:
        """What made a row appear or vanish.

        If a difference was published at the epoch, its rows have no event_time. Over streams they
        do, so that a row may have either cause.
        """
        change_set, difference = self.change_sets.get(epoch, ""), self.differences.get(epoch)
        if difference is None:
            return change_set
        if self.over_streams:
            return f"{change_set} or {difference}"
        return difference if event_time is None else change_set


def change_set_text(source: str | None, position: str | None) -> str:
    """A change set and its source, as pages and tables show it."""
    return ": ".join(filter(None, (source, position)))


def _differences(lake: Lake, query: str, first: int) -> dict[int, str]:
    """By epoch, from `first` on, why a difference was published: an edit, or a rebuild."""
    differences: dict[int, str] = {}
    for metadata in publications(lake, query):
        if metadata.watermark < first:
            break
        at = metadata.extra.get(DIFFERENCE_AT)
        if at is not None and differences.get(at) != _EDIT:
            differences[at] = _EDIT if metadata.mode == "edited" else _REBUILD
    return differences
