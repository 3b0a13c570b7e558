"""A lake in a folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from deltalake import DeltaTable

from weir.lake.damage.damaged_files import sizes_of
from weir.lake.damage.log_checks import LOG_NOTES
from weir.lake.delta.checksums import NOTES
from weir.lake.delta.commit_files import LOG
from weir.lake.storage.storage import Storage, unneeded

_REMOVED_LOG = ".removed_log"
"""The name that a log gets while its table is removed."""
_LOG_DRAFT = f"{LOG}.draft"
"""The name that a log has while its table is copied."""


@dataclass(frozen=True, slots=True)
class InFolder:
    """Data files are written to the folder of their table, and then only renamed."""

    folder: Path

    def place(self, unfinished: Path, name: str) -> None:
        unfinished.rename(self.folder / name)


@dataclass(frozen=True, slots=True)
class Folder(Storage):
    """The files of a lake in a folder: there is nothing to bring."""

    root: Path

    def folder(self, table: str) -> Path:
        return self.root / table

    def follow(self, table: str, version: int | None = None, *, again: bool = False) -> None:
        del table, version, again

    def expire(self) -> None:
        pass

    @property
    def is_folder(self) -> bool:
        return True

    def remember(self) -> None:
        pass

    def bring_commit(self, table: str, version: int) -> None:
        del table, version

    def bring_log(self, table: str) -> None:
        del table

    def bring(self, table: str, names: Iterable[str], *, again: bool = False) -> None:
        del table, names, again

    @contextmanager
    def committing(self, table: str) -> Iterator[None]:
        """delta-rs renames a commit into the log, if it has none of the same version."""
        del table
        yield

    def destination(self, table: str) -> InFolder:
        return InFolder(self.folder(table))

    def sizes(self, table: str, names: Iterable[str]) -> Mapping[str, int]:
        return sizes_of(self.folder(table), names)

    def tables(self) -> tuple[str, ...]:
        logs = [*self.root.glob(f"*/{LOG}"), *self.root.glob(f"*/*/{LOG}")]
        return tuple(sorted(log.parent.relative_to(self.root).as_posix() for log in logs))

    def owners(self, folder: str) -> list[str]:
        return sorted(log.parent.name for log in (self.root / folder).glob(f"*/{LOG}"))

    def vacuum(self, table: str, opened: DeltaTable) -> int:
        files = [self.folder(table) / name for name in unneeded(opened)]
        present = [file for file in files if file.exists()]
        for file in present:
            file.unlink(missing_ok=True)
        return len(present)

    def log_files(self, table: str) -> list[str]:
        folder = self.folder(table) / LOG
        return sorted(file.name for file in folder.iterdir() if file.is_file())

    def delete_log_files(self, table: str, names: Iterable[str]) -> None:
        for name in names:
            (self.folder(table) / LOG / name).unlink(missing_ok=True)

    def remove(self, table: str) -> None:
        """The log goes by one rename: if the process is killed, the table is whole or gone."""
        folder = self.folder(table)
        log, removed = folder / LOG, folder / _REMOVED_LOG
        if log.exists():
            # The notes about this log do not hold for the log of a later table.
            (folder / NOTES / LOG_NOTES).unlink(missing_ok=True)
            shutil.rmtree(removed, ignore_errors=True)
            log.rename(removed)
        shutil.rmtree(folder)

    def copy(self, table: str, new: str) -> None:
        """The log comes last, by one rename. Data files, which never change, are linked."""
        source, target = self.folder(table), self.folder(new)
        with suppress(FileNotFoundError):
            shutil.rmtree(target)
        shutil.copytree(
            source, target, ignore=shutil.ignore_patterns(LOG), copy_function=_linked_or_copied
        )
        shutil.copytree(source / LOG, target / _LOG_DRAFT)
        (target / _LOG_DRAFT).rename(target / LOG)

    def move(self, table: str, new: str) -> None:
        source, target = self.folder(table), self.folder(new)
        if source.exists():
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)

    def below(self, folder: str) -> Folder:
        return Folder(self.root / folder)

    def clear(self, folder: str) -> None:
        shutil.rmtree(self.root / folder, ignore_errors=True)

    def touch(self, path: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()

    def touched_at(self, path: str) -> datetime | None:
        try:
            return datetime.fromtimestamp((self.root / path).stat().st_mtime, UTC)
        except FileNotFoundError:
            return None

    def delete(self, path: str) -> None:
        with suppress(OSError):
            (self.root / path).unlink(missing_ok=True)


def _linked_or_copied(source: str, target: str) -> None:
    if source.endswith(".parquet"):
        with suppress(OSError):
            os.link(source, target)
            return
    shutil.copy2(source, target)
