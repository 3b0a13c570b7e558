"""A lake in an object store, with a copy on this machine of what this process uses.

Of a table, the mirror has the last checkpoint of its log, the commits after it, and the data files
that were read or written. Readers, checks and delta-rs work on these files as in a lake that is a
folder; nothing but this module sends requests. Each object is brought once: log and data files
never change.

A commit is written into the mirror by delta-rs, which checks it against the commits that are known,
and is then created in the store under the condition that the store has none of the same version. If
it has, the commit is removed from the mirror, the other one is brought, and `Refused` is raised. A
process that is killed in between leaves no trace: the mirror is its own.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from deltalake import DeltaTable

from weir.lake.damage.storage_errors import StorageError, note_mirror
from weir.lake.delta.checksums import Checksums, file_checksum
from weir.lake.delta.commit_files import LAST_CHECKPOINT, LOG, commit_file, version_of
from weir.lake.scratch import scratch_folder
from weir.lake.storage.cache import Cache
from weir.lake.storage.objects import ObjectStore, StoredObject, side_by_side
from weir.lake.storage.storage import Refused, Storage, unneeded
from weir.lake.tables import FAMILIES, RUNS
from weir.lake.whole_files import write_whole

_REMOVED = "_removed"
"""The object in the log of a table that is being removed or copied: for readers, there is none."""
_OLD_SECONDS = 30.0
"""A list of a log is so old at most when a commit begins."""
_REMEMBERED = 128
"""The newest files of a log, so many of which are known to the next process."""
_GROUPS = frozenset(family.folder for family in FAMILIES)


@dataclass(frozen=True, slots=True)
class InStore:
    """Data files are written to a temporary folder, and then sent to the store."""

    address: str
    options: Mapping[str, str] = field(repr=False)
    table: str

    @property
    def folder(self) -> Path:
        return scratch_folder()

    def place(self, unfinished: Path, name: str) -> None:
        ObjectStore(self.address, self.options).write(f"{self.table}/{name}", unfinished)
        unfinished.unlink()


@dataclass(frozen=True, slots=True)
class _InMirror:
    """Data files of this process, which stay in the mirror: mostly they are read soon."""

    mirror: Mirror
    table: str

    @property
    def folder(self) -> Path:
        folder = self.mirror.folder(self.table)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def place(self, unfinished: Path, name: str) -> None:
        path = f"{self.table}/{name}"
        self.mirror.objects.write(path, unfinished)
        file = unfinished.with_name(name)
        unfinished.rename(file)
        self.mirror.keep(path, "", file)

    def __reduce__(self) -> tuple[type[InStore], tuple[str, Mapping[str, str], str]]:
        """The processes of Spark have no mirror."""
        return InStore, (self.mirror.address, self.mirror.options, self.table)


@dataclass(slots=True)
class _Log:
    """The log of a table, as it was listed last.

    Attributes:
        versions: the version of each object by the name of the file, for all that the store has.
        brought: the files that the mirror has.
        newest: the version of the newest commit; -1 if there is none.
        generation: of the mirror, when the log was listed last.
        listed_at: the time of that, by the clock of `time.monotonic`.
        is_removed: whether another process is removing the table, or was killed while it did.
        is_whole: whether `versions` has the oldest files, too.
    """

    versions: dict[str, str] = field(default_factory=dict)
    brought: set[str] = field(default_factory=set)
    newest: int = -1
    generation: int = -1
    listed_at: float = 0.0
    is_removed: bool = False
    is_whole: bool = True

    def add(self, entries: Iterable[StoredObject]) -> None:
        for entry in entries:
            self.versions[entry.name] = entry.etag
            self.newest = max(self.newest, _commit_of(entry.name))

    def checkpoint(self, version: int) -> int:
        """The version of the last checkpoint up to `version`; 0 if there is none."""
        known = (version_of(name) or 0 for name in self.versions if ".checkpoint" in name)
        return max((number for number in known if number <= version), default=0)

    def needed(self, version: int) -> list[str]:
        """The files by which a version is read."""
        first = self.checkpoint(version)
        return [
            name
            for name in self.versions
            if (number := version_of(name)) is not None
            if first <= number <= version
            if ".checkpoint" not in name or number == first
        ]


class Mirror(Storage):
    """The files of a lake in an object store.

    Args:
        address: of the lake.
        options: of the store.
        cache: copies of objects that other processes brought; None to bring everything.

    Attributes:
        objects: the store, whose `requests` are counted.
    """

    def __init__(self, address: str, options: Mapping[str, str], cache: Cache | None) -> None:
        self.address, self.options = address, options
        self.objects = ObjectStore(address, options)
        self._cache = cache
        self._root = _scratch(cache) / f"mirror-{uuid.uuid4().hex}"
        self._logs: dict[str, _Log] = {}
        self._generation = 0
        self._recalling, self._has_recalled = threading.Lock(), False
        self._locks: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        note_mirror(self._root, address)

    def folder(self, table: str) -> Path:
        return self._root / table

    def follow(self, table: str, version: int | None = None, *, again: bool = False) -> None:
        self._recall()
        with self._locks[table]:
            log = self._logs.get(table)
            if log is None or not (
                (log.generation == self._generation and not again)
                or (version is not None and version <= log.newest)
                or self._followed(table, log)
            ):
                log = self._list(table)
            if version is not None:
                log = log if log.is_whole else self._list(table)
                self._bring_log(table, log, log.needed(version))
            else:
                self._bring_newest(table, log)

    def expire(self) -> None:
        self._generation += 1

    @property
    def is_folder(self) -> bool:
        return False

    def remember(self) -> None:
        """Keep the lists of the logs, without those of tables to which others may have committed.

        They hold as long as the ledger has no commit of others.
        """
        if self._cache is None:
            return
        listed = {
            table: sorted(log.versions.items())[-_REMEMBERED:]
            for table, log in [*self._logs.items()]
            if log.generation == self._generation and not log.is_removed
        }
        if listed.get(RUNS.name):
            self._cache.remember(self.address, json.dumps(listed).encode())

    def _recall(self) -> None:
        """Begin with the lists of an earlier process, if the ledger is as it left it."""
        with self._recalling:
            if self._has_recalled:
                return
            noted = None if self._cache is None else self._cache.recall(self.address)
            recalled = dict[str, _Log]()
            # A note that cannot be read is as good as none.
            with suppress(ValueError, TypeError, AttributeError):
                for table, versions in json.loads(noted or b"{}").items():
                    log = recalled[table] = _Log(dict(versions), generation=self._generation)
                    log.newest = max(map(_commit_of, log.versions), default=-1)
                    log.is_whole = len(versions) < _REMEMBERED
            if RUNS.name in recalled and self._followed(RUNS.name, recalled[RUNS.name]):
                self._logs.update(recalled)
            self._has_recalled = True

    def bring_commit(self, table: str, version: int) -> None:
        with self._locks[table]:
            log = self._logs.get(table) or self._list(table)
            name = Path(commit_file(version)).name
            if name not in log.versions and not log.is_whole and version <= log.newest:
                log = self._list(table)
            if name in log.versions:
                self._bring_log(table, log, [name])

    def bring_log(self, table: str) -> None:
        with self._locks[table]:
            log = self._list(table)
            names = [name for name in log.versions if version_of(name) is not None]
            self._bring_log(table, log, names, again=True)

    def bring(self, table: str, names: Iterable[str], *, again: bool = False) -> None:
        folder = self.folder(table)
        missing = [name for name in {*names} if again or not (folder / name).exists()]
        wanted = [(f"{table}/{name}", "", folder / name) for name in missing]
        self._side_by_side(wanted, again=again)

    @contextmanager
    def committing(self, table: str) -> Iterator[None]:
        with self._locks[table]:
            self._prepare(table)
            folder = self.folder(table) / LOG
            folder.mkdir(parents=True, exist_ok=True)
            before, record = _names(folder), folder / LAST_CHECKPOINT
            recorded = record.read_bytes() if record.exists() else None

            def undo() -> None:
                for name in _names(folder) - before - self._log(table).brought:
                    (folder / name).unlink(missing_ok=True)
                # It may name a checkpoint of what was undone.
                if recorded is not None:
                    write_whole(record, recorded)

            try:
                yield
                refused = self._publish(table, sorted(_names(folder) - before))
            except BaseException:
                undo()
                # Whether the store has the commit is not known.
                self._log(table).generation = -1
                raise
            if refused is not None:
                undo()
                self.follow(table, again=True)
                raise Refused(f"{table}: another process committed version {refused} first")

    def _prepare(self, table: str) -> None:
        """Begin a commit with a list of the log that is not old.

        While a run holds its claim, others neither remove the tables it writes nor replace them. It
        may have lost the claim, if it was paused.
        """
        log = self._log(table)
        if log.is_removed:
            self._finish_removal(table)
        elif log.newest >= 0 and time.monotonic() - log.listed_at > _OLD_SECONDS:
            if not self._followed(table, log):
                self._list(table)
                raise Refused(f"{table}: the table was removed or replaced")
            self._bring_newest(table, log)

    def destination(self, table: str) -> _InMirror:
        return _InMirror(self, table)

    def sizes(self, table: str, names: Iterable[str]) -> Mapping[str, int]:
        wanted = {*names}
        listed = self.objects.below(table) if wanted else []
        sizes = {entry.path.removeprefix(f"{table}/"): entry.size for entry in listed}
        return {name: size for name, size in sizes.items() if name in wanted}

    def tables(self) -> tuple[str, ...]:
        names = list[str]()
        for folder in self.objects.folders():
            if folder in _GROUPS:
                names += [f"{folder}/{owner}" for owner in self.owners(folder)]
            elif self._has_log(folder):
                names.append(folder)
        return tuple(sorted(names))

    def owners(self, folder: str) -> list[str]:
        names = [path.rpartition("/")[2] for path in self.objects.folders(folder)]
        return [name for name in names if self._has_log(f"{folder}/{name}")]

    def _has_log(self, table: str) -> bool:
        """Whether there is such a table; a request only if its log was not listed yet."""
        self._recall()
        with self._locks[table]:
            log = self._logs.get(table)
            if log is None or not log.versions or log.generation != self._generation:
                log = self._list(table)
            return bool(log.versions)

    def vacuum(self, table: str, opened: DeltaTable) -> int:
        """delta-rs says which files can go, by the log and the times of empty files."""
        with self._locks[table], tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
            # delta-rs reads the log of the version that is open; links to it suffice.
            shutil.copytree(self.folder(table) / LOG, Path(folder) / LOG, copy_function=os.link)
            names = []
            for entry in self.objects.below(table):
                name = entry.path.removeprefix(f"{table}/")
                if not name.startswith("_"):
                    names.append(name)
                    file = Path(folder) / name
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.touch()
                    os.utime(file, (entry.modified.timestamp(), entry.modified.timestamp()))
            copy = DeltaTable(folder, opened.version())
            goes = unneeded(copy) & {*names}
        self.objects.delete(f"{table}/{name}" for name in sorted(goes))
        for name in goes:
            (self.folder(table) / name).unlink(missing_ok=True)
        return len(goes)

    def log_files(self, table: str) -> list[str]:
        return sorted(self._list(table).versions)

    def delete_log_files(self, table: str, names: Iterable[str]) -> None:
        names = [*names]
        self.objects.delete(f"{table}/{LOG}/{name}" for name in names)
        with self._locks[table]:
            log = self._log(table)
            for name in names:
                log.versions.pop(name, None)
                log.brought.discard(name)
                (self.folder(table) / LOG / name).unlink(missing_ok=True)

    def remove(self, table: str) -> None:
        """A mark comes first: if the process is killed, the table is gone for all readers."""
        self.objects.write(_mark(table), b"")
        self._finish_removal(table)

    def copy(self, table: str, new: str) -> None:
        """The store copies; until all is there, a mark says that there is no such table."""
        with self._locks[new]:
            self.objects.write(_mark(new), b"")
            self._empty(new)
            paths = self._paths(table)
            self.objects.copy((path, f"{new}{path.removeprefix(table)}") for path in paths)
            self.objects.delete([_mark(new)])

    def move(self, table: str, new: str) -> None:
        entries = self.objects.below(table)
        # What is being removed was moved, by a process that was killed.
        if any(entry.path == _mark(table) for entry in entries):
            self._finish_removal(table)
        elif entries:
            self.copy(table, new)
            self.remove(table)

    def below(self, folder: str) -> Mirror:
        return Mirror(f"{self.address}/{folder}", self.options, self._cache)

    def clear(self, folder: str) -> None:
        self.objects.delete(entry.path for entry in self.objects.below(folder))

    def touch(self, path: str) -> None:
        self.objects.write(path, b"")

    def touched_at(self, path: str) -> datetime | None:
        entry = self.objects.look(path)
        return None if entry is None else entry.modified

    def delete(self, path: str) -> None:
        self.objects.delete([path])

    def keep(self, path: str, version: str, file: Path) -> None:
        """Let other processes of this machine use a file of the mirror."""
        if self._cache is not None:
            self._cache.add(f"{self.address}/{path}", version, file)

    def _log(self, table: str) -> _Log:
        return self._logs.setdefault(table, _Log())

    def _list(self, table: str) -> _Log:
        """The log of a table, listed whole."""
        # Others may commit, and this process may learn it, while the store answers.
        listed = _Log(generation=self._generation, listed_at=time.monotonic())
        entries = self.objects.below(f"{table}/{LOG}")
        listed.is_removed = any(entry.path.endswith(f"/{_REMOVED}") for entry in entries)
        if not listed.is_removed:
            listed.add(entries)
        log = self._logs.get(table)
        self._logs[table] = listed
        if log is None:
            return listed
        if not listed.versions.keys() - {LAST_CHECKPOINT} <= log.versions.keys():
            self._expire_by(table, listed)
        newest = Path(commit_file(log.newest)).name
        if log.newest >= 0 and listed.versions.get(newest) != log.versions[newest]:
            # Another table took its place, or there is none.
            shutil.rmtree(self.folder(table), ignore_errors=True)
            return listed
        for name in log.brought:
            if name in listed.versions:
                listed.brought.add(name)
            else:
                # The log was shortened.
                (self.folder(table) / LOG / name).unlink(missing_ok=True)
        return listed

    def _followed(self, table: str, log: _Log) -> bool:
        """Note later commits; false if the newest known one is not there any more.

        Every run commits to the ledger before and after it commits to other tables. So as long as
        others do not, nothing else has changed either.
        """
        if log.newest < 0:
            return False
        log.generation, log.listed_at = self._generation, time.monotonic()
        newest = Path(commit_file(log.newest)).name
        after = f"{table}/{LOG}/{newest.partition('.')[0]}"
        entries = {entry.name: entry for entry in self.objects.below(f"{table}/{LOG}", after=after)}
        last = entries.get(newest)
        if last is None or last.etag != log.versions[newest] or _REMOVED in entries:
            self._expire_by(table, log)
            return False
        if not entries.keys() - {LAST_CHECKPOINT} <= log.versions.keys():
            self._expire_by(table, log)
        log.add(entries.values())
        return True

    def _expire_by(self, table: str, log: _Log) -> None:
        """Others committed to a table: if that is the ledger, only its list still counts."""
        if table == RUNS.name:
            self.expire()
            log.generation = self._generation

    def _bring_newest(self, table: str, log: _Log) -> None:
        """Bring what the newest version is read by, with a record of the last checkpoint."""
        before = {*log.brought}
        # A version that is open is compared with all commits after it.
        known = max(map(_commit_of, log.brought), default=log.newest)
        later = [name for name in log.versions if _commit_of(name) > known]
        self._bring_log(table, log, {*log.needed(log.newest), *later})
        checkpoint = log.checkpoint(log.newest)
        if checkpoint and any(".checkpoint" in name for name in log.brought - before):
            record = {"version": checkpoint, "size": 1}
            write_whole(self.folder(table) / LOG / LAST_CHECKPOINT, json.dumps(record))

    def _bring_log(
        self, table: str, log: _Log, names: Iterable[str], *, again: bool = False
    ) -> None:
        folder = self.folder(table) / LOG
        # delta-rs deletes commits that are older than the retention of the log.
        missing = [
            name
            for name in names
            if again or name not in log.brought or not (folder / name).exists()
        ]
        self._side_by_side(
            [(f"{table}/{LOG}/{name}", log.versions[name], folder / name) for name in missing],
            again=again,
        )
        log.brought.update(name for name in missing if (folder / name).exists())

    def _publish(self, table: str, names: list[str]) -> int | None:
        """Send new files of the log to the store: commits, then checkpoints.

        Returns:
            The version of a commit that the store refused, as it has another one.
        """
        folder, log = self.folder(table) / LOG, self._log(table)
        for name in names:
            if not name.endswith(".json"):
                continue
            content = (folder / name).read_bytes()
            created = self.objects.create(f"{table}/{LOG}/{name}", content)
            if created is None:
                return _commit_of(name)
            self._note(table, log, created, folder / name)
        checkpoints = [name for name in names if ".checkpoint" in name]
        # The commit stands without them; a later one adds a checkpoint again.
        with suppress(StorageError):
            for name in checkpoints:
                path = f"{table}/{LOG}/{name}"
                self._note(table, log, self.objects.write(path, folder / name), folder / name)
            if checkpoints:
                self.objects.write(f"{table}/{LOG}/{LAST_CHECKPOINT}", folder / LAST_CHECKPOINT)
        return None

    def _note(self, table: str, log: _Log, created: StoredObject, file: Path) -> None:
        log.add([created])
        log.brought.add(file.name)
        self.keep(f"{table}/{LOG}/{file.name}", created.etag, file)

    def _side_by_side(self, wanted: list[tuple[str, str, Path]], *, again: bool = False) -> None:
        """Bring objects of these paths and versions to files; `again` if from the store itself."""
        for _, _, file in wanted:
            file.parent.mkdir(parents=True, exist_ok=True)
        if len(wanted) == 1:
            self._bring_one(wanted[0], again=again)
        elif wanted:
            side_by_side(partial(self._bring_one, again=again), wanted)

    def _bring_one(self, wanted: tuple[str, str, Path], *, again: bool) -> None:
        """Bring an object; nothing happens if there is none."""
        path, version, file = wanted
        draft = file.with_name(f"{uuid.uuid4().hex}.unfinished")
        try:
            if not again and self._is_cached(path, version, file, draft):
                return
            draft.unlink(missing_ok=True)
            self.objects.download(path, draft)
            draft.replace(file)
        except FileNotFoundError:
            if again:
                # A copy of this machine does not stand for what the store has lost.
                file.unlink(missing_ok=True)
            return
        finally:
            draft.unlink(missing_ok=True)
        self.keep(path, version, file)

    def _is_cached(self, path: str, version: str, file: Path, draft: Path) -> bool:
        """Whether the cache has a copy, whose content is what was written, and is there now."""
        address = f"{self.address}/{path}"
        if self._cache is None or not self._cache.get(address, version, draft):
            return False
        expected = Checksums.of_name(file.name)
        if expected is not None and file_checksum(draft) != expected.file:
            self._cache.remove(address, version)
            return False
        draft.replace(file)
        return True

    def _finish_removal(self, table: str) -> None:
        with self._locks[table]:
            self._empty(table)
            # It goes last.
            self.objects.delete([_mark(table)])

    def _empty(self, table: str) -> None:
        """Delete all of a table but the mark that says that there is no such table."""
        self.objects.delete(self._paths(table))
        self._logs.pop(table, None)
        with suppress(OSError):
            shutil.rmtree(self.folder(table))

    def _paths(self, table: str) -> list[str]:
        """The objects of a table, without the mark."""
        paths = (entry.path for entry in self.objects.below(table))
        return [path for path in paths if path != _mark(table)]


def _mark(table: str) -> str:
    return f"{table}/{LOG}/{_REMOVED}"


def _scratch(cache: Cache | None) -> Path:
    """A folder of this process beside the cache, so that copies need no space of their own."""
    if cache is not None:
        with suppress(OSError, StorageError):
            return scratch_folder(cache.folder.parent / "mirrors")
    return scratch_folder()


def _commit_of(name: str) -> int:
    """The version of a commit by the name of its file; -1 for other files."""
    version = version_of(name) if name.endswith(".json") else None
    return -1 if version is None else version


def _names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}
