"""What is known of the versions of a Delta table once their rows are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pyarrow as pa

from weir.compute.engine import Frame
from weir.ingest.changesets import ChangeSet
from weir.ingest.reading import ChangeSetReading, SourceReading
from weir.ingest.rows import Rows


def reading_of(rows: Rows, change_sets: Mapping[int, ChangeSet]) -> SourceReading:
    """The reading of change sets, by ordinal, whose `rows` are one frame each."""
    changes, rejections = (_by_ordinal(frame) for (frame,) in (rows.changes, rows.rejections))
    return SourceReading(
        rows,
        {
            ordinal: ChangeSetReading(
                each.change_id,
                each.event_time,
                changes[ordinal],
                rejections[ordinal],
                malformed=rejections[ordinal],
            )
            for ordinal, each in change_sets.items()
        },
    )


def _by_ordinal(frame: Frame) -> Counter[int]:
    """The number of rows of each change set."""
    if isinstance(frame, pa.Table):
        return Counter(row["ordinal"] for row in frame.select(["ordinal"]).to_pylist())
    return Counter(
        {row["ordinal"]: row["count"] for row in frame.groupBy("ordinal").count().collect()}
    )
