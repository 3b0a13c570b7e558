"""Whether the log of a local table is complete and readable, and its data files exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

from weir.lake.damage.log_checks import unlike_notes
from weir.lake.delta.commit_files import (
    LAST_CHECKPOINT,
    LOG,
    checkpoint_files,
    commit_file,
    garbled,
    last_checkpoint,
    version_of,
)


@dataclass(frozen=True, slots=True)
class Damage:
    """A file of a table, and what is wrong with it."""

    file: Path
    what: str


def damaged_commits(table: Path) -> Iterator[Damage]:
    """The files of a table's log that are empty, garbled, changed or missing.

    Only the commits after the last checkpoint must exist. Earlier ones are history, but if they
    exist they must be readable.
    """
    commits = {
        version: file
        for file in (table / LOG).glob("*.json")
        if (version := version_of(file.name)) is not None and file == table / commit_file(version)
    }
    for _, file in sorted(commits.items()):
        what = garbled(file)
        if what is not None:
            yield Damage(file, what)
    for file in unlike_notes(table, [*commits.values(), *checkpoint_files(table)]):
        if garbled(file) is None or file.suffix != ".json":
            yield Damage(file, "the content of this file of the log is not what was written")
    checkpoint = last_checkpoint(table)
    record = table / LOG / LAST_CHECKPOINT
    if checkpoint is None and record.exists():
        yield Damage(record, "the record of the last checkpoint cannot be read")
    if checkpoint is not None and not checkpoint_files(table, checkpoint):
        yield Damage(record, "the checkpoint that it names is not there")
    first = 0 if checkpoint is None else checkpoint + 1
    for version in range(first, max(commits, default=first)):
        if version not in commits:
            yield Damage(table / commit_file(version), "the commit is missing")


def missing_files(
    folder: Path,
    table: DeltaTable,
    sizes: Callable[[Iterable[str]], Mapping[str, int]],
) -> Iterator[Damage]:
    """The data files of the newest version that are missing, or have another length.

    Args:
        folder: of the table.
        table: in its newest version.
        sizes: the bytes of those of the named files that exist.
    """
    files = pa.table(table.get_add_actions()).select(["path", "size_bytes"])
    listed = {unquote(row["path"]): row["size_bytes"] for row in files.to_pylist()}
    actual = sizes(listed)
    for name, size in listed.items():
        if name not in actual:
            yield Damage(folder / name, "the data file is missing, or cannot be read")
        elif actual[name] != size:
            what = f"the data file has {actual[name]:,} bytes and had {size:,}"
            yield Damage(folder / name, what)
