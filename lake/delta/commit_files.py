"""The commit files of a Delta table's log: their names, order, actions and errors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import count, takewhile
from pathlib import Path
from typing import Any

LOG = "_delta_log"
"""The folder of the log, below that of the table."""
LAST_CHECKPOINT = "_last_checkpoint"
"""The file of the log that names the last checkpoint."""
_KINDS = frozenset(
    ("add", "cdc", "commitInfo", "domainMetadata", "metaData", "protocol", "remove", "txn")
)
"""The actions that a commit file may have."""
_VERSION_DIGITS = 20
_VERSIONS = ("minReaderVersion", "minWriterVersion")


def version_of(name: str) -> int | None:
    """The version that the name of a commit or a checkpoint begins with; None for other files."""
    digits = name[:_VERSION_DIGITS]
    return int(digits) if len(digits) == _VERSION_DIGITS and digits.isdigit() else None


def commit_file(version: int) -> str:
    """The path of a commit file, below the folder of the table."""
    return f"{LOG}/{version:0{_VERSION_DIGITS}}.json"


def actions(lines: Iterable[bytes]) -> Iterator[tuple[str, Any]]:
    """The kind and content of each action of a commit file, read as far as they are iterated.

    Raises:
        ValueError, AttributeError: a line is not an action.
    """
    for line in lines:
        yield from json.loads(line).items()


def last_checkpoint(table: Path) -> int | None:
    """The version of the last checkpoint of a local table, None if none is recorded."""
    try:
        return int(json.loads((table / LOG / LAST_CHECKPOINT).read_bytes())["version"])
    except (FileNotFoundError, ValueError, LookupError, TypeError):
        return None


def checkpoint_files(table: Path, version: int | None = None) -> list[Path]:
    """The files of a checkpoint of a local table, by default of all checkpoints."""
    name = "*" if version is None else f"{version:020}"
    return sorted((table / LOG).glob(f"{name}.checkpoint*.parquet"))


def commits_after(table: Path, version: int) -> Iterator[Path]:
    """The commit files of a local table after `version`, up to the first gap."""
    return takewhile(Path.exists, (table / commit_file(later) for later in count(version + 1)))


def describing_commit(table: Path) -> Path | None:
    """The newest commit of a local table with its schema or its protocol, None if there is none."""
    for file in sorted((table / LOG).glob("*.json"), reverse=True):
        with suppress(OSError, ValueError, AttributeError), file.open("rb") as lines:
            if any(kind in ("metaData", "protocol") for kind, _ in actions(lines)):
                return file
    return None


def garbled(commit: Path) -> str | None:
    """Why a commit file cannot be read, None if it can."""
    try:
        content = commit.read_bytes()
    except OSError as error:
        return f"the commit file cannot be read: {error.strerror}"
    if not content.strip():
        return "the commit file is empty"
    for number, line in enumerate(content.splitlines(), 1):
        try:
            action = json.loads(line) if line.strip() else {}
        except ValueError:
            action = None
        if not isinstance(action, dict):
            return f"line {number} of the commit file is not JSON"
        what = _unlike_delta(action)
        if what is not None:
            return f"line {number} of the commit file {what}"
    return None


def _unlike_delta(action: Mapping[str, Any]) -> str | None:
    """Why Delta cannot read a line of a commit, None if it can."""
    unknown = sorted(action.keys() - _KINDS)
    if unknown:
        return f"has no action of Delta: {unknown[0]}"
    try:
        if "metaData" in action:
            fields = json.loads(action["metaData"]["schemaString"])["fields"]
            if any(not {"name", "type"} <= field.keys() for field in fields):
                return "has a schema that cannot be read"
        if "protocol" in action:
            protocol = action["protocol"]
            if not all(isinstance(protocol[name], int) for name in _VERSIONS):
                return "has a protocol that cannot be read"
    except (ValueError, LookupError, TypeError, AttributeError):
        return f"has a {'schema' if 'metaData' in action else 'protocol'} that cannot be read"
    return None
