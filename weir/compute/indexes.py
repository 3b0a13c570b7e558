"""The indexes of the logs of a lake that this process uses, and when it uses one."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from weir.compute.placement import Extent
from weir.lake.counted import counted
from weir.lake.damage.storage_errors import StorageError
from weir.lake.index.log_index import NOTE, LogIndex, NoIndex

if TYPE_CHECKING:
    import pyarrow as pa

    from weir.compute.database import Database
    from weir.lake.lake import Lake

IndexMode = Literal["auto", "on", "off"]
"""Whether logs have indexes: those of the sizes of `IndexLimits`, all, or none."""
_ROWS_PER_KEY = 500
"""Rows that a scan reads in the time in which an index finds one key."""
_BYTES = 256_000_000
"""Most bytes of text that are looked up at once."""


@dataclass(frozen=True, slots=True)
class IndexLimits:
    """When a log has an index.

    Attributes:
        mode: `auto` follows the limits.
        least_rows: of a table that has one.
        most_rows: of a table that has one.
    """

    mode: IndexMode
    least_rows: int
    most_rows: int


class Indexes:
    """The indexes of a lake; used by one thread at a time.

    Args:
        lake: has the tables.
        folder: of the indexes of all lakes; may be removed at any time.
        database: sorts.
        limits: when a table has an index.
        progress: called with what takes long, and why an index is not used.

    Attributes:
        progress: of the stage that runs.
    """

    def __init__(
        self,
        lake: Lake,
        folder: Path,
        database: Database,
        limits: IndexLimits,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._lake, self._database, self._limits = lake, database, limits
        self._folder = folder / sha256(lake.root.encode()).hexdigest()[:20]
        self.progress = progress
        self._has_removed = False
        self._opened: dict[tuple[str, str], LogIndex] = {}

    def close(self) -> None:
        """Close all files."""
        for index in self._opened.values():
            index.close()
        self._opened.clear()

    def has_one(self, rows: int | None) -> bool:
        """Whether a table has an index, by the number of its rows; None: its log lacks it."""
        limits = self._limits
        if rows is None or limits.mode == "off":
            return False
        return limits.mode == "on" or limits.least_rows <= rows <= limits.most_rows

    def most_keys(self, table_name: str) -> int:
        """With how many keys an index of a table takes less than a scan; 0 if it has no index."""
        table = None if self._limits.mode == "off" else self._lake.open(table_name)
        rows = None if table is None else Extent.of(table).rows
        if rows is None or not self.has_one(rows):
            return 0
        return rows if self._limits.mode == "on" else rows // _ROWS_PER_KEY

    def rows_with(
        self, table_name: str, key: Sequence[str], values: Sequence[Sequence[str | None]]
    ) -> pa.Table | None:
        """The rows of a log with some values in columns; None if a scan must find them.

        The index is made or brought up to the table if necessary.

        Args:
            table_name: of a log of terms.
            key: the columns.
            values: a value of each, or of the first of them.
        """
        table = self._lake.existing(table_name)
        index = self._opened.get((table_name, key[0]))
        if index is None or index.key != tuple(key):
            if index is not None:
                index.close()
            folder = self._folder / table_name / key[0]
            index = LogIndex(self._lake, table_name, tuple(key), folder, self._database.connection)
            self._opened[table_name, key[0]] = index
        rows = Extent.of(table).rows or 0
        what = f"the index of {table_name} by {key[0]}"
        try:
            index.follow(table, lambda: self.progress(f"making {what}, {counted(rows, 'row')}"))
            self._remove_others()
            return index.rows_with(values, _BYTES)
        except NoIndex as reason:
            self.progress(f"{what} is not used: {reason}")
            return None

    def _remove_others(self) -> None:
        """Remove the indexes of tables that are gone, as of a removed query; once in a process."""
        if self._has_removed:
            return
        self._has_removed = True
        try:
            tables = {*self._lake.tables()}
        except (OSError, StorageError):
            return
        for note in [*self._folder.rglob(NOTE)]:
            folder = note.parent
            if folder.parent.relative_to(self._folder).as_posix() not in tables:
                shutil.rmtree(folder, ignore_errors=True)
