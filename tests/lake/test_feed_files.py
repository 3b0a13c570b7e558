"""The files with the changes of a commit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import fs

from weir.lake.delta.commit_files import commit_file
from weir.lake.delta.feed_files import FeedFiles, NotByFiles, feed_files

ADD = {"path": "a%20b.parquet", "size": 3, "dataChange": True}
REMOVE = {"path": "c.parquet", "size": 4, "dataChange": True}


def files_of(folder: Path, *actions: dict[str, Any]) -> FeedFiles:
    """The files of a commit with these actions."""
    log = folder / commit_file(7)
    log.parent.mkdir(parents=True)
    log.write_text("\n".join(map(json.dumps, actions)))
    return feed_files(fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem()), 7)


def test_added_files_are_inserted_and_removed_ones_deleted(tmp_path: Path) -> None:
    files = files_of(tmp_path, {"commitInfo": {}}, {"add": ADD}, {"remove": REMOVE})
    assert files == FeedFiles(("a b.parquet",), ("c.parquet",), (), 7)


def test_files_of_a_change_feed_stand_for_all_others(tmp_path: Path) -> None:
    feed = {"path": "_change_data/d", "size": 5, "dataChange": False}
    files = files_of(tmp_path, {"add": ADD}, {"cdc": feed}, {"remove": REMOVE})
    assert files == FeedFiles((), (), ("_change_data/d",), 5)


def test_a_commit_that_only_rearranges_files_has_no_changed_file(tmp_path: Path) -> None:
    files = files_of(tmp_path, {"add": ADD | {"dataChange": False}})
    assert files == FeedFiles((), (), (), 0)


@pytest.mark.parametrize(
    "action",
    [
        {"remove": REMOVE | {"deletionVector": {"storageType": "u"}}},
        {"add": ADD | {"path": "file:///elsewhere/a.parquet"}},
    ],
    ids=["deletion vector", "elsewhere"],
)
def test_a_commit_whose_files_do_not_say_what_changed_is_refused(
    tmp_path: Path, action: dict[str, Any]
) -> None:
    with pytest.raises(NotByFiles):
        files_of(tmp_path, action)


@pytest.mark.parametrize("kind", ["metaData", "protocol"])
def test_a_commit_that_changes_the_table_itself_says_so(tmp_path: Path, kind: str) -> None:
    assert files_of(tmp_path, {kind: {}}, {"add": ADD}).changes_table


def test_the_size_of_a_file_is_its_own_if_the_log_does_not_say_it(tmp_path: Path) -> None:
    remove = {"path": "c%20d.parquet", "dataChange": True}
    with pytest.raises(FileNotFoundError, match=r"c d\.parquet"):
        files_of(tmp_path / "gone", {"remove": remove})
    (tmp_path / "there").mkdir()
    (tmp_path / "there/c d.parquet").write_bytes(b"12345")
    assert files_of(tmp_path / "there", {"remove": remove}).bytes == 5


def test_a_commit_that_is_gone_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        feed_files(fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()), 7)
