"""Damage done to a lake: flipped bits, lost files, rows that nobody computed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from deltalake import DeltaTable

from weir.lake.delta.commit_files import LOG
from weir.lake.lake import Lake, local_folder


def data_files(lake: Lake, table: str) -> list[Path]:
    """The data files of the newest version of a local table."""
    folder = local_folder(lake.location(table))
    assert folder is not None
    stored = DeltaTable(str(folder))
    return sorted(Path(uri.removeprefix("file://")) for uri in stored.file_uris())


def newest_commit(lake: Lake, table: str) -> Path:
    """The file of the newest commit of a local table."""
    return max((Path(lake.location(table)) / LOG).glob("*.json"))


def flip_a_bit(file: Path, rng: random.Random) -> None:
    """Change one bit of a file."""
    content = bytearray(file.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


def append_foreign(lake: Lake, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append rows as another program would, without metadata."""
    import pyarrow as pa
    from deltalake import write_deltalake

    stored = lake.existing(table)
    schema = lake.rows(table).schema
    write_deltalake(stored, pa.Table.from_pylist([*rows], schema), mode="append")


def damage_the_pages(file: Path) -> None:
    """Make the header of the first page of every column unreadable; the footer stays as it was."""
    content, group = bytearray(file.read_bytes()), pq.read_metadata(file).row_group(0)
    for column in map(group.column, range(group.num_columns)):
        start = column.dictionary_page_offset or column.data_page_offset
        content[start : start + 4] = b"\xff\xff\xff\xff"
    file.write_bytes(content)
