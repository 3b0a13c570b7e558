"""Whether the log of a local table is whole, and the data files that it names are there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable

from lake.commit_files import LOG, last_checkpoint

_VERSION_DIGITS = 20


@dataclass(frozen=True, slots=True)
class Damage:
    """A file of a table, and what is wrong with it."""

    file: Path
    what: str


def tables_in(lake: Path) -> tuple[str, ...]:
    """The names of the tables in a folder, by their logs."""
    logs = [*lake.glob(f"*/{LOG}"), *lake.glob(f"*/*/{LOG}")]
    return tuple(sorted(log.parent.relative_to(lake).as_posix() for log in logs))


def damaged_commits(table: Path) -> Iterator[Damage]:
    """The commit files that a reader needs and that are empty, garbled or missing.

    Those are the files after the last checkpoint. What is before it is history only, but must be
    readable where it is there.
    """
    commits = {
        int(file.stem): file
        for file in (table / LOG).glob("*.json")
        if len(file.stem) == _VERSION_DIGITS and file.stem.isdigit()
    }
    for _, file in sorted(commits.items()):
        what = _garbled(file)
        if what is not None:
            yield Damage(file, what)
    checkpoint = last_checkpoint(table)
    if checkpoint is not None and not _has_checkpoint(table, checkpoint):
        yield Damage(table / LOG / "_last_checkpoint", "the checkpoint that it names is not there")
    first = 0 if checkpoint is None else checkpoint + 1
    for version in range(first, max(commits, default=first)):
        if version not in commits:
            yield Damage(
                table / LOG / f"{version:0{_VERSION_DIGITS}}.json", "the commit is missing"
            )


def missing_files(folder: Path, table: DeltaTable) -> Iterator[Damage]:
    """The data files of the newest version that are not there, or not as long as they were."""
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


def _has_checkpoint(table: Path, version: int) -> bool:
    return any((table / LOG).glob(f"{version:0{_VERSION_DIGITS}}.checkpoint*.parquet"))


def _garbled(commit: Path) -> str | None:
    """Why a commit file cannot be read, None if it can."""
    try:
        content = commit.read_bytes()
    except OSError as error:
        return f"the commit file cannot be read: {error.strerror}"
    if not content.strip():
        return "the commit file is empty"
    for number, line in enumerate(content.splitlines(), 1):
        try:
            is_action = isinstance(json.loads(line), dict) if line.strip() else True
        except ValueError:
            is_action = False
        if not is_action:
            return f"line {number} of the commit file is not JSON"
    return None
