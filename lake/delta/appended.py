"""The rows that commits added and removed, read commit by commit (no Spark).

The cost grows with the commits that are read, not with the size of the table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from weir.lake.delta.commit_files import actions
from weir.lake.delta.file_rows import rows_of_files
from weir.lake.lake import Lake


class NotAppended(Exception):  # noqa: N818  (named after what is wrong)
    """The appended rows cannot be determined: the log is gone, or rows were removed."""


def commit_digest(lake: Lake, table_name: str, version: int) -> str:
    """SHA-256 of a commit, which differs if another table took the folder.

    Raises:
        NotAppended: the log no longer holds the commit.
    """
    return hashlib.sha256(_commit(lake, table_name, version)).hexdigest()


def appended_rows(
    lake: Lake, table_name: str, after: int, last: int, schema: pa.Schema
) -> pa.Table:
    """The rows that the commits after version `after`, up to `last`, appended; in no order.

    Commits that rearrange files are skipped. Columns that a file lacks are null.

    Raises:
        NotAppended: the log no longer has one of the commits, a commit did more than append, or a
            file was deleted since.
    """
    names: list[str] = []
    for version in range(after + 1, last + 1):
        files = changed_files(lake, table_name, version)
        if files.removed:
            raise NotAppended("a commit removed rows")
        names += files.added
    if not names:
        return schema.empty_table()
    with lake.using(table_name):
        try:
            return rows_of_files(lake, table_name, names, schema).to_table()
        except FileNotFoundError as error:
            raise NotAppended(str(error)) from error


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The files whose rows a commit added and removed, by paths below the table's folder."""

    added: Sequence[str]
    removed: Sequence[str]


def changed_files(lake: Lake, table_name: str, version: int) -> ChangedFiles:
    """The files whose rows a commit added and removed; none if it only rearranged files.

    Raises:
        NotAppended: the log no longer has the commit, or whole files do not show what it changed.
    """
    changed: dict[str, list[str]] = {"add": [], "remove": []}
    for kind, action in actions(_commit(lake, table_name, version).splitlines()):
        if kind == "cdc":
            raise NotAppended(
                f"version {version} did not only append: it has files of a change feed"
            )
        if kind in changed and action["dataChange"]:
            if action.get("deletionVector") is not None:
                raise NotAppended(f"version {version} did not only append: it has deletion vectors")
            changed[kind].append(_path(action))
    return ChangedFiles(changed["add"], changed["remove"])


def _path(add: dict[str, Any]) -> str:
    path = unquote(add["path"])
    if "://" in path or path.startswith("/"):
        raise NotAppended(f"{path} is a file of another table")
    return path


def _commit(lake: Lake, table_name: str, version: int) -> bytes:
    try:
        return lake.commit(table_name, version)
    except FileNotFoundError as error:
        raise NotAppended(f"the log no longer holds version {version}") from error
