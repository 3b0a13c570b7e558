"""The rows of some files of a table, verified as they are read (no Spark)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from weir.lake.delta.checksums import verify_footers
from weir.lake.delta.data_files import files_after, names_of
from weir.lake.delta.datasets import columns_of, dataset_of
from weir.lake.lake import Lake


def rows_of_files(
    lake: Lake, table_name: str, names: Iterable[str], schema: pa.Schema
) -> ds.FileSystemDataset:
    """The rows of files in their order; columns that a file lacks are null.

    Args:
        lake: has the table.
        table_name: of the table.
        names: of the files, below its folder.
        schema: the columns that are read.

    Raises:
        FileNotFoundError: a file is missing; this may show only when rows are read.
        DamagedTable: the footer of a file is damaged. A damaged page raises an OSError or an
            ArrowException when it is read.
    """
    names = [*names]
    folder = lake.folder(table_name)
    lake.storage.bring(table_name, names)
    verify_footers(folder / name for name in names)
    return dataset_of(lake.files(table_name), names, schema)


def greatest(lake: Lake, table_name: str, column: str) -> int | None:
    """The greatest number in a column, from the data files; None if there is no number.

    The log has it too, but footers are verified by checksums.

    Raises:
        FileNotFoundError: there is no such table, or a file of it is missing.
        DamagedTable: a file of it is damaged.
    """
    table = lake.existing(table_name)
    names = names_of(files_after(table))
    schema = pa.schema([columns_of(table).field(column)])
    before, now = table.greatest.get(column, {}), dict[str, int | None]()
    # A file of this name has this content: only new ones are read.
    for fragment in rows_of_files(lake, table_name, names, schema).get_fragments():
        name = fragment.path
        now[name] = before[name] if name in before else _greatest_of(fragment, column)
    table.greatest[column] = now
    return max((number for number in now.values() if number is not None), default=None)


def _greatest_of(fragment: Any, column: str) -> int | None:
    highest: list[int] = []
    for group in fragment.row_groups:
        bounds = (group.statistics or {}).get(column)
        if bounds is not None:
            highest.append(int(bounds["max"]))
        elif group.num_rows:
            rows = fragment.subset(row_group_ids=[group.id]).to_table(columns=[column])
            number = pc.max(rows[column]).as_py()
            highest += [] if number is None else [number]
    return max(highest, default=None)
