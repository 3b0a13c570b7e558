"""Small files are merged as they arise, so that a run costs the same after a thousand runs.

Every commit adds a file, and a reader opens all of them. Once a table has many files of one size
they are merged into larger ones, and these later into larger ones still: each row is written again
once per size, however long the history. No row changes, nor does a change feed.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from deltalake import DeltaTable, WriterProperties
from deltalake.exceptions import CommitFailedError

MANY = 32
"""So many small files are merged."""
SIZES = (8 << 20, 128 << 20)
"""Bytes of a merged file, about; a file of less than an eighth is small."""


def merge_small_files(table: DeltaTable, writer: WriterProperties) -> bool:
    """Merge the small files of a table if it has many; returns whether there was a commit.

    Args:
        table: as it is now; afterwards as it is then.
        writer: how files are written.
    """
    sizes = pa.table(table.get_add_actions())["size_bytes"].to_pylist()
    for size in SIZES:
        if sum((each or 0) < size // 8 for each in sizes) >= MANY:
            return bool(merge_files(table, size, writer)["numFilesRemoved"])
    return False


def merge_files(table: DeltaTable, size: int, writer: WriterProperties) -> Mapping[str, int]:
    """Merge files of a table into ones of about `size` bytes; the numbers of files, as delta-rs
    gives them.

    Nothing is done, and nothing lost, if another process rearranged the same files meanwhile.
    """
    try:
        metrics = table.optimize.compact(target_size=size, writer_properties=writer)
    except CommitFailedError:
        return {"numFilesAdded": 0, "numFilesRemoved": 0}
    return {name: int(metrics[name]) for name in ("numFilesAdded", "numFilesRemoved")}
