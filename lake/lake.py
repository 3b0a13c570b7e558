"""The lake: a folder or URI of Delta tables, each opened once (delta-rs, no Spark)."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlparse

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs

from weir.lake.damage.damaged_files import damage_is_named, damaged_files
from weir.lake.damage.integrity import Damage, damaged_commits, missing_files
from weir.lake.damage.log_checks import verify_commit, verify_log
from weir.lake.damage.step_back import newest_commit_of
from weir.lake.damage.storage_errors import RESTORE, DamagedTable, storage_errors, table_of
from weir.lake.delta.commit_files import (
    LOG,
    actions,
    commit_file,
    commits_after,
    describing_commit,
    last_checkpoint,
)
from weir.lake.delta.data_files import files_after, names_of
from weir.lake.delta.metadata import Metadata
from weir.lake.delta.stored_table import StoredTable
from weir.lake.ledger.fences import Fence, Guard
from weir.lake.names import InvalidNameError, is_table_name
from weir.lake.storage.cache import Cache
from weir.lake.storage.folder import Folder
from weir.lake.storage.storage import Storage
from weir.lake.tables import RUNS, TableFamily

_LINE_END = re.compile(r"\\n|\n")
_KEPT_COMMITS = 50
"""A table with more commits than this since it was opened is opened again: each of them makes
delta-rs slower."""


class Lake:
    """The tables below one folder or URI, each opened once.

    A table keeps the state in which it was first opened, until it is written through this value.
    Tables opened at different times may therefore differ in state. Readers select rows by epoch, so
    that rows committed by others since do no harm. `refresh` goes to the newest state of all
    tables; `catch_up` does too, and keeps open those that have not changed.

    Args:
        root: folder or URI of the tables.
        storage_options: credentials of an object store, by the names of delta-rs.
        storage: the files of the tables, if other lakes of this process have them open.

    Attributes:
        storage: the files of the tables.
        opened: how often each table was opened, for tests of cost.
    """

    def __init__(
        self,
        root: str,
        storage_options: Mapping[str, str] | None = None,
        *,
        storage: Storage | None = None,
    ) -> None:
        self.root = root.rstrip("/")
        self.storage = storage or storage_of(self.root, storage_options or {})
        self.opened: Counter[str] = Counter()
        self._tables: dict[tuple[str, int | None], StoredTable] = {}
        self._histories: dict[str, _Recorded] = {}
        self._loaded: dict[str, _CommitFile] = {}
        self._unchecked: set[str] = set()
        self._first: dict[str, int] = {}
        # To join paths takes longer than to look at a file.
        self._folders: dict[str, Path] = {}
        self._fences: dict[str, Fence] = {}
        self._derived: dict[str, Any] = {}
        # The queries of a stage are committed by several threads.
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"Lake({self.root!r})"

    def location(self, table_name: str) -> str:
        """Folder or URI of a table.

        Raises:
            InvalidNameError: no table can have the name; the path could be anywhere.
        """
        if not is_table_name(table_name):
            raise InvalidNameError(table_name)
        return f"{self.root}/{table_name}"

    def open(self, table_name: str, version: int | None = None) -> StoredTable | None:
        """The table, at `version` or as it was when it was first opened; None if there is none.

        Raises:
            DamagedTable: a commit file of it is empty.
        """
        if not is_table_name(table_name):
            return None
        with self._lock:
            self._check(table_name)
            newest = self._tables.get((table_name, None))
            if newest is not None and version in (None, newest.version()):
                return newest
            table = self._tables.get((table_name, version))
            if table is None:
                table = self._open(table_name, version)
                if table is not None:
                    self._tables[table_name, version] = table
                    if version is None:
                        self._first[table_name] = table.version()
                        self.look(table_name, table.version())
                        self._note_commit(table_name, table)
            return table

    def hold(self, fence: Fence) -> None:
        """Make all commits pass a fence, until `release`."""
        with self._lock:
            for (name, version), table in self._tables.items():
                # `_check` does this for an unchecked table, once it has compared it with its log.
                if version is None and name not in self._unchecked:
                    fence.looked_at.setdefault(name, table.version())
            self._fences[fence.name] = fence

    def release(self, fence: Fence) -> None:
        """Commits need not pass the fence any more."""
        with self._lock:
            self._fences.pop(fence.name, None)

    def look(self, table_name: str, version: int) -> None:
        """Note the first version of a table that a run under a claim reads."""
        with self._lock:
            for fence in self._fences.values():
                fence.looked_at.setdefault(table_name, version)

    def guard(self, table_name: str) -> Guard:
        """The fences that a commit to a table has to pass."""
        with self._lock:
            commit = partial(self.commit, table_name)
            return Guard([*self._fences.values()], commit, table_name)

    def folder(self, table_name: str) -> Path:
        """The folder of this machine from which the files of a table are read.

        Raises:
            InvalidNameError: no table can have the name.
        """
        folder = self._folders.get(table_name)
        if folder is None:
            self.location(table_name)
            folder = self._folders[table_name] = self.storage.folder(table_name)
        return folder

    def files(self, table_name: str) -> fs.FileSystem:
        """The files of a table that are on this machine."""
        # Why not by delta-rs: see `StoredTable`.
        return fs.SubTreeFileSystem(str(self.folder(table_name)), fs.LocalFileSystem())

    def commit(self, table_name: str, version: int) -> bytes:
        """The content of a commit, checked.

        Raises:
            FileNotFoundError: the log has none, or not any more.
            DamagedTable: it is not what was written, or is a copy of another.
        """
        folder = self.folder(table_name)
        self.storage.bring_commit(table_name, version)
        verify_commit(folder, version)
        return (folder / commit_file(version)).read_bytes()

    def tables(self) -> tuple[str, ...]:
        """The names of the tables; damaged ones, too."""
        with storage_errors(self.root):
            return self.storage.tables()

    def owners(self, family: TableFamily) -> list[str]:
        """What has a table of a family, in alphabetical order."""
        with storage_errors(self.root):
            return self.storage.owners(family.folder)

    def missing_files(self, table_name: str) -> Iterator[Damage]:
        """The data files of a table that are missing, or have another length."""
        table, folder = self.existing(table_name), self.folder(table_name)
        return missing_files(folder, table, partial(self.storage.sizes, table_name))

    def damaged_files(self, table_name: str) -> list[Path]:
        """The data files of a table that are missing, or not what was written; all are read.

        Those in an object store are brought again.
        """
        table = self.existing(table_name)
        self.storage.bring(table_name, names_of(files_after(table)), again=True)
        return damaged_files(self.folder(table_name), table)

    def existing(self, table_name: str) -> StoredTable:
        """The table, like `open`; it must exist.

        Raises:
            FileNotFoundError: there is no such table.
        """
        table = self.open(table_name)
        if table is None:
            raise FileNotFoundError(self.location(table_name))
        return table

    def exists(self, table_name: str) -> bool:
        """Whether the table has been created; also if its log cannot be read."""
        try:
            return self.open(table_name) is not None
        except DamagedTable:
            return True

    def is_open(self, table_name: str) -> bool:
        """Whether this value has a state of the table open."""
        with self._lock:
            self._check(table_name)
            return (table_name, None) in self._tables

    def version(self, table_name: str) -> int | None:
        """The version of the table as it was opened, or None when there is no table."""
        table = self.open(table_name)
        return None if table is None else table.version()

    @contextmanager
    def using(self, table_name: str) -> Iterator[None]:
        """A context for reading or writing a table: errors of files name the table and the file.

        Raises:
            StorageError: files or the file system fail. Other errors pass unchanged.
        """
        with storage_errors(self.location(table_name)), damage_is_named(self.folder(table_name)):
            yield

    def rows(
        self,
        table_name: str,
        columns: Sequence[str] | None = None,
        filters: Sequence[tuple[str, str, Any]] | None = None,
    ) -> pa.Table:
        """The rows of a small table that meet all `filters`.

        Raises:
            FileNotFoundError: there is no such table.
        """
        with storage_errors(self.location(table_name)):
            return self.existing(table_name).rows(columns, filters)

    def last_metadata(
        self, table_name: str, *, job: str | None = None
    ) -> tuple[int, Metadata] | None:
        """The newest commit with metadata of Weir, and its version.

        Args:
            table_name: of the table.
            job: only commits of this job count; by default those of all jobs.

        Returns:
            None if there is no table, or no such commit in its history.

        Raises:
            DamagedTable: an earlier commit of the job is complete up to a later epoch.
        """
        commits = (
            (int(commit["version"]), Metadata.from_json(commit.get("userMetadata")))
            for commit in self.commits(table_name)
        )
        return newest_commit_of(self.location(table_name), commits, job)

    def commits(self, table_name: str) -> Iterator[dict[str, Any]]:
        """The commits that the log still has, newest first, each with its `version`.

        They are read once, as far as they are iterated. Empty if there is no table.
        """
        with self._lock:
            self._check(table_name)
            known = self._histories.get(table_name)
            if known is None:
                table = self.open(table_name)
                if table is None:
                    # It may exist at the next call.
                    return iter(())
                known = self._histories[table_name] = _Recorded(self._history(table))
        return iter(known)

    def committed(self, table_name: str) -> None:
        """Move an open table to its newest version, after a commit of this process."""
        with self._lock:
            self._histories.pop(table_name, None)
            table = self._tables.get((table_name, None))
            if table is not None:
                with self.using(table_name):
                    table.update_incremental()
                self._note_commit(table_name, table)

    def follow(self, table_name: str) -> None:
        """Move an open table to its newest version, after commits of others, too."""
        with self.using(table_name):
            self.storage.follow(table_name, again=True)
        self.committed(table_name)

    def derived(self, table_name: str) -> Any:
        """The value that `derive` kept for a table; None if there is none, or it was replaced."""
        with self._lock:
            self._check(table_name)
            return self._derived.get(table_name)

    def derive(self, table_name: str, value: Any) -> None:
        """Keep one value per table that was computed from a state of it."""
        with self._lock:
            if (table_name, None) in self._tables:
                self._derived[table_name] = value

    def remove(self, table_name: str) -> None:
        """Delete a table: its rows, its history, its log."""
        with self.using(table_name):
            self.storage.remove(table_name)
        self.forget(table_name)

    def copy(self, table_name: str, new: str) -> None:
        """Copy a table, with its versions, under a name that no table has."""
        self.location(new)
        with self.using(table_name):
            self.storage.copy(table_name, new)
        self.forget(new)

    def below(self, folder: str) -> Lake:
        """The lake in a folder of this one."""
        return Lake(f"{self.root}/{folder}", storage=self.storage.below(folder))

    def forget(self, table_name: str) -> None:
        """Open a table again when it is next needed: it was created, replaced or removed."""
        with self._lock:
            self._unchecked.discard(table_name)
            for known in (self._histories, self._loaded, self._derived):
                known.pop(table_name, None)
            for key in [key for key in self._tables if key[0] == table_name]:
                del self._tables[key]

    def refresh(self) -> None:
        """Start from the newest state of all tables."""
        with self._lock:
            self._look_around()
            self._tables.clear()
            self._histories.clear()
            self._loaded.clear()
            self._derived.clear()
            self._unchecked.clear()

    def catch_up(self) -> None:
        """Start from the newest state of all tables; those that have not changed stay open.

        A table is compared with its log when it is next used, by looking at two files; in an object
        store, by one request.
        """
        with self._lock:
            self._look_around()
            for key in [key for key in self._tables if key[1] is not None]:
                del self._tables[key]
            for (name, _), table in [*self._tables.items()]:
                if table.version() - self._first.get(name, 0) > _KEPT_COMMITS:
                    self.forget(name)
            self._unchecked = {name for name, _ in self._tables}

    def _look_around(self) -> None:
        """See whether others committed: every run commits to the ledger."""
        with self.using(RUNS.name):
            self.storage.follow(RUNS.name, again=True)

    def newest_commit(self, table_name: str) -> object:
        """A value that every commit to the table changes, without reading a file.

        None if there is no table.
        """
        with self._lock, self.using(table_name):
            self.storage.follow(table_name, again=True)
            table = self._tables.get((table_name, None))
            version = 0 if table is None else table.version()
            newest = self._commit_file(table_name, version)
            while following := self._commit_file(table_name, version + 1):
                newest, version = following, version + 1
            return newest

    def _check(self, table_name: str) -> None:
        """Bring a table up to the commits before `catch_up`."""
        if table_name not in self._unchecked:
            return
        table, loaded = self._tables[table_name, None], self._loaded.get(table_name)
        with self.using(table_name):
            self.storage.follow(table_name)
        if loaded is None or loaded != self._commit_file(table_name, table.version()):
            self.forget(table_name)
        elif self._commit_file(table_name, table.version() + 1) is not None:
            _verify_log(self.folder(table_name))
            self.committed(table_name)
        self._unchecked.discard(table_name)
        if (table_name, None) in self._tables:
            self.look(table_name, self._tables[table_name, None].version())

    def _note_commit(self, table_name: str, table: DeltaTable) -> None:
        """Note the commit file by which the loaded state is recognised."""
        loaded = self._commit_file(table_name, table.version())
        if loaded is None:
            self._loaded.pop(table_name, None)
        else:
            self._loaded[table_name] = loaded

    def _commit_file(self, table_name: str, version: int) -> _CommitFile | None:
        """The file of a commit; None if it is gone."""
        return _CommitFile.at(self.folder(table_name), version)

    def _open(self, table_name: str, version: int | None) -> StoredTable | None:
        folder = self.folder(table_name)
        with storage_errors(self.location(table_name)):
            self.storage.follow(table_name, version)
            _verify_log(folder, version)
            try:
                table = StoredTable.open(self.storage, table_name, version)
            except TableNotFoundError:
                return None
            except DeltaError as error:
                _name_damaged_commit(folder, error)
                # The lines after the first name places in the code of the library.
                why = _LINE_END.split(str(error))[0]
                raise DamagedTable(
                    f"its log cannot be read: {why} (table {table_name})",
                    str(describing_commit(folder) or folder / LOG),
                    RESTORE,
                ) from error
        self.opened[table_name] += 1
        return table

    def _history(self, table: StoredTable) -> Iterator[dict[str, Any]]:
        return history(table, partial(self.commit, table.name))


def history(table: DeltaTable, commit: Callable[[int], bytes]) -> Iterator[dict[str, Any]]:
    """The commits that the log of a table still has, newest first, each with its `version`.

    A commit is read when it is reached, which mostly is the newest only. (delta-rs cannot list
    them: it numbers them from the open version, even if others have committed since.)

    Args:
        table: its open version is the newest that is read.
        commit: the content of a commit by its version; raises a `FileNotFoundError` if it is gone.

    Raises:
        DamagedTable: a commit cannot be read, or is not what was written.
    """
    for version in range(table.version(), -1, -1):
        try:
            lines = commit(version).splitlines()
            info: dict[str, Any] = next(
                (value for kind, value in actions(lines) if kind == "commitInfo"), {}
            )
        except FileNotFoundError:
            return
        except (ValueError, AttributeError):
            what = f"this commit cannot be read (table {table_of(table.table_uri)})"
            where = f"{table.table_uri.rstrip('/')}/{commit_file(version)}"
            raise DamagedTable(what, where, RESTORE) from None
        yield {**info, "version": version}


@dataclass(frozen=True, slots=True)
class _CommitFile:
    """What identifies the file of a commit: it differs if another table took the folder."""

    version: int
    inode: int
    modified: int
    size: int

    @classmethod
    def at(cls, folder: Path, version: int) -> Self | None:
        """The file of this version of the table in a folder; None if there is none."""
        try:
            state = (folder / commit_file(version)).stat()
        except OSError:
            return None
        return cls(version, state.st_ino, state.st_mtime_ns, state.st_size)


class _Recorded:
    """The items of an iterator: can be iterated several times, reads the source on demand."""

    def __init__(self, source: Iterator[dict[str, Any]]) -> None:
        self._source, self._seen, self._lock = source, list[dict[str, Any]](), threading.Lock()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for position in count():
            with self._lock:
                if position == len(self._seen):
                    following = next(self._source, None)
                    if following is None:
                        return
                    self._seen.append(following)
            yield self._seen[position]


def files_below(address: str, storage_options: Mapping[str, str] | None) -> fs.FileSystem:
    """The files below the folder or URI of a foreign table."""
    folder = local_folder(address)
    if folder is not None:
        # Why not by delta-rs: see `StoredTable`.
        return fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
    return fs.PyFileSystem(DeltaStorageHandler(address, dict(storage_options or {}) or None))


def local_folder(address: str) -> Path | None:
    """The folder of an address in the local file system, or None for an object store."""
    parts = urlparse(address)
    match parts.scheme:
        case "":
            return Path(address)
        case "file":
            return Path(unquote(parts.path))
        case _:
            return None


def storage_of(root: str, options: Mapping[str, str], cache: Cache | None = None) -> Storage:
    """The files of a lake.

    Args:
        root: folder or URI of the tables.
        options: of an object store.
        cache: copies of the files of an object store that other processes brought.
    """
    folder = local_folder(root)
    if folder is not None:
        return Folder(folder)
    # What it imports costs a process with a local lake some time.
    from weir.lake.storage.mirror import Mirror

    return Mirror(root, options, cache)


def _name_damaged_commit(folder: Path, error: DeltaError) -> None:
    """Raise an error that names the damaged commit of a table; delta-rs does not name it.

    Raises:
        DamagedTable: a commit is garbled or missing.
    """
    for damage in damaged_commits(folder):
        raise DamagedTable(
            f"{damage.what} (table {table_of(str(folder))})",
            str(damage.file),
            "Restore it from a backup; `weir audit` lists all that is damaged.",
        ) from error


def _verify_log(folder: Path, version: int | None = None) -> None:
    """Refuse a damaged log.

    An empty commit file is checked for here: delta-rs takes it for a version and numbers the
    history wrongly. Only a local file system leaves one, after a power failure; object stores write
    all or nothing. Commits before the last checkpoint are not read when a table is opened; they
    were whole when the checkpoint was written.
    """
    checkpoint = last_checkpoint(folder)
    if checkpoint is None:
        commits: Iterable[Path] = (folder / LOG).glob("*.json")
    else:
        commits = commits_after(folder, checkpoint)
    for commit in commits:
        if commit.stat().st_size == 0:
            raise DamagedTable(
                "the commit file is empty, most likely by a power failure while it was written",
                str(commit),
                "If it is the newest, remove it; else restore it from a backup.",
            )
    verify_log(folder, version)
