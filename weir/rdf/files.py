"""Lists and opens the files of a source by path or URI, and gives their format by name."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import IO, cast
from urllib.parse import quote, unquote

from pyarrow import fs

from weir.lake.scratch import scratch_folder
from weir.rdf.compression import (
    RefusedArchive,
    decompressed,
    ending_of,
    name_in_zip,
    refused_archive,
    without_ending,
)
from weir.rdf.records import Format

FORMATS: Mapping[str, Format] = {
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
_BLOCK = 1 << 20
_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFBLK: "a device",
    stat.S_IFCHR: "a device",
}
_START = datetime(1970, 1, 1, tzinfo=UTC)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_IN_STORE = re.compile(r"((?:s3a?|gs|az|abfss?)://[^/?]+)/?([^?]*)")
"""Addresses in object stores; those with options of Arrow's own are left to Arrow."""


@dataclass(frozen=True, slots=True)
class FileInfo:
    """One entry of a source.

    Attributes:
        path: path or URI to open it.
        name: relative to the listed folder.
        size: in bytes.
        modified: when it was written, in UTC; None if the store does not say.
        refused: why a link is not followed; None if it is not such a link.
        is_folder: whether such a link leads to a folder.
        no_file: the kind of an entry without content, such as a pipe; None for a file.
    """

    path: str
    name: str
    size: int
    modified: datetime | None = None
    refused: str | None = None
    is_folder: bool = False
    no_file: str | None = None


def list_files(location: str, store: Mapping[str, str] | None = None) -> list[FileInfo]:
    """The files below a local folder or URI, or the file itself, sorted by name.

    Files and folders named `.x` or `_x` are left out, as by Spark. A symbolic link out of the
    folder, or to a folder that contains it, is listed as `refused`; an entry that is neither a file
    nor a folder is listed as `no_file`.

    Args:
        location: path or URI.
        store: options of an object store, by the names of delta-rs; here and below.

    Raises:
        FileNotFoundError: there is no such file or folder.
        NotADirectoryError: the location is neither a file nor a folder.
    """
    system, root = _resolve(location, store)
    info = system.get_file_info(root)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(f"{location}: no such file or folder")
    if info.type == fs.FileType.File:
        is_local = isinstance(system, fs.LocalFileSystem)
        modified = _modified(Path(root).stat()) if is_local else info.mtime
        return [FileInfo(location, info.base_name, info.size, modified)]
    if isinstance(system, fs.LocalFileSystem):
        return sorted(_below_folder(Path(root), location), key=lambda file: file.name)
    prefix = root.rstrip("/") + "/"
    files = [
        FileInfo(_below(location, name), name, entry.size, entry.mtime)
        for entry in system.get_file_info(fs.FileSelector(root, recursive=True))
        if entry.type == fs.FileType.File
        for name in [entry.path.removeprefix(prefix)]
        if not any(part.startswith((".", "_")) for part in name.split("/"))
    ]
    return sorted(files, key=lambda file: file.name)


def _below_folder(root: Path, location: str) -> Iterator[FileInfo]:
    """The files of a local folder, and the links in it that are not followed."""
    open_folders: list[tuple[Path, str, tuple[str, ...]]] = [(root, "", (os.path.realpath(root),))]
    while open_folders:
        folder, prefix, above = open_folders.pop()
        with os.scandir(folder) as entries:
            visible = [entry for entry in entries if not entry.name.startswith((".", "_"))]
        for entry in visible:
            name = f"{prefix}{entry.name}"
            path, is_link = _below(location, name), entry.is_symlink()
            # Asking for it is dear where there are many files, and needless for most.
            real = os.path.realpath(entry.path) if is_link or entry.is_dir() else entry.path
            reason = _link_fault(entry, real, above) if is_link else None
            if reason is not None:
                yield FileInfo(path, name, 0, None, reason, Path(real).is_dir())
            elif entry.is_dir():
                open_folders.append((Path(entry.path), f"{name}/", (*above, real)))
            elif entry.is_file():
                status = entry.stat()
                yield FileInfo(path, name, status.st_size, _modified(status))
            else:
                kind = _KINDS.get(stat.S_IFMT(entry.stat().st_mode), "no file")
                yield FileInfo(path, name, 0, no_file=kind)


def _link_fault(entry: os.DirEntry[str], real: str, above: Sequence[str]) -> str | None:
    """Why a symbolic link to `real` is not followed; `above` are the real folders around it."""
    if not real.startswith(f"{above[0].rstrip('/')}/") and real != above[0]:
        return f"the symbolic link leaves the folder of the source, to {real}"
    if real in above or entry.path == real:
        return "the symbolic link makes a cycle"
    if not Path(real).exists():
        return f"the symbolic link leads nowhere: {real}"
    return None


def _modified(status: os.stat_result) -> datetime:
    return _START + timedelta(microseconds=status.st_mtime_ns // 1000)


def is_unchanged(path: str, size: int, modified: datetime | None) -> bool:
    """Whether a local file still has this size, and this time if it is not None.

    True for a URI, since objects of a store are written as a whole.
    """
    # True for a missing file: reading it will raise an error.
    status = local_stat(path)
    return status is None or (status[0] == size and modified in (None, status[1]))


def local_stat(path: str) -> tuple[int, datetime] | None:
    """Size in bytes and time in UTC of a local file; None for a URI, and if there is no access."""
    if _SCHEME.match(path):
        return None
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_size, _modified(status)


def format_of(name: str) -> Format | None:
    """The format by the ending of a file name, maybe compressed; None if it is unknown."""
    if refused_archive(name) is not None:
        return None
    _, dot, ending = without_ending(name.lower()).rpartition(".")
    return FORMATS.get(ending) if dot else None


def format_in(
    file: FileInfo, declared: Format | None = None, store: Mapping[str, str] | None = None
) -> tuple[Format | None, str]:
    """The format of a file, and the reason if it has none.

    It is the declared format, or else by the name of the file, for `x.zip` by the name inside.

    Raises:
        ArchiveError: `x.zip` is broken.
        OSError: it cannot be read.
    """
    if refused := refused_archive(file.name):
        return None, refused
    known = declared or format_of(file.name)
    if known is None and ending_of(file.name) == ".zip" and file.refused is None:
        try:
            return _format_in_zip(file.path, store)
        except RefusedArchive as error:
            return None, str(error)
    return known, "its name has no known ending"


def _format_in_zip(path: str, store: Mapping[str, str] | None) -> tuple[Format | None, str]:
    system, inner = _resolve(path, store)
    with system.open_input_file(inner) as archive:
        return format_of(name_in_zip(archive)), "the name of the file in it has no known ending"


@contextmanager
def opened_raw(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, not decompressed.

    Raises:
        OSError: it cannot be opened.
    """
    system, inner = _resolve(path)
    with system.open_input_stream(inner, compression=None) as raw:
        yield cast(IO[bytes], raw)


@contextmanager
def local_copy(file: str, store: Mapping[str, str] | None = None) -> Iterator[str | None]:
    """A context with the path of a local copy of a store's object; None for a local file.

    Raises:
        OSError: it cannot be read, or there is no room for the copy.
    """
    if not _SCHEME.match(file):
        yield None
        return
    system, inner = _resolve(file, store)
    if isinstance(system, fs.LocalFileSystem):
        yield inner
        return
    # The copy keeps the ending, by which a file is known to be compressed.
    with tempfile.NamedTemporaryFile(
        prefix="object-", suffix=ending_of(inner), dir=scratch_folder()
    ) as copy:
        with system.open_input_stream(inner, compression=None) as raw:
            shutil.copyfileobj(cast(IO[bytes], raw), copy, _BLOCK)
        copy.flush()
        yield copy.name


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """The bytes of a file, decompressed if its name has an ending of `compression`.

    Raises:
        OSError: it cannot be opened.
        ArchiveError: it is compressed and broken; this may show only when it is read.
    """
    system, inner = _resolve(path)
    ending = ending_of(inner)
    # A pyarrow file has the methods that the parsers use.
    with (
        system.open_input_file(inner)
        if ending
        else system.open_input_stream(inner, compression=None)
    ) as raw:
        yield decompressed(raw, ending)


def _below(location: str, name: str) -> str:
    if _SCHEME.match(location):
        folder, mark, options = location.partition("?")
        return f"{folder.rstrip('/')}/{quote(name)}{mark}{options}"
    return f"{location.rstrip('/')}/{name}"


def _resolve(location: str, store: Mapping[str, str] | None = None) -> tuple[fs.FileSystem, str]:
    if not _SCHEME.match(location):
        return fs.LocalFileSystem(), str(Path(location).absolute())
    in_store = _IN_STORE.fullmatch(location)
    if in_store is None:
        return fs.FileSystem.from_uri(location)
    return _store(in_store[1], tuple(sorted((store or {}).items()))), unquote(in_store[2])


@lru_cache(8)
def _store(root: str, options: tuple[tuple[str, str], ...]) -> fs.FileSystem:
    from weir.lake.lake import files_below

    return files_below(root, dict(options))
