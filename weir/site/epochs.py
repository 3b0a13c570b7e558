"""When each epoch was ingested, and from what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from weir.answers.causes import change_set_text
from weir.lake.lake import Lake
from weir.lake.tables import TRANSACTIONS


@dataclass(frozen=True, slots=True)
class EpochRow:
    """An epoch of the graph.

    Attributes:
        at: when it was ingested.
        change_set: its source and change set.
        change: how many more quads the graph has.
    """

    at: datetime
    change_set: str
    change: int


@dataclass(frozen=True, slots=True)
class Epochs:
    """The epochs of a lake, in order."""

    rows: Mapping[int, EpochRow]

    @classmethod
    def read(cls, lake: Lake) -> Self:
        """All epochs."""
        if not lake.exists(TRANSACTIONS.name):
            return cls({})
        names = ["epoch", "ingested_at", "source", "position", "inserted", "deleted"]
        rows = lake.rows(TRANSACTIONS.name, names).sort_by("epoch").to_pylist()
        return cls(
            {
                row["epoch"]: EpochRow(
                    row["ingested_at"],
                    change_set_text(row["source"], row["position"]),
                    (row["inserted"] or 0) - (row["deleted"] or 0),
                )
                for row in rows
            }
        )

    def at(self, epoch: int) -> datetime | None:
        """When an epoch was ingested."""
        row = self.rows.get(epoch)
        return None if row is None else row.at
