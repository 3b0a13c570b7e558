"""What the log of a table says about its data files, without opening them."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

_WILDCARDS = frozenset("*?[]{}")


def are_the_rows(table: DeltaTable) -> bool:
    """Whether the files alone determine the rows.

    A file lacks its deletion vector and the mapping of its column names, which both need a newer
    reader, and the values of partition columns.
    """
    return table.protocol().min_reader_version == 1 and not table.metadata().partition_columns


def is_pattern(path: str) -> bool:
    """Whether DuckDB and Spark take a path for a pattern of paths."""
    return not _WILDCARDS.isdisjoint(path)


def files_up_to(table: DeltaTable, epoch: int | None) -> set[str]:
    """The names of the files that have no row of a later epoch, by their statistics."""
    if epoch is None:
        return set()
    files = pa.table(table.get_add_actions(flatten=True))
    if "max.epoch" not in files.column_names:
        return set()
    paths, newest = files["path"].to_pylist(), files["max.epoch"].to_pylist()
    return {
        PurePosixPath(unquote(str(path))).name
        for path, last in zip(paths, newest, strict=True)
        if last is not None and last <= epoch
    }
