"""A folder of this process, for files that are of no use after its end.

A process that is killed cannot remove its folder; the next one on the same machine does.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from lake.processes import identity, lives


def scratch_folder(parent: Path | None = None) -> Path:
    """The folder of this process, which is removed when it ends.

    The first call removes those that processes of this machine have left.

    Args:
        parent: where it is; by default in the folder of temporary files, for this user alone.
    """
    return _made(parent or Path(tempfile.gettempdir()) / f"weir-{os.getuid()}", os.getpid())


@cache
def _made(parent: Path, pid: int) -> Path:
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    sweep(parent)
    folder = parent / _name(pid)
    folder.mkdir(exist_ok=True)
    atexit.register(_remove, folder, pid)
    return folder


def sweep(parent: Path) -> None:
    """Remove the folders of processes of this machine that have ended."""
    for folder in parent.glob(f"{socket.gethostname()}~*~*"):
        _, pid, known_as = folder.name.split("~")
        made_at = datetime.fromtimestamp(folder.stat().st_mtime, UTC)
        if not lives(int(pid), made_at, known_as.replace("_", "/") or None):
            shutil.rmtree(folder, ignore_errors=True)


def _name(pid: int) -> str:
    known_as = identity(pid) or ""
    return f"{socket.gethostname()}~{pid}~{known_as.replace('/', '_')}"


def _remove(folder: Path, pid: int) -> None:
    # A fork of the process ends, too.
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
