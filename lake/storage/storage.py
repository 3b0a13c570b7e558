"""What a lake asks of the place where its files are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

_DURATION = re.compile(r"(\d+) (second|minute|hour|day|week)")
_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}


class Refused(CommitFailedError):  # noqa: N818  (named after what happened)
    """Another process committed the same version first; the log now has that commit."""


_HOURS_LEFT_BEHIND = 7 * 24
"""A file that no commit names is of a run that ended long ago, if it is older."""


def unneeded(table: DeltaTable) -> set[str]:
    """The files that no version within the table's retention needs, nor a run that goes on."""
    removed = {*table.vacuum(dry_run=True)}
    hours = max(_HOURS_LEFT_BEHIND, _retention_hours(table))
    return removed | {*table.vacuum(hours, dry_run=True, full=True)}


def _retention_hours(table: DeltaTable) -> int:
    """Hours for which removed files are kept."""
    text = table.metadata().configuration.get("delta.deletedFileRetentionDuration", "")
    match = _DURATION.search(text)
    return 0 if match is None else -(-int(match[1]) * _SECONDS[match[2]] // 3_600)


class Destination(Protocol):
    """Where data files of one table are written to, also by the processes of Spark."""

    @property
    def folder(self) -> Path:
        """A folder of this machine for files that are being written."""

    def place(self, unfinished: Path, name: str) -> None:
        """Give a file its name in the table, where a commit can name it."""


class Storage(Protocol):
    """The files of a lake. Names of tables and paths are those below its address."""

    def folder(self, table: str) -> Path:
        """The folder of this machine from which the files of a table are read."""

    def follow(self, table: str, version: int | None = None, *, again: bool = False) -> None:
        """Bring what others committed, or what is needed to read an earlier version.

        Args:
            table: its name.
            version: of the table; by default the newest.
            again: whether others may have committed since the last call, though nothing says so.
        """

    def expire(self) -> None:
        """Others may have committed to any table."""

    @property
    def is_folder(self) -> bool:
        """Whether all that others commit is seen at once."""

    def remember(self) -> None:
        """Let the next process of this machine begin with what this one knows."""

    def bring_commit(self, table: str, version: int) -> None:
        """Bring a commit, if the log has it."""

    def bring_log(self, table: str) -> None:
        """Bring all commits and checkpoints, which are not needed to read the table."""

    def bring(self, table: str, names: Iterable[str], *, again: bool = False) -> None:
        """Bring data files, as far as they exist; `again` if copies of this machine do not do."""

    def committing(self, table: str) -> AbstractContextManager[None]:
        """A context for writing a commit: at its end, others see it.

        Raises:
            Refused: at the end, if others committed first.
        """

    def destination(self, table: str) -> Destination:
        """Where data files of a table are written to."""

    def sizes(self, table: str, names: Iterable[str]) -> Mapping[str, int]:
        """The bytes of data files, without those that are missing."""

    def tables(self) -> tuple[str, ...]:
        """The names of the tables."""

    def owners(self, folder: str) -> list[str]:
        """The names of the tables in a folder of the lake, below that folder."""

    def vacuum(self, table: str, opened: DeltaTable) -> int:
        """Delete files that no version within the table's retention needs; how many."""

    def log_files(self, table: str) -> list[str]:
        """The names of the files in the log of a table."""

    def delete_log_files(self, table: str, names: Iterable[str]) -> None:
        """Delete files of the log of a table, in their order."""

    def remove(self, table: str) -> None:
        """Delete a table: its rows, its history, its log; the log first."""

    def copy(self, table: str, new: str) -> None:
        """Copy a table under a name that no table has.

        If the process is killed, the copy is whole or no table.
        """

    def move(self, table: str, new: str) -> None:
        """Move a table, or what is left of one, in the place of what has the new name.

        Nothing happens if there is nothing to move. If the process is killed, the table has its old
        name, its new one or both.
        """

    def below(self, folder: str) -> Storage:
        """The files of a lake in a folder of this one."""

    def clear(self, folder: str) -> None:
        """Delete all that is below a folder of the lake."""

    def touch(self, path: str) -> None:
        """Create an empty file, or renew its time."""

    def touched_at(self, path: str) -> datetime | None:
        """The time of a file; None if there is none."""

    def delete(self, path: str) -> None:
        """Delete a file, if there is one."""
