"""What was ingested of each source, by the transactions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import pyarrow.compute as pc

from weir.lake.lake import Lake
from weir.lake.tables import TRANSACTIONS


@dataclass(frozen=True, slots=True)
class Ingested:
    """What was ingested of a source.

    Attributes:
        epoch: its newest epoch.
        at: when that was ingested.
        rejected: the number of all rejected lines and documents.
        rejected_last: the number of those in the last change set.
    """

    epoch: int
    at: datetime
    rejected: int
    rejected_last: int


def ingested(lake: Lake) -> dict[str, Ingested]:
    """What was ingested of each source that has an epoch, by its name."""
    if not lake.exists(TRANSACTIONS.name):
        return {}
    columns = ["source", "epoch", "ingested_at", "rejected", "position"]
    rows = lake.rows(TRANSACTIONS.name, columns)
    totals = rows.group_by("source").aggregate(
        [("epoch", "max"), ("ingested_at", "max"), ("rejected", "sum")]
    )
    # Epochs of a stream without events have no position.
    read = rows.filter(pc.is_valid(rows["position"])).sort_by("epoch")
    # With threads, `last` would not be the row of the newest epoch.
    newest = read.group_by("source", use_threads=False).aggregate([("rejected", "last")])
    last = {row["source"]: row["rejected_last"] for row in newest.to_pylist()}
    return {
        row["source"]: Ingested(
            row["epoch_max"],
            row["ingested_at_max"],
            row["rejected_sum"],
            last.get(row["source"], 0),
        )
        for row in totals.to_pylist()
    }
