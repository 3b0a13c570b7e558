"""The time of each epoch, which the rows of an answer have."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from weir.lake.lake import Lake
from weir.lake.tables import SOURCE_FILES, TRANSACTIONS

TIME = pa.timestamp("us", tz="UTC")


def epoch_times(lake: Lake, after: int) -> pa.Table:
    """epoch, event_time: of the epochs later than `after`.

    The time is the one that the source states; else when the newest file of the change set was
    written; else when Weir ingested it. `transactions` has stated times only: windows over streams
    must not depend on the others.
    """
    columns = ["epoch", "source", "position", "event_time", "ingested_at"]
    rows = lake.rows(TRANSACTIONS.name, columns, [("epoch", ">", after)])
    is_stated = rows["event_time"].is_valid()
    written = {} if pc.all(is_stated).as_py() else _written(lake, rows.filter(pc.invert(is_stated)))
    times = [
        row["event_time"] or written.get((row["source"], row["position"])) or row["ingested_at"]
        for row in rows.to_pylist()
    ]
    epochs = pa.array(rows["epoch"].to_pylist(), pa.int64())
    return pa.table({"epoch": epochs, "event_time": pa.array(times, TIME)})


def _written(lake: Lake, undated: pa.Table) -> dict[tuple[str, str], datetime]:
    """By source and position: when the newest file of the change set had been written."""
    positions = pc.unique(undated["position"].drop_null()).to_pylist()
    if not positions or not lake.exists(SOURCE_FILES.name):
        return {}
    names = ["source", "position", "modified"]
    # The table grows with every file that is read.
    wanted = [("changed", "=", False), ("position", "in", positions)]
    files = lake.rows(SOURCE_FILES.name, names, wanted)
    newest = files.group_by(["source", "position"]).aggregate([("modified", "max")])
    return {(row["source"], row["position"]): row["modified_max"] for row in newest.to_pylist()}
