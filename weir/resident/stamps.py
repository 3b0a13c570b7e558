"""The stamps of all files that a run reads: if they are equal, so is what the run reads."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from weir.definitions.names import folders_of
from weir.errors import ConfigurationError
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.sources.source import Source
from weir.lake.lake import Lake, local_folder
from weir.lake.tables import ANSWERS, CURRENT, EMBEDDINGS, RUNS
from weir.settings import Settings

_Stamp = tuple[int, int, int]
"""Inode, time of the last change, size: different if the content is."""
_FOLDERS = ("", ANSWERS.folder, CURRENT.folder, EMBEDDINGS.folder)
"""Folders of the lake; their stamps change when a table is created or removed."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """The stamps of everything that a run reads; no file is opened.

    Attributes:
        declared: of the files of sources, remotes, queries and programs.
        offered: of the files in the locations of the sources.
        stored: of the ledger, to which every run commits, and of the folders of tables.
        is_known: whether equal stamps mean that there is nothing to do; not if a source is in an
            object store, nor if a stream advances with time.
    """

    declared: Hashable
    offered: Hashable
    stored: Hashable
    is_known: bool

    @classmethod
    def of(cls, settings: Settings, sources: tuple[Source, ...], lake: Lake) -> Self:
        """The stamps now."""
        files = ((*_files(folder, 1),) for folder in folders_of(settings).values())
        declared = (stamp(settings.sources), stamp(settings.remotes), *files)
        offered = [_offered(location) for source in sources for location in _locations(source)]
        ledger, root = lake.newest_commit(RUNS.name), local_folder(lake.root)
        # In an object store, the ledger alone says that something was committed.
        folders = () if root is None else tuple(stamp(root / name) for name in _FOLDERS)
        # A stream that can be idle advances with time alone.
        is_timed = any(source.stream and source.stream.idle for source in sources)
        is_known = None not in (ledger, folders, *offered) and not is_timed
        return cls(declared, tuple(offered), (ledger, folders), is_known)


def declared_sources(settings: Settings) -> tuple[Source, ...]:
    """The sources of a project; none if a file that declares them cannot be used."""
    try:
        return all_sources(settings)
    except ConfigurationError:
        return ()


def stamp(file: Path) -> _Stamp | None:
    """The stamp of a file or folder; None if there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return _stamp(status)


def _stamp(status: os.stat_result) -> _Stamp:
    return status.st_ino, status.st_mtime_ns, status.st_size


def _locations(source: Source) -> Iterator[str]:
    for key in source.locations:
        location = getattr(source, key)
        if location is not None:
            # Of a table, the log suffices: every commit adds a file to it.
            yield f"{location}/{source.watched}" if source.watched else location


def _offered(location: str) -> Hashable:
    """The stamps of the files of a source; None if they are not on this machine."""
    folder = local_folder(location)
    if folder is None:
        return None
    return (stamp(folder), (*_files(folder, None),))


def _files(folder: Path, depth: int | None) -> Iterator[tuple[str, _Stamp]]:
    """The files in a folder and its subfolders, down to `depth`; None: all."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir():
                    yield entry.path, _stamp(entry.stat())
                elif depth is None or depth > 1:
                    yield from _files(Path(entry.path), None if depth is None else depth - 1)
    except OSError:
        # It is gone, or not a folder: its own stamp shows that.
        return
