"""Two processes that change the files of one table at once: each row is there once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from deltalake.exceptions import CommitFailedError

from weir.lake.delta import file_commits
from weir.lake.delta.commit import write
from weir.lake.delta.file_commits import Overtaken, files_of
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import TRIPLES
from weir.lake.upkeep.row_deletion import delete_rows
from weir.lake.upkeep.small_files import Merged, merge_files

EPOCHS = 8
METADATA = Metadata("r", "test", 0)
Change = Callable[[Lake], object]


def row(epoch: int) -> dict[str, object]:
    terms = {"subject": f"<s{epoch}>", "predicate": "<p>", "object": "<o>"}
    return {**terms, "epoch": epoch, "weight": 1}


def append(lake: Lake) -> object:
    return write(lake, TRIPLES, [row(100)], METADATA)


def overwrite(lake: Lake) -> object:
    return write(lake, TRIPLES, [row(200), row(201)], METADATA, mode="overwrite")


def merge(lake: Lake) -> object:
    return merge_files(lake, TRIPLES.name, 1 << 20)


def delete(lake: Lake) -> None:
    delete_rows(lake, TRIPLES.name, "epoch", "<", 3, METADATA)


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    lake = Lake(str(tmp_path))
    for epoch in range(1, EPOCHS + 1):
        write(lake, TRIPLES, [row(epoch)], METADATA)
    return lake


def epochs(lake: Lake) -> list[int]:
    rows = Lake(lake.root).rows(TRIPLES.name, ["epoch"])
    return sorted(int(str(epoch)) for epoch in rows["epoch"].to_pylist())


ALL = [*range(1, EPOCHS + 1)]
REST = [*range(3, EPOCHS + 1)]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        (merge, merge, ALL),
        (merge, append, [*ALL, 100]),
        (append, merge, [*ALL, 100]),
        (merge, overwrite, [200, 201]),
        (overwrite, merge, [200, 201]),
        (overwrite, overwrite, [200, 201]),
        (append, overwrite, [200, 201]),
        (merge, delete, REST),
        (delete, merge, REST),
        (delete, delete, REST),
        (append, delete, [*REST, 100]),
        (delete, append, [*REST, 100]),
    ],
)
@pytest.mark.parametrize("interrupts", ["before", "between"])
def test_two_interleaved_changes_of_one_table_leave_each_row_once(
    lake: Lake,
    first: Change,
    second: Change,
    left: list[int],
    interrupts: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow, quick = Lake(lake.root), Lake(lake.root)
    assert slow.exists(TRIPLES.name)
    if interrupts == "before":
        first(quick)
    else:
        # The other process commits when this one has computed its commit and is about to make it.
        properties, pending = file_commits._properties, [first]

        def interrupted(*values: object) -> object:
            while pending:
                pending.pop()(quick)
            return properties(*values)  # type: ignore[arg-type]

        monkeypatch.setattr(file_commits, "_properties", interrupted)
    second(slow)
    assert epochs(lake) == left


def test_a_merge_whose_files_are_gone_does_nothing(lake: Lake) -> None:
    other = Lake(lake.root)
    assert other.exists(TRIPLES.name)
    merge(lake)
    assert merge(other) == Merged()


def test_a_merge_that_is_always_overtaken_does_nothing(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_commits, "_ATTEMPTS", 3)
    monkeypatch.setattr(file_commits, "_committed", lambda *_: False)
    assert merge(lake) == Merged()
    assert epochs(lake) == ALL


def test_an_overwrite_that_is_always_overtaken_fails(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_commits, "_ATTEMPTS", 3)
    monkeypatch.setattr(file_commits, "_committed", lambda *_: False)
    with pytest.raises(Overtaken, match="triples"):
        overwrite(lake)
    assert epochs(lake) == ALL


def test_a_commit_that_is_impossible_is_not_tried_again(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = lake.existing(TRIPLES.name)

    def refused(*_: object, **__: object) -> None:
        raise CommitFailedError("disk full")

    monkeypatch.setattr(type(table), "create_write_transaction", refused, raising=True)
    with pytest.raises(CommitFailedError, match="disk full"):
        overwrite(lake)


def test_merged_files_are_about_as_large_as_wanted(lake: Lake) -> None:
    size = files_of(lake.existing(TRIPLES.name))[0][1]
    assert merge_files(lake, TRIPLES.name, 4 * size + size // 2) == Merged(8, 2)
    assert epochs(lake) == ALL
