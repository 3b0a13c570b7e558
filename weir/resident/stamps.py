"""The stamps of all files that a run reads: as long as they are the same, so is what it reads."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from weir.catalog.names import folders_of
from weir.errors import ConfigurationError
from weir.ingest.sources.all_sources import all_sources
from weir.ingest.sources.delta import DeltaTable
from weir.ingest.sources.rounds import Rounds
from weir.ingest.sources.source import Source
from weir.lake.lake import Lake, local_folder
from weir.lake.tables import RUNS
from weir.settings import Settings

_Stamp = tuple[int, int, int]
"""Inode, time of the last change, size: another one for another content."""
_FOLDERS = ("", "answers", "embeddings")
"""Of the lake; they change where a table appears or goes."""


@dataclass(frozen=True, slots=True)
class Stamps:
    """The state of all that a run reads, by the stamps of files; no file is opened.

    Attributes:
        declared: the sources, the remotes, the queries and the programs.
        offered: what the sources have to offer.
        stored: the ledger, of which every run changes something, and which tables there are.
        is_known: whether that is all there is; not with a source or lake in an object store, and
            not with a stream in which time passes.
    """

    declared: Hashable
    offered: Hashable
    stored: Hashable
    is_known: bool

    @classmethod
    def of(cls, settings: Settings, sources: tuple[Source, ...], lake: Lake) -> Self:
        """The state now."""
        files = ((*_files(folder, 1),) for folder in folders_of(settings).values())
        declared = (stamp(settings.sources), stamp(settings.remotes), *files)
        offered = [_offered(location) for source in sources for location in _locations(source)]
        ledger, root = lake.newest_commit(RUNS.name), local_folder(lake.root)
        folders = None if root is None else tuple(stamp(root / each) for each in _FOLDERS)
        # Time alone gives a stream that can be idle something to do.
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
        found = file.stat()
    except OSError:
        return None
    return _stamp(found)


def _stamp(found: os.stat_result) -> _Stamp:
    return found.st_ino, found.st_mtime_ns, found.st_size


def _locations(source: Source) -> Iterator[str]:
    for key in source.locations:
        location = getattr(source, key)
        if location is not None:
            # Of a table only the log, whose newest file says that there is something new.
            yield f"{location}/_delta_log" if isinstance(source, DeltaTable | Rounds) else location


def _offered(location: str) -> Hashable:
    """The stamps of the files of a source; None if they are not on this machine."""
    folder = local_folder(location)
    if folder is None:
        return None
    return (stamp(folder), (*_files(folder, None),))


def _files(folder: Path, depth: int | None) -> Iterator[tuple[str, _Stamp]]:
    """The files in a folder, and in those within it, down to `depth`."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir():
                    yield entry.path, _stamp(entry.stat())
                elif depth is None or depth > 1:
                    yield from _files(Path(entry.path), None if depth is None else depth - 1)
    except OSError:
        # It is gone, or no folder: its own stamp says so.
        return
