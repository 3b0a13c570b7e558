"""Whether the log of a local table is complete and readable, and its data files exist."""

from __future__ import annotations

from collections.abc import Iterator
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
    garbled,
    last_checkpoint,
)

_VERSION_DIGITS = 20


@dataclass(frozen=True, slots=True)
class Damage:
    """A file of a table, and what is wrong with it."""

    file: Path
    what: str


def tables_in(lake: Path) -> tuple[str, ...]:
    """The names of the tables in a folder: those of folders with a log."""
    logs = [*lake.glob(f"*/{LOG}"), *lake.glob(f"*/*/{LOG}")]
    return tuple(sorted(log.parent.relative_to(lake).as_posix() for log in logs))


def damaged_commits(table: Path) -> Iterator[Damage]:
    """The files of a table's log that are empty, garbled, changed or missing.

    Only the commits after the last checkpoint must exist. Earlier ones are history, but if they
    exist they must be readable.
    """
    commits = {
        int(file.stem): file
        for file in (table / LOG).glob("*.json")
        if len(file.stem) == _VERSION_DIGITS and file.stem.isdigit()
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
            yield Damage(
                table / LOG / f"{version:0{_VERSION_DIGITS}}.json", "the commit is missing"
            )


def missing_files(folder: Path, table: DeltaTable) -> Iterator[Damage]:
    """The data files of the newest version that are missing, or have another length."""
    files = pa.table(table.get_add_actions()).select(["path", "size_bytes"])
    for row in files.to_pylist():
        file = folder / unquote(row["path"])
        try:
            size = file.stat().st_size
        except OSError as error:
            yield Damage(file, f"the data file cannot be read: {error.strerror}")
            continue
        if size != row["size_bytes"]:
            yield Damage(file, f"the data file has {size:,} bytes and had {row['size_bytes']:,}")
