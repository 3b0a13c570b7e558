"""Deleting the rows of a table below or above a value, in one commit with metadata."""

from __future__ import annotations

from dataclasses import replace as replace_fields
from typing import Literal
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable

from weir.lake.delta.commit import checkpoint
from weir.lake.delta.datasets import columns_of
from weir.lake.delta.file_commits import Replacement, files_of, replace
from weir.lake.delta.file_rows import rows_of_files
from weir.lake.delta.metadata import DISCARDS, Metadata
from weir.lake.delta.parquet_files import DataFile, write_files
from weir.lake.lake import Lake


def delete_later_rows(lake: Lake, table_name: str, epoch: int, metadata: Metadata) -> None:
    """Delete the rows of later epochs than `epoch`, in one commit with `metadata`.

    The mode of the commit is `discards`, with which a watermark may go back.
    """
    discards = replace_fields(metadata, mode=DISCARDS)
    delete_rows(lake, table_name, "epoch", ">", epoch, discards)


def delete_rows(
    lake: Lake,
    table_name: str,
    column: str,
    comparison: Literal["<", ">"],
    value: int,
    metadata: Metadata,
) -> None:
    """Delete the rows whose `column` is below or above a value, in one commit with `metadata`.

    Files without such a row, by their statistics, are neither read nor written.
    """
    checkpoint(f"{metadata.job}:before:delete:{table_name}")
    field = ds.field(column)
    goes = field < value if comparison == "<" else field > value

    def replacement(newest: DeltaTable) -> Replacement:
        schema = columns_of(newest)
        removed: list[tuple[str, int]] = []
        added: list[DataFile] = []
        bounds = _bounds(newest, f"{'min' if comparison == '<' else 'max'}.{column}")
        for path, size in files_of(newest):
            bound = bounds.get(path)
            if bound is not None and not (bound < value if comparison == "<" else bound > value):
                continue
            rows = rows_of_files(lake, table_name, [unquote(path)], schema)
            if not rows.count_rows(filter=goes):
                continue
            removed.append((path, size))
            stays = rows.to_batches(filter=~goes | field.is_null())
            added += write_files(lake, table_name, schema, stays)
        return Replacement(removed, added, changes_data=True)

    guard = lake.guard(table_name)
    with lake.using(table_name):
        replace(lake.existing(table_name), replacement, metadata=metadata.to_json(), guard=guard)
    checkpoint(f"{metadata.job}:after:delete:{table_name}")
    lake.committed(table_name)


def _bounds(table: DeltaTable, statistic: str) -> dict[str, int | None]:
    """A statistic of each file by its path; empty if the log has none."""
    files = pa.table(table.get_add_actions(flatten=True))
    if statistic not in files.column_names:
        return {}
    bounds = zip(files["path"].to_pylist(), files[statistic].to_pylist(), strict=True)
    return {str(path): bound for path, bound in bounds}
