"""Checks of the log of a local table before it is used: the log decides what is read.

A commit or checkpoint has no checksum of its own, and one flipped bit in it may change an epoch or
the name of a file. So the digest of each is noted below the table, by the process that wrote it or
the first that reads it. Each process compares it when it first reads the file. A commit without a
note, because its writer was killed, must not be a copy of another one.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from weir.lake.damage.storage_errors import NO_FILE, RESTORE, DamagedTable, table_of
from weir.lake.delta.checksums import NOTES, Verified
from weir.lake.delta.commit_files import (
    LAST_CHECKPOINT,
    LOG,
    checkpoint_files,
    commit_file,
    commits_after,
    garbled,
    last_checkpoint,
)
from weir.lake.whole_files import write_whole

LOG_NOTES = "log"
"""The file below `NOTES` with a line for each file of the log: its digest and its name."""
_NOTE = re.compile(r"[0-9a-f]{16} \d{20}\.[\w.\-]+")
_verified = Verified()
_noting = threading.Lock()


def verify_log(folder: Path, version: int | None = None) -> None:
    """Check the files by which a local table is read: its last checkpoint and the commits after it.

    Args:
        folder: of the table.
        version: of the table that is read; by default the newest.

    Raises:
        DamagedTable: a file is not what was written, is missing, or is a copy of another.
    """
    checkpoint = _last_checkpoint(folder)
    if version is not None and checkpoint is not None and checkpoint > version:
        checkpoint = _newest_checkpoint(folder, version)
    files = [] if checkpoint is None else checkpoint_files(folder, checkpoint)
    if checkpoint is not None and not files:
        what = f"the checkpoint that it names is not there (table {table_of(str(folder))})"
        raise DamagedTable(what, str(folder / LOG / LAST_CHECKPOINT), RESTORE)
    _verify(folder, [*files, *commits_after(folder, -1 if checkpoint is None else checkpoint)])


def verify_commit(folder: Path, version: int) -> None:
    """Check one commit of a local table, if the log still has it.

    Raises:
        DamagedTable: it is not what was written, or is a copy of another.
    """
    _verify(folder, [folder / commit_file(version)])


def verify_commits(folder: Path, after: int, version: int) -> None:
    """Check the commits of a local table after `after`, up to `version`, and a later checkpoint.

    Raises:
        DamagedTable: a file is not what was written, or is a copy of another.
    """
    files = [folder / commit_file(later) for later in range(after + 1, version + 1)]
    checkpoint = last_checkpoint(folder)
    if checkpoint is not None and checkpoint > after:
        files += checkpoint_files(folder, checkpoint)
    _verify(folder, files)


def unlike_notes(folder: Path, files: Iterable[Path]) -> Iterator[Path]:
    """The files, out of some of a local table's log, whose digest differs from the noted one."""
    digests = _notes(folder).digests
    for file in files:
        with suppress(OSError):
            if digests.get(file.name, digest := _digest(file)) != digest:
                yield file


def forget_commits(folder: Path, before: int) -> None:
    """Remove the notes about commits and checkpoints before a version."""
    # Names of commits and checkpoints begin with their version. Of one version, the name of the
    # checkpoint sorts first.
    first = Path(commit_file(before)).name.partition(".")[0]
    digests = _notes(folder).digests
    with _noting, suppress(OSError):
        kept = [(name, digest) for name, digest in digests.items() if name >= first]
        write_whole(folder / NOTES / LOG_NOTES, _lines(kept))


def _verify(folder: Path, files: Iterable[Path]) -> None:
    present = [file for file in files if file.exists()]
    for file in present:
        if not file.is_file():
            raise DamagedTable(
                f"{NO_FILE} (log of the table {table_of(str(folder))})", str(file), RESTORE
            )
    try:
        unverified = [*_verified.unverified(present)]
        if not unverified:
            return
        digests = {file: _digest(file) for file, _ in unverified}
    except FileNotFoundError:
        # Another process is deleting old commits.
        return
    notes = _notes(folder)
    newest = folder / LOG / max(notes.digests, default=LAST_CHECKPOINT)
    if notes.digests and not newest.exists():
        raise _missing(folder, newest)
    for file, digest in digests.items():
        if notes.digests.get(file.name, digest) != digest:
            raise _damaged(folder, file)
        other = notes.commits.get(digest, file.name)
        if other != file.name:
            raise _copied(folder, file, other)
    # A file that cannot be read is damaged, and will be replaced or removed.
    new = [
        (file.name, digest)
        for file, digest in digests.items()
        if file.name not in notes.digests
        if file.suffix != ".json" or garbled(file) is None
    ]
    if new:
        _note(folder, new)
    for file, state in unverified:
        _verified.note(file, state)


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, _new_digest).hexdigest()


def _new_digest() -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=8)


def _last_checkpoint(folder: Path) -> int | None:
    """The version of the last checkpoint, as recorded; without a record, by the files.

    Raises:
        DamagedTable: the record cannot be read.
    """
    version = last_checkpoint(folder)
    if version is not None:
        return version
    record = folder / LOG / LAST_CHECKPOINT
    if record.exists():
        what = f"this record of the last checkpoint cannot be read (table {table_of(str(folder))})"
        raise DamagedTable(what, str(record), RESTORE)
    return _newest_checkpoint(folder)


def _newest_checkpoint(folder: Path, version: int | None = None) -> int | None:
    names = (file.name.partition(".")[0] for file in checkpoint_files(folder))
    versions = (int(name) for name in names if name.isdigit())
    return max((other for other in versions if version is None or other <= version), default=None)


@dataclass(slots=True)
class _Notes:
    """The notes about the log of a table, as far as the file of notes was read.

    Attributes:
        inode: of the file of notes.
        read: how many bytes of it were read.
        last: the last line that was read; it differs if the file was replaced.
        digests: by the name of a file of the log.
        commits: the names of commits by their digests.
    """

    inode: int = 0
    read: int = 0
    last: bytes = b""
    digests: dict[str, str] = field(default_factory=dict)
    commits: dict[str, str] = field(default_factory=dict)

    def are_of(self, stream: BinaryIO) -> bool:
        """Whether these notes were read from this file, which a restore may have replaced."""
        if os.fstat(stream.fileno()).st_ino != self.inode:
            return False
        stream.seek(self.read - len(self.last))
        return stream.read(len(self.last)) == self.last

    def add(self, lines: bytes) -> None:
        """Add lines that were written since; an unfinished last line is left for the next time."""
        whole, end, _ = lines.rpartition(b"\n")
        if whole:
            self.last = whole.rpartition(b"\n")[2] + end
        self.read += len(whole) + len(end)
        for line in whole.decode("ascii", errors="replace").split("\n"):
            # A full disk may have cut a note off; it then counts as missing.
            if _NOTE.fullmatch(line):
                digest, _, name = line.partition(" ")
                self.digests[name] = digest
                if name.endswith(".json"):
                    self.commits.setdefault(digest, name)


_known: dict[Path, _Notes] = {}
_MOST_KNOWN = 64
"""The notes of so many tables are remembered; those of others are read again."""


def _notes(folder: Path) -> _Notes:
    """The notes about a log; only new lines are read."""
    with _noting:
        try:
            with (folder / NOTES / LOG_NOTES).open("rb") as stream:
                notes = _known.get(folder)
                if notes is None or not notes.are_of(stream):
                    if len(_known) >= _MOST_KNOWN:
                        _known.pop(next(iter(_known)))
                    notes = _known[folder] = _Notes(os.fstat(stream.fileno()).st_ino)
                stream.seek(notes.read)
                notes.add(stream.read())
                return notes
        except (FileNotFoundError, NotADirectoryError):
            _known.pop(folder, None)
            return _Notes()


def _note(folder: Path, notes: Iterable[tuple[str, str]]) -> None:
    # A reader without permission to write adds no note.
    with _noting, suppress(OSError):
        (folder / NOTES).mkdir(exist_ok=True)
        # By one write: other processes append lines too.
        target = os.open(folder / NOTES / LOG_NOTES, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(target, _lines(notes).encode())
        finally:
            os.close(target)


def _lines(notes: Iterable[tuple[str, str]]) -> str:
    return "".join(f"{digest} {name}\n" for name, digest in notes)


def _damaged(folder: Path, file: Path) -> DamagedTable:
    reason = garbled(file) if file.suffix == ".json" else None
    what = f"{reason or 'it is not what was written'} (log of the table {table_of(str(folder))})"
    hint = f"Restore it from a backup; if it is right, remove {folder / NOTES / LOG_NOTES}."
    return DamagedTable(what, str(file), hint)


def _copied(folder: Path, file: Path, other: str) -> DamagedTable:
    what = f"this commit is a copy of {other} (table {table_of(str(folder))})"
    hint = "If it is the newest, remove it; else restore it from a backup."
    return DamagedTable(what, str(file), hint)


def _missing(folder: Path, file: Path) -> DamagedTable:
    what = f"this file of the log is missing (table {table_of(str(folder))})"
    hint = f"Restore it from a backup; if you removed it, remove {folder / NOTES / LOG_NOTES}."
    return DamagedTable(what, str(file), hint)
