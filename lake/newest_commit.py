"""The metadata of a table's newest commit, read from its log without opening the table.

Opening a table reads the last checkpoint and all commits after it. Where there are many tables and
all that is wanted of each is who committed last, that is most of what a run costs.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from lake.lake import Lake, local_folder
from lake.metadata import Metadata


def newest_metadata(lake: Lake, table_name: str, job: str) -> tuple[int, Metadata] | None:
    """The newest commit, if it carries metadata of `job`, with its version.

    None if the lake has the table open, which is then what counts; if the table is in an object
    store; and if anything but metadata of `job` is found: `Lake.last_metadata` knows what to do.
    """
    folder = local_folder(lake.location(table_name))
    if folder is None or lake.is_open(table_name):
        return None
    log = folder / "_delta_log"
    try:
        version = _newest(log)
        metadata = Metadata.from_json(_user_metadata(_commit(log, version)))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        # Not written by Delta, or not whole.
        return None
    return (version, metadata) if metadata is not None and metadata.job == job else None


def is_newest(lake: Lake, table_name: str, version: int, before: datetime) -> bool:
    """Whether a version was committed before a time and is the newest, as far as two files say.

    A table that was removed and created again may have another commit of this version, a later one.
    False if the lake has the table open, and if it is in an object store.
    """
    folder = local_folder(lake.location(table_name))
    if folder is None or lake.is_open(table_name):
        return False
    log = folder / "_delta_log"
    try:
        committed = _commit(log, version).stat().st_mtime
    except OSError:
        return False
    return committed <= before.timestamp() and not _commit(log, version + 1).exists()


def _newest(log: Path) -> int:
    """The newest version: the last checkpoint's, and those after it, which follow without gaps."""
    try:
        version = int(json.loads((log / "_last_checkpoint").read_bytes())["version"])
    except FileNotFoundError:
        version = 0
    while _commit(log, version + 1).exists():
        version += 1
    return version


def _commit(log: Path, version: int) -> Path:
    return log / f"{version:020}.json"


def _user_metadata(commit: Path) -> str | None:
    with commit.open("rb") as lines:
        for line in lines:
            action = json.loads(line)
            if "commitInfo" in action:
                found = action["commitInfo"].get("userMetadata")
                return None if found is None else str(found)
    return None
