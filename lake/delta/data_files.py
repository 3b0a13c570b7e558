"""Facts about the data files of a table from its log, without opening the files."""

from __future__ import annotations

from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

_WILDCARDS = frozenset("*?[]{}")


def are_the_rows(table: DeltaTable) -> bool:
    """Whether the files of a table alone determine its rows.

    Deletion vectors and mappings of column names, which both need a newer reader, and the values of
    partition columns are not in the files.
    """
    return table.protocol().min_reader_version == 1 and not table.metadata().partition_columns


def is_pattern(path: str) -> bool:
    """Whether DuckDB would read a path as a pattern of paths."""
    return not _WILDCARDS.isdisjoint(path)


def names_of(files: pa.Table) -> list[str]:
    """The names below the folder of their table; the log has percent-encoded paths.

    Args:
        files: `path`, as the log gives them.
    """
    return [unquote(str(path)) for path in files["path"].to_pylist()]


def rows_in(files: pa.Table) -> int | None:
    """How many rows files have; None if the log lacks a number.

    Args:
        files: `num_records`, as the log gives them.
    """
    counts = files["num_records"]
    if pc.count(counts, mode="only_null").as_py():
        return None
    return int(pc.sum(counts).as_py() or 0)


def files_after(
    table: DeltaTable, epoch: int | None = None, *, instant: int | None = None
) -> pa.Table:
    """The files that, by their statistics, may have rows after an epoch and after an instant.

    Args:
        table: of the files.
        epoch: None for all epochs.
        instant: None for all instants.

    Returns:
        A row per file: path, size_bytes, num_records (null where the log lacks it), ...
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
