"""The metadata of a table's newest commit, read from its log without opening the table.

Opening a table reads the last checkpoint and all commits after it. With many tables, of which only
the newest commits are needed, this would be most of the cost of a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path

from weir.lake.damage.log_checks import verify_commit
from weir.lake.damage.step_back import newest_commit_of
from weir.lake.delta.commit_files import actions, commit_file, commits_after, last_checkpoint
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake


def newest_metadata(lake: Lake, table_name: str, job: str) -> tuple[int, Metadata] | None:
    """The version and metadata of the newest commit, if it is one of `job`.

    None if the commit has other metadata or none, and if the lake has the table open (its state
    then counts): `Lake.last_metadata` handles these cases.

    Raises:
        DamagedTable: the commit is not what was written, or goes back behind the one before it.
    """
    if lake.is_open(table_name):
        return None
    folder = lake.folder(table_name)
    lake.storage.follow(table_name)
    try:
        version = _newest(folder)
        verify_commit(folder, version)
        metadata = _metadata(folder, version)
        if metadata is None or metadata.job != job:
            return None
        commits = chain([(version, metadata)], _commits_before(folder, version))
        newest = newest_commit_of(lake.location(table_name), commits, job)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        # The file is incomplete, or Delta did not write it.
        return None
    lake.look(table_name, version)
    return newest


def is_newest(lake: Lake, table_name: str, version: int, before: datetime) -> bool:
    """Whether a version is the newest and was committed before a time; looks at two files only.

    The time excludes a later commit with the same version, of a table that was removed and created
    again. False if the lake has the table open.
    """
    if lake.is_open(table_name):
        return False
    lake.storage.follow(table_name)
    folder = lake.folder(table_name)
    # For each table in each stage: joining paths takes longer than to look at a file.
    own, next_ = (f"{folder}/{commit_file(number)}" for number in (version, version + 1))
    try:
        committed = os.stat(own).st_mtime  # noqa: PTH116
    except OSError:
        return False
    is_last = committed <= before.timestamp() and not os.path.exists(next_)  # noqa: PTH110
    if is_last:
        lake.look(table_name, version)
    return is_last


def _newest(table: Path) -> int:
    """The newest version of a table."""
    checkpoint = last_checkpoint(table) or 0
    return checkpoint + sum(1 for _ in commits_after(table, checkpoint))


def _commits_before(table: Path, version: int) -> Iterator[tuple[int, Metadata | None]]:
    """The commits before a version that the log still has, newest first."""
    for earlier in range(version - 1, -1, -1):
        if not (table / commit_file(earlier)).exists():
            return
        yield earlier, _metadata(table, earlier)


def _metadata(table: Path, version: int) -> Metadata | None:
    return Metadata.from_json(_user_metadata(table / commit_file(version)))


def _user_metadata(commit: Path) -> str | None:
    with commit.open("rb") as lines:
        for kind, action in actions(lines):
            if kind == "commitInfo":
                metadata = action.get("userMetadata")
                return None if metadata is None else str(metadata)
    return None
