"""Copies on this machine of objects that never change, shared by all processes of a user.

A copy gets its name by one step, so that a process that is killed leaves no half of one. The copies
that were used longest ago are removed when all of them together are too large.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path

from weir.lake.whole_files import write_whole

_UNFINISHED = ".unfinished"
_OLD_SECONDS = 3_600
"""An unfinished copy of this age is one of a process that was killed."""
_SHARE = 0.9
"""Copies are removed until this share of the most bytes is left."""


class Cache:
    """A folder of copies.

    Args:
        folder: is created when it is needed.
        most_bytes: of all copies together; the newest copy stays even if it alone has more.

    Attributes:
        folder: of the copies.
    """

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self.folder, self._most_bytes = folder, most_bytes
        self._added, self._lock = most_bytes, threading.Lock()

    def get(self, address: str, version: str, file: Path) -> bool:
        """Make `file` the copy of an object, if there is one."""
        copy = self._copy(address, version)
        try:
            _link(copy, file)
            # Not the time of the content, which others read.
            os.utime(copy, ns=(time.time_ns(), copy.stat().st_mtime_ns))
        except OSError:
            return False
        return True

    def add(self, address: str, version: str, file: Path) -> None:
        """Keep a copy of an object, whose content is that of `file`.

        Nothing happens if the folder cannot be written, or the disk is full.
        """
        copy = self._copy(address, version)
        draft = copy.with_name(f"{uuid.uuid4().hex}{_UNFINISHED}")
        try:
            copy.parent.mkdir(parents=True, exist_ok=True)
            _link(file, draft)
            draft.replace(copy)
            self._shrink(copy.stat().st_size)
        except OSError:
            with suppress(OSError):
                draft.unlink(missing_ok=True)

    def remove(self, address: str, version: str) -> None:
        """Remove the copy of an object, which is not what was written."""
        with suppress(OSError):
            self._copy(address, version).unlink(missing_ok=True)

    def recall(self, address: str) -> bytes | None:
        """What `remember` was called with last for an address."""
        try:
            return self._note(address).read_bytes()
        except OSError:
            return None

    def remember(self, address: str, content: bytes) -> None:
        """Keep a text about an address for later processes, if the folder can be written."""
        with suppress(OSError):
            write_whole(self._note(address), content)

    def _copy(self, address: str, version: str) -> Path:
        name = _digest(f"{address}\n{version}")
        return self.folder / name[:2] / name

    def _note(self, address: str) -> Path:
        return self.folder / f"{_digest(address)}.json"

    def _shrink(self, added: int) -> None:
        """Remove the copies used longest ago, once a tenth of the most bytes was added."""
        with self._lock:
            self._added += added
            if self._added < self._most_bytes * (1 - _SHARE):
                return
            self._added = 0
        copies = [(file, file.stat()) for file in _files(self.folder)]
        total = sum(status.st_size for _, status in copies)
        is_too_large = total > self._most_bytes
        oldest_first = sorted(copies, key=lambda copy: copy[1].st_atime_ns)
        for file, status in oldest_first[:-1]:
            is_left_over = file.suffix == _UNFINISHED and (
                time.time_ns() - status.st_ctime_ns > _OLD_SECONDS * 1_000_000_000
            )
            if is_left_over or (is_too_large and total > self._most_bytes * _SHARE):
                file.unlink(missing_ok=True)
                total -= status.st_size


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=20).hexdigest()


def _link(source: Path, target: Path) -> None:
    """Give a file a second name; a copy if the names are on different disks."""
    try:
        os.link(source, target)
    except FileExistsError:
        return
    except OSError:
        if not source.is_file():
            raise
        shutil.copy2(source, target)


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.glob("*/*") if file.is_file()]
