"""The commit files of a Delta table's log: their names, their actions, and those that are read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import count, takewhile
from pathlib import Path
from typing import Any

LOG = "_delta_log"
"""The folder of the log, below that of the table."""


def commit_file(version: int) -> str:
    """The path of a commit file, below the folder of the table."""
    return f"{LOG}/{version:020}.json"


def actions(lines: Iterable[bytes]) -> Iterator[tuple[str, Any]]:
    """The actions of a commit file, each with its kind, read as far as they are iterated.

    Raises:
        ValueError, AttributeError: a line is no action.
    """
    for line in lines:
        yield from json.loads(line).items()


def last_checkpoint(table: Path) -> int | None:
    """The version of the last checkpoint of a local table, None if none is recorded."""
    try:
        return int(json.loads((table / LOG / "_last_checkpoint").read_bytes())["version"])
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return None


def commits_after(table: Path, version: int) -> Iterator[Path]:
    """The commit files of a local table after `version`; versions have no gaps."""
    return takewhile(Path.exists, (table / commit_file(later) for later in count(version + 1)))
