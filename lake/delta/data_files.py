"""What the log of a table says about its data files, without opening them."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
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


def files_after(
    table: DeltaTable, epoch: int | None = None, *, instant: int | None = None
) -> pa.Table:
    """The files that may have a row of a later epoch and instant, by their statistics.

    Args:
        table: of the files.
        epoch: None if all epochs are meant.
        instant: None if all instants are meant.

    Returns:
        path, size_bytes, num_records (null where the log does not say), ...: a row per file.
    """
    bounds = {"max.epoch": epoch, "max.instant": instant}
    if not any(bound is not None for bound in bounds.values()):
        return pa.table(table.get_add_actions())
    files = pa.table(table.get_add_actions(flatten=True))
    for name, bound in bounds.items():
        if bound is not None and name in files.column_names:
            most = files[name]
            files = files.filter(pc.or_kleene(pc.is_null(most), pc.greater(most, pa.scalar(bound))))
    return files


def file_names(files: pa.Table) -> set[str]:
    """The names of files as they are in the folder: the log has them percent-encoded."""
    return {PurePosixPath(unquote(str(path))).name for path in files["path"].to_pylist()}
