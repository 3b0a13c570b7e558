"""Deleting the rows of a table where a column is below a value.

The statistics in the log show which files may have such rows; no other file is read or written.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.upkeep.row_deletion import delete_rows


@dataclass(frozen=True, slots=True)
class EarlierRows:
    """How many rows are below a value, and how many rows their files have in all."""

    rows: int
    in_files: int

    @property
    def share(self) -> float:
        """The share of rows below the value among the rows of their files; 0 if there are none."""
        return self.rows / self.in_files if self.in_files else 0.0


def may_have_earlier_rows(lake: Lake, table_name: str, column: str, before: int) -> bool:
    """Whether a table may have rows below a value, by its log alone."""
    return _files(lake, table_name, column, before).num_rows > 0


def earlier_rows(lake: Lake, table_name: str, column: str, before: int) -> EarlierRows:
    """How many rows of a table are below a value; files with only such rows are not read."""
    files = _files(lake, table_name, column, before)
    counts = files["num_records"].to_pylist()
    if not counts:
        return EarlierRows(0, 0)
    with lake.using(table_name):
        rows = lake.existing(table_name).to_pyarrow_dataset().count_rows(ds.field(column) < before)
    return EarlierRows(rows, sum(count or rows for count in counts))


def delete_earlier_rows(
    lake: Lake, table_name: str, column: str, before: int, metadata: Metadata
) -> None:
    """Delete the rows below a value, in one commit with `metadata`."""
    lake.existing(table_name).update_incremental()
    delete_rows(lake, table_name, column, "<", before, metadata)


def _files(lake: Lake, table_name: str, column: str, before: int) -> pa.Table:
    """The files that may have a row below a value: by statistics, or without statistics."""
    table = lake.open(table_name)
    if table is None:
        return pa.table({"num_records": pa.array([], pa.int64())})
    files = pa.table(table.get_add_actions(flatten=True))
    least = f"min.{column}"
    if least not in files.column_names:
        return files
    return files.filter(
        pc.or_kleene(pc.is_null(files[least]), pc.less(files[least], pa.scalar(before)))
    )
