"""Files of a source: listed and opened by path or URI; the format by the name."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, cast
from urllib.parse import quote

from pyarrow import fs

from jobs.rdf.records import Format

_FORMATS: dict[str, Format] = {
    "nt": "n-triples",
    "nq": "n-quads",
    "ttl": "turtle",
    "trig": "trig",
    "rdf": "rdf-xml",
    "owl": "rdf-xml",
    "xml": "rdf-xml",
    "jsonld": "json-ld",
    "json": "json-ld",
    "nqp": "rdf-patch",
    "rdfp": "rdf-patch",
    "patch": "rdf-patch",
}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


@dataclass(frozen=True, slots=True)
class FileInfo:
    """One file of a source.

    path: path or URI to open it. name: relative to the listed folder. size: bytes. modified: when
    it was written, in UTC; None if the store does not say.
    """

    path: str
    name: str
    size: int
    modified: datetime | None = None


def list_files(location: str) -> list[FileInfo]:
    """The files below a local folder or URI (itself, if it is a file), sorted by name.

    Files and folders named `.x` or `_x` are left out, as Spark does.

    Raises:
        FileNotFoundError: there is no such file or folder.
    """
    system, root = _resolve(location)
    info = system.get_file_info(root)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"{location}: no such file or folder")
    if info.type == fs.FileType.File:
        return [FileInfo(location, info.base_name, info.size, info.mtime)]
    prefix = root.rstrip("/") + "/"
    found = [
        FileInfo(_below(location, name), name, each.size, each.mtime)
        for each in system.get_file_info(fs.FileSelector(root, recursive=True))
        if each.type == fs.FileType.File
        for name in [each.path.removeprefix(prefix)]
        if not any(part.startswith((".", "_")) for part in name.split("/"))
    ]
    return sorted(found, key=lambda file: file.name)


def is_unchanged(path: str, size: int, modified: datetime | None) -> bool:
    """Whether a local file has this size, and this time if it is known.

    Objects of a store are written as a whole.
    """
    if _SCHEME.match(path):
        return True
    system, inner = _resolve(path)
    info = system.get_file_info(inner)
    # A file that is gone is one that cannot be read.
    if info.type != fs.FileType.File:
        return True
    return info.size == size and modified in (None, info.mtime)


def format_of(name: str) -> Format | None:
    """The format by the ending of a file name (with or without `.gz`); None if it is unknown."""
    _, dot, ending = name.lower().removesuffix(".gz").rpartition(".")
    return _FORMATS.get(ending) if dot else None


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, decompressed if its name ends with `.gz`.

    Raises:
        OSError: it cannot be opened.
    """
    system, inner = _resolve(path)
    # A pyarrow file has the methods that gzip and the parsers use.
    with system.open_input_stream(inner, compression=None) as raw:
        file = cast(IO[bytes], raw)
        if inner.lower().endswith(".gz"):
            with gzip.open(file) as unzipped:
                yield cast(IO[bytes], unzipped)
        else:
            yield file


def _below(location: str, name: str) -> str:
    if _SCHEME.match(location):
        folder, mark, options = location.partition("?")
        return f"{folder.rstrip('/')}/{quote(name)}{mark}{options}"
    return f"{location.rstrip('/')}/{name}"


def _resolve(location: str) -> tuple[fs.FileSystem, str]:
    if _SCHEME.match(location):
        return fs.FileSystem.from_uri(location)
    return fs.LocalFileSystem(), str(Path(location).absolute())
