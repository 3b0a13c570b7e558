"""A lake that is read only, with some tables of its own beside it in a folder of this process.

What a run would commit to these tables, a review commits to them. They are empty at first, whether
the lake has tables of their names or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from deltalake import DeltaTable

from weir.lake.lake import Lake
from weir.lake.storage.folder import Folder
from weir.lake.storage.storage import Destination, Storage


class ReviewLake(Lake):
    """The tables of a lake, but those of some names in a folder.

    Args:
        lake: which is read.
        folder: of this process.
        names: of the tables in the folder.
    """

    def __init__(self, lake: Lake, folder: Path, names: Collection[str]) -> None:
        self._own_folder, self._own = folder, frozenset(names)
        super().__init__(lake.root, storage=_Beside(lake.storage, Folder(folder), self._own))

    def location(self, table_name: str) -> str:
        """Folder or URI of a table.

        Raises:
            InvalidNameError: no table can have the name; the path could be anywhere.
        """
        location = super().location(table_name)
        return str(self._own_folder / table_name) if table_name in self._own else location


@dataclass(frozen=True, slots=True)
class _Beside(Storage):
    """Files of tables in a folder, and of all others at another place, which are only read."""

    read: Storage
    written: Folder
    names: frozenset[str]

    def _of(self, table: str) -> Storage:
        return self.written if table in self.names else self.read

    def _refuse(self, path: str) -> NoReturn:
        raise AssertionError(f"a review writes nothing to the lake: {path}")

    def folder(self, table: str) -> Path:
        return self._of(table).folder(table)

    def follow(self, table: str, version: int | None = None, *, again: bool = False) -> None:
        self._of(table).follow(table, version, again=again)

    def expire(self) -> None:
        self.read.expire()

    @property
    def is_folder(self) -> bool:
        return self.read.is_folder

    def remember(self) -> None:
        """Does nothing: the project itself remembers what it knows of the store."""

    def bring_commit(self, table: str, version: int) -> None:
        self._of(table).bring_commit(table, version)

    def bring_log(self, table: str) -> None:
        self._of(table).bring_log(table)

    def bring(self, table: str, names: Iterable[str], *, again: bool = False) -> None:
        self._of(table).bring(table, names, again=again)

    def committing(self, table: str) -> AbstractContextManager[None]:
        return self._own(table).committing(table)

    def destination(self, table: str) -> Destination:
        return self._own(table).destination(table)

    def _own(self, table: str) -> Folder:
        return self.written if table in self.names else self._refuse(table)

    def sizes(self, table: str, names: Iterable[str]) -> Mapping[str, int]:
        return self._of(table).sizes(table, names)

    def tables(self) -> tuple[str, ...]:
        others = (name for name in self.read.tables() if name not in self.names)
        return tuple(sorted({*others, *self.written.tables()}))

    def owners(self, folder: str) -> list[str]:
        others = (o for o in self.read.owners(folder) if f"{folder}/{o}" not in self.names)
        return sorted({*others, *self.written.owners(folder)})

    def vacuum(self, table: str, opened: DeltaTable) -> int:
        return self._own(table).vacuum(table, opened)

    def log_files(self, table: str) -> list[str]:
        return self._of(table).log_files(table)

    def delete_log_files(self, table: str, names: Iterable[str]) -> None:
        self._own(table).delete_log_files(table, names)

    def remove(self, table: str) -> None:
        self._own(table).remove(table)

    def copy(self, table: str, new: str) -> None:
        self._refuse(f"{table}, {new}")

    def move(self, table: str, new: str) -> None:
        self._refuse(f"{table}, {new}")

    def below(self, folder: str) -> Storage:
        return self.read.below(folder)

    def clear(self, folder: str) -> None:
        self._refuse(folder)

    def touch(self, path: str) -> None:
        self._refuse(path)

    def touched_at(self, path: str) -> datetime | None:
        return self.read.touched_at(path)

    def delete(self, path: str) -> None:
        self._refuse(path)

    def write(self, path: str, content: str) -> str:
        del content
        self._refuse(path)
