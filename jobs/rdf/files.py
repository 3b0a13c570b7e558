"""Files of a source: listed and opened by path or URI, their format by name."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobs.rdf.records import Format


@dataclass(frozen=True, slots=True)
class FileInfo:
    """One file of a source: path or URI to open it, name relative to the listed folder, bytes, last change (UTC)."""

    path: str
    name: str
    size: int
    modified: datetime | None


def list_files(location: str) -> list[FileInfo]:
    """The files below a local folder or URI (itself, if it is a file), sorted by name; `.x` and `_x` left out.

    Raises:
        FileNotFoundError: nothing is there.
    """
    raise NotImplementedError


def format_of(name: str) -> Format | None:
    """The format that a file name (with or without `.gz`) says; None if it is none of ours."""
    raise NotImplementedError
