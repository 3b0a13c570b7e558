"""The files with the changes of one commit of a table, of Weir or foreign (no Spark).

If a commit has change-feed files, these have its changes. Otherwise all rows of the files that it
adds are inserted, and all rows of the files that it removes are deleted.
https://github.com/delta-io/delta/blob/master/PROTOCOL.md#add-cdc-file
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from pyarrow import fs

from weir.lake.delta.commit_files import actions, commit_file


class NotByFiles(Exception):  # noqa: N818  (named after what is wrong)
    """The changes of a commit cannot be read as the rows of whole files."""


@dataclass(frozen=True, slots=True)
class FeedFiles:
    """The files with the changes of one commit, by paths below the table's folder.

    Attributes:
        inserted: files all of whose rows were inserted.
        deleted: files all of whose rows were deleted.
        of_feed: change-feed files; their column `_change_type` says what happened to a row.
        bytes: the size of all of them.
        changes_table: whether the commit sets the schema, properties or protocol of the table.
    """

    inserted: tuple[str, ...]
    deleted: tuple[str, ...]
    of_feed: tuple[str, ...]
    bytes: int
    changes_table: bool = False


def feed_files(files: fs.FileSystem, version: int) -> FeedFiles:
    """The files with the changes of a commit; none if it rearranged files.

    Args:
        files: those below the folder of the table.
        version: of the commit.

    Raises:
        FileNotFoundError: the log no longer has the commit, or lacks the size of a missing file.
        NotByFiles: a file has a deletion vector, or is outside of the folder.
    """
    lines = read_commit(files, version).splitlines()
    by_kind: dict[str, list[dict[str, Any]]] = {"add": [], "remove": [], "cdc": []}
    changes_table = False
    for kind, action in actions(lines):
        changes_table = changes_table or kind in ("metaData", "protocol")
        if kind == "cdc" or (kind in by_kind and action["dataChange"]):
            by_kind[kind].append(action)
    changed = by_kind["cdc"] or [*by_kind["add"], *by_kind["remove"]]
    if any(action.get("deletionVector") is not None for action in changed):
        raise NotByFiles(f"version {version} has deletion vectors")
    size = sum(_size(files, action) for action in changed)
    if by_kind["cdc"]:
        return FeedFiles((), (), _paths(by_kind["cdc"]), size, changes_table)
    added, removed = _paths(by_kind["add"]), _paths(by_kind["remove"])
    return FeedFiles(added, removed, (), size, changes_table)


def read_commit(files: fs.FileSystem, version: int) -> bytes:
    """The content of a commit of a foreign table.

    Raises:
        FileNotFoundError: the log has none, or not any more.
    """
    with files.open_input_stream(commit_file(version)) as stream:
        return bytes(stream.read())


def _size(files: fs.FileSystem, action: dict[str, Any]) -> int:
    size = action.get("size")
    if size is None:
        # A `remove` may lack it.
        path = file_path(action["path"])
        size = files.get_file_info(path).size
        if size is None:
            raise FileNotFoundError(path)
    return int(size)


def _paths(changed: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(file_path(action["path"]) for action in changed)


def file_path(path: str) -> str:
    """The path of a file below the folder of its table, from its path in the log.

    Raises:
        NotByFiles: it is in another folder, as files of a shallow clone are.
    """
    plain = unquote(path)
    if "://" in plain or plain.startswith("/"):
        raise NotByFiles(f"{plain} is a file of another table")
    return plain
