"""Merging small files after commits, so that a run costs the same after a thousand runs.

Every commit adds a file, and a reader opens all of them. Once a table has many files of one size,
they are merged into larger ones, and these later into still larger ones. So each row is rewritten
once per size, however long the history. Rows and change feeds stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import unquote

from deltalake import DeltaTable

from weir.lake.delta.data_files import are_the_rows
from weir.lake.delta.datasets import columns_of
from weir.lake.delta.file_commits import Overtaken, Replacement, files_of, replace
from weir.lake.delta.file_rows import rows_of_files
from weir.lake.delta.parquet_files import DataFile, write_files
from weir.lake.lake import Lake

MANY = 32
"""Small files are merged once a table has so many of them."""
SIZES = (8 << 20, 128 << 20)
"""Bytes of a merged file, about; a file of less than an eighth of this is small."""
_AHEAD = 2
"""Batches and files that are read ahead."""


@dataclass(frozen=True, slots=True)
class Merged:
    """How many files were replaced, and by how many."""

    removed: int = 0
    added: int = 0


def merge_small_files(lake: Lake, table_name: str) -> Merged:
    """Merge the small files of a table if it has many."""
    table = lake.existing(table_name)
    sizes = [size for _, size in files_of(table)]
    for size in SIZES:
        if sum(file_size < size // 8 for file_size in sizes) >= MANY:
            return merge_files(lake, table_name, size)
    return Merged()


def merge_files(lake: Lake, table_name: str, size: int) -> Merged:
    """Merge files of a table into files of about `size` bytes, in the order of their creation.

    If another process rearranged the same files meanwhile, nothing is done.
    """
    table = lake.existing(table_name)
    if not are_the_rows(table):
        return Merged()
    chosen: list[tuple[str, int]] = []
    written: list[DataFile] = []

    def replacement(newest: DeltaTable) -> Replacement | None:
        files = files_of(newest)
        if not chosen:
            for group in _groups(files, size):
                chosen.extend(group)
                written.extend(_merged(lake, newest, table_name, group, size))
        elif not {*chosen} <= {*files}:
            return None
        return Replacement(chosen, written, changes_data=False) if chosen else None

    try:
        with lake.using(table_name):
            done = replace(table, replacement)
    except Overtaken:
        done = None
    lake.committed(table_name)
    return Merged() if done is None else Merged(len(done.removed), len(done.added))


def _groups(files: Sequence[tuple[str, int]], size: int) -> Iterator[list[tuple[str, int]]]:
    """Groups of consecutive files smaller than `size`, each group about as large as `size`."""
    small = [(path, bytes_) for path, bytes_ in files if bytes_ < size]
    starts, total = [0], 0
    for position, (_, bytes_) in enumerate(small):
        if total and total + bytes_ > size:
            starts.append(position)
            total = 0
        total += bytes_
    for start, end in pairwise([*starts, len(small)]):
        if end - start > 1:
            yield small[start:end]


def _merged(
    lake: Lake, table: DeltaTable, table_name: str, group: list[tuple[str, int]], size: int
) -> list[DataFile]:
    """New files with the rows of a group of files."""
    schema = columns_of(table)
    rows = rows_of_files(lake, table_name, [unquote(path) for path, _ in group], schema)
    batches = rows.to_batches(batch_readahead=_AHEAD, fragment_readahead=_AHEAD)
    # Twice the size, so that the rows of a group are not cut into a large and a tiny file.
    return write_files(lake, table_name, schema, batches, 2 * size)
