"""Files outside of Delta tables that are replaced atomically: no reader sees half of one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def write_whole(file: Path, content: str | bytes) -> None:
    """Replace or create a file atomically, and create missing folders.

    If the process is killed or the disk is full, the earlier file stays. A pipe or a terminal is
    written to directly.
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
