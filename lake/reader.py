"""Tables of the lake without Spark: what the newest commits say, and small reads (delta-rs)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError
from pyarrow import fs

from lake.metadata import Metadata

StorageOptions = Mapping[str, str] | None
_FIRST_COMMITS = 8


class DamagedTable(Exception):  # noqa: N818  (named after what is wrong)
    """The log of a table holds a commit that cannot be read."""


class _Table(DeltaTable):
    """A table whose files, if they are local, Arrow reads without calling Python.

    delta-rs gives Arrow a file system in Python. Its threads read ahead; one that needs the
    interpreter while that ends makes the process abort, crash or wait for ever. That was seen in
    half of the programs that end right after a small read.
    """

    def to_pyarrow_dataset(self, **options: Any) -> ds.Dataset:  # type: ignore[override]
        folder = local_folder(unquote(self.table_uri))
        if options.get("filesystem") is None and folder is not None and folder.is_dir():
            options["filesystem"] = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
        return super().to_pyarrow_dataset(**options)


def location(root: str, table_name: str) -> str:
    """Folder or URI of a table."""
    return f"{root.rstrip('/')}/{table_name}"


def open_table(
    root: str, table_name: str, storage_options: StorageOptions = None, version: int | None = None
) -> DeltaTable | None:
    """The table, or None when there is none.

    Raises:
        DamagedTable: a commit file of it is empty.
    """
    address = location(root, table_name)
    _refuse_empty_commits(address)
    try:
        return _Table(address, version=version, storage_options=_plain(storage_options))
    except TableNotFoundError:
        return None


def exists(root: str, table_name: str, storage_options: StorageOptions = None) -> bool:
    """Whether the table has been created."""
    return open_table(root, table_name, storage_options) is not None


def version(root: str, table_name: str, storage_options: StorageOptions = None) -> int | None:
    """The newest version of the table, or None when there is no table."""
    table = open_table(root, table_name, storage_options)
    return None if table is None else table.version()


def last_metadata(
    root: str, table_name: str, storage_options: StorageOptions = None, *, job: str | None = None
) -> tuple[int, Metadata] | None:
    """The newest commit that carries our metadata (of `job`, if given), with its version.

    None when there is no table or no such commit in the history that is kept.
    """
    table = open_table(root, table_name, storage_options)
    if table is None:
        return None
    for commit in commits(table):
        metadata = Metadata.from_json(commit.get("userMetadata"))
        if metadata is not None and job in (None, metadata.job):
            return commit["version"], metadata
    return None


def commits(table: DeltaTable) -> Iterator[dict[str, Any]]:
    """The commits of the history that is kept, newest first, each with its `version`.

    The log is read in growing pieces: mostly the newest commit is the one that is looked for.
    """
    limit, oldest = _FIRST_COMMITS, table.version() + 1
    while True:
        newest = table.history(limit)
        # Others may have committed since the last piece.
        older = [each for each in newest if "version" in each and each["version"] < oldest]
        yield from older
        if not older and len(newest) < limit:
            return
        oldest = older[-1]["version"] if older else oldest
        limit *= 8


def rows_written(
    root: str, table_name: str, version: int, storage_options: StorageOptions = None
) -> int:
    """How many rows the commit `version` wrote, by its commit information; 0 if that is silent."""
    table = open_table(root, table_name, storage_options)
    for commit in commits(table) if table is not None else ():
        if commit["version"] == version:
            return int(commit.get("operationMetrics", {}).get("numOutputRows", 0))
    return 0


def to_arrow(
    root: str,
    table_name: str,
    storage_options: StorageOptions = None,
    *,
    columns: Sequence[str] | None = None,
    version: int | None = None,
) -> pa.Table:
    """All rows of a small table.

    Raises:
        FileNotFoundError: there is no such table.
    """
    table = open_table(root, table_name, storage_options, version)
    if table is None:
        raise FileNotFoundError(location(root, table_name))
    return table.to_pyarrow_table(columns=None if columns is None else list(columns))


def local_folder(address: str) -> Path | None:
    """The folder of an address in the local file system, or None for an object store."""
    parts = urlparse(address)
    match parts.scheme:
        case "":
            return Path(address)
        case "file":
            return Path(unquote(parts.path))
        case _:
            return None


def _plain(storage_options: StorageOptions) -> dict[str, str] | None:
    return dict(storage_options) if storage_options else None


def _refuse_empty_commits(address: str) -> None:
    """delta-rs takes an empty commit file for a version and numbers the history wrongly.

    Only a local file system leaves one (a machine that lost power); object stores write all or
    nothing.
    """
    folder = local_folder(address)
    if folder is None:
        return
    for commit in (folder / "_delta_log").glob("*.json"):
        if commit.stat().st_size == 0:
            raise DamagedTable(
                f"{commit}: the commit file is empty, most likely by a power failure while it was "
                "written. If it is the newest, remove it; else restore it from a backup."
            )
