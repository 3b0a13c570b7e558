"""Rows appended to a table after one of its versions, read commit by commit (no Spark).

How many there are is the cost: the table may be of any size, and its files may have been merged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from lake.commit_files import actions, commit_file
from lake.lake import Lake


class NotAppended(Exception):  # noqa: N818  (named after what is wrong)
    """The appended rows cannot be determined: the log is gone, or rows were removed."""


def commit_digest(lake: Lake, table_name: str, version: int) -> str:
    """SHA-256 of a commit: another table in the same place has another commit of this version.

    Raises:
        NotAppended: the log no longer holds the commit.
    """
    return hashlib.sha256(_commit(lake.files(table_name), version)).hexdigest()


def appended_rows(
    lake: Lake, table_name: str, after: int, last: int, schema: pa.Schema
) -> pa.Table:
    """The rows that the commits after version `after`, up to `last`, appended; in no order.

    Commits that rearrange files are skipped. Columns that a file lacks are null.

    Raises:
        NotAppended: the log no longer holds one of the commits, a commit did more than append, or a
            file was deleted since.
    """
    files = lake.files(table_name)
    paths = [
        path for version in range(after + 1, last + 1) for path in _added(_commit(files, version))
    ]
    if not paths:
        return schema.empty_table()
    try:
        found = ds.dataset(paths, schema=schema, format="parquet", filesystem=files)
        return found.to_table()
    except FileNotFoundError as error:
        raise NotAppended(str(error)) from error


def _added(commit: bytes) -> Iterator[str]:
    """The files of the rows that a commit appended."""
    for kind, action in actions(commit.splitlines()):
        if kind in {"add", "remove"} and action["dataChange"]:
            if kind == "remove" or action.get("deletionVector") is not None:
                raise NotAppended("a commit removed rows")
            yield _path(action)


def _path(add: dict[str, Any]) -> str:
    path = unquote(add["path"])
    if "://" in path or path.startswith("/"):
        raise NotAppended(f"{path} is a file of another table")
    return path


def _commit(files: fs.FileSystem, version: int) -> bytes:
    try:
        with files.open_input_stream(commit_file(version)) as stream:
            return bytes(stream.read())
    except FileNotFoundError as error:
        raise NotAppended(f"the log no longer holds version {version}") from error
