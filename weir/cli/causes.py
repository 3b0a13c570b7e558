"""What made the rows of an answer appear and vanish: a change set, or an edit of the query."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import TRANSACTIONS
from weir.progress.backlog import DIFFERENCE_AT

CAUSE: Final = "changed by"
"""The column; no variable can have its name."""

_EDIT: Final = "an edit of the query"
_REBUILD: Final = "a rebuild of the answer"


@dataclass(frozen=True, slots=True)
class Causes:
    """The causes of the rows of an answer.

    Attributes:
        change_sets: by epoch, the source and the change set that it is.
        differences: by epoch, what had the difference to the published answer published there.
        over_streams: whether the rows have times of their own, also those of a difference.
    """

    change_sets: Mapping[int, str]
    differences: Mapping[int, str]
    over_streams: bool

    @classmethod
    def of(cls, lake: Lake, query: str, epochs: Collection[int], *, over_streams: bool) -> Self:
        """Those of the rows of some epochs."""
        if not epochs:
            return cls({}, {}, over_streams)
        first, last = min(epochs), max(epochs)
        rows = lake.rows(
            TRANSACTIONS.name,
            ["epoch", "source", "position"],
            [("epoch", ">=", first), ("epoch", "<=", last)],
        )
        change_sets = {
            row["epoch"]: ": ".join(filter(None, (row["source"], row["position"])))
            for row in rows.to_pylist()
        }
        return cls(change_sets, _differences(lake, query, first), over_streams)

    def of_row(self, epoch: int, event_time: datetime | None) -> str:
        """What made a row appear or vanish.

        Rows of a difference have no time: none of the graph made them. Over streams they have, and
        may be of either where both are published at an epoch.
        """
        change_set, difference = self.change_sets.get(epoch, ""), self.differences.get(epoch)
        if difference is None:
            return change_set
        if self.over_streams:
            return f"{change_set} or {difference}"
        return difference if event_time is None else change_set


def _differences(lake: Lake, query: str, first: int) -> dict[int, str]:
    """By epoch from `first` on, an edit if one was published there, else a rebuild."""
    found: dict[int, str] = {}
    for commit in lake.commits(f"answers/{query}"):
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is None or metadata.job != "publish":
            continue
        if metadata.watermark < first:
            break
        at = metadata.extra.get(DIFFERENCE_AT)
        if at is not None and found.get(at) != _EDIT:
            found[at] = _EDIT if metadata.mode == "edited" else _REBUILD
    return found
