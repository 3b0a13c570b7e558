"""A folder of this process, for files that are of no use after its end.

A process that is killed cannot remove its folder; the next one on the same machine does.
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
    """The folder of this process, which is removed when it ends.

    The first call removes those that processes of this machine have left.

    Args:
        parent: where it is; by default in the folder of temporary files, for this user alone.

    Raises:
        StorageError: in its place is what others could read or change.
    """
    return _made(parent, os.getpid())


@cache
def _made(parent: Path | None, pid: int) -> Path:
    if parent is None:
        parent = private_folder(Path(tempfile.gettempdir()) / f"weir-{os.getuid()}")
    else:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    sweep(parent)
    folder = private_folder(parent / _name(pid))
    atexit.register(_remove, folder, pid)
    return folder


def private_folder(folder: Path) -> Path:
    """Make a folder that is this user's alone; one that is there already has to be so.

    Everybody can write into the folder of temporary files: a link that another user put there
    would have this process write, and read, where that user wants.

    Raises:
        StorageError: it is a link or a file, is another user's, or others may use it.
    """
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        what = "it is a link or a file, where a folder of this user has to be"
    elif found.st_uid != os.getuid():
        what = f"it belongs to another user ({found.st_uid})"
    elif stat.S_IMODE(found.st_mode) & 0o077:
        what = f"others may use it (mode {stat.S_IMODE(found.st_mode):o})"
    else:
        return folder
    raise StorageError(what, str(folder), "Remove it, or name another folder by TMPDIR.")


def sweep(parent: Path) -> None:
    """Remove the folders of this user's processes on this machine that have ended."""
    for folder in parent.glob(f"{glob.escape(socket.gethostname())}~*~*"):
        named = _FOLDER.fullmatch(folder.name)
        try:
            found = folder.lstat()
        except FileNotFoundError:
            # Another process removes it, too.
            continue
        if named is None or found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode):
            continue
        made_at = datetime.fromtimestamp(found.st_mtime, UTC)
        if not lives(int(named["pid"]), made_at, named["known_as"].replace("_", "/") or None):
            shutil.rmtree(folder, ignore_errors=True)


def _name(pid: int) -> str:
    known_as = identity(pid) or ""
    return f"{socket.gethostname()}~{pid}~{known_as.replace('/', '_')}"


def _remove(folder: Path, pid: int) -> None:
    # A fork of the process ends, too.
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
