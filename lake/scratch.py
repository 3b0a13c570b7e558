"""A folder for temporary files of this process.

A killed process cannot remove its folder; the next process on the same machine does.
"""

from __future__ import annotations

import atexit
import glob
import os
import re
import shutil
import socket
import stat
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from weir.lake.damage.storage_errors import StorageError
from weir.lake.ledger.processes import identity, lives

_FOLDER = re.compile(r"[^~]+~(?P<pid>\d{1,9})~(?P<known_as>[^~]*)")


def scratch_folder(parent: Path | None = None) -> Path:
    """The folder of this process, which is removed when the process ends.

    The first call also removes the folders that killed processes left on this machine.

    Args:
        parent: of the folder; by default a folder of this user in the system's temporary folder.

    Raises:
        StorageError: others could read or change what is at its path.
    """
    return _create(parent, os.getpid())


@cache
def _create(parent: Path | None, pid: int) -> Path:
    if parent is None:
        parent = private_folder(Path(tempfile.gettempdir()) / f"weir-{os.getuid()}")
    else:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    sweep(parent)
    folder = private_folder(parent / _name(pid))
    atexit.register(_remove, folder, pid)
    return folder


def private_folder(folder: Path) -> Path:
    """Create a folder that only this user can use, or check that an existing one is such.

    Everybody can write into the system's temporary folder: by a link in it, another user could
    choose where this process writes and reads.

    Raises:
        StorageError: the path is a link or a file, belongs to another user, or others may use it.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        what = "it is a link or a file, where a folder of this user has to be"
    elif status.st_uid != os.getuid():
        what = f"it belongs to another user ({status.st_uid})"
    elif stat.S_IMODE(status.st_mode) & 0o077:
        what = f"others may use it (mode {stat.S_IMODE(status.st_mode):o})"
    else:
        return folder
    raise StorageError(what, str(folder), "Remove it, or name another folder by TMPDIR.")


def sweep(parent: Path) -> None:
    """Remove the folders that ended processes of this user left on this machine."""
    for folder in parent.glob(f"{glob.escape(socket.gethostname())}~*~*"):
        named = _FOLDER.fullmatch(folder.name)
        try:
            status = folder.lstat()
        except FileNotFoundError:
            # Another process removed it.
            continue
        if named is None or status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
            continue
        created_at = datetime.fromtimestamp(status.st_mtime, UTC)
        if not lives(int(named["pid"]), created_at, named["known_as"].replace("_", "/") or None):
            shutil.rmtree(folder, ignore_errors=True)


def _name(pid: int) -> str:
    known_as = identity(pid) or ""
    return f"{socket.gethostname()}~{pid}~{known_as.replace('/', '_')}"


def _remove(folder: Path, pid: int) -> None:
    # A fork of the process also runs this when it ends.
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
