"""Files outside of Delta tables that are replaced as a whole: no reader finds a part of one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def write_whole(file: Path, content: str | bytes) -> None:
    """Write a file, in the place of an earlier one; creates missing folders.

    Killed at any point, or without room on the disk, the earlier file is left as it is. What is
    there and is no file, a pipe or a terminal, is written to.
    """
    data = content.encode() if isinstance(content, str) else content
    target = file.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        if target.exists():
            shutil.copymode(target, draft)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
