"""Files outside of Delta tables that are replaced atomically: no reader sees half of one."""

from __future__ import annotations

import fcntl
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_LEFT_AFTER = 3600.0
"""Seconds without a write after which a draft is one of a process that was killed."""


def write_whole(file: Path, content: str | bytes) -> None:
    """Replace or create a file atomically, and create missing folders (`whole_file`)."""
    with whole_file(file) as output:
        output.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(file: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which replaces or creates `file` at the end of the block.

    If the block fails, the process is killed or the disk is full, the earlier file stays. A pipe or
    a terminal is written to directly. Missing folders are created.
    """
    target = file.resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as output:
            yield output
        return
    with whole_path(file) as draft, draft.open("wb") as output:
        yield output


@contextmanager
def whole_path(file: Path) -> Iterator[Path]:
    """A path to write to, of a file that replaces or creates `file` at the end of the block.

    For libraries that open files themselves. As `whole_file`, but for pipes and terminals.
    """
    target = file.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    # The number of a process is not enough: containers that share a folder may have the same.
    draft = target.with_name(f".{target.name}.{uuid.uuid4().int}")
    try:
        yield draft
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Wait until nobody else writes the files of a folder, and keep others from it meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def remove_drafts(folder: Path, names: re.Pattern[str]) -> None:
    """Remove what processes that were killed left of the files of a folder with such names."""
    for draft in folder.glob(".*"):
        name, _, number = draft.name[1:].rpartition(".")
        if names.fullmatch(name) and number.isdecimal():
            with suppress(FileNotFoundError):
                if time.time() - draft.stat().st_mtime > _LEFT_AFTER:
                    draft.unlink()
