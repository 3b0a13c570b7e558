"""Rows below a value are deleted in one commit that touches only the files that have them."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import stream
from weir.lake.upkeep.earlier_rows import (
    EarlierRows,
    delete_earlier_rows,
    earlier_rows,
    may_have_earlier_rows,
)

TABLE = stream("s")
DELETES = Metadata("r", "compact", 3, extra={"deleted_before": 15})


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    """Three files with the instants 0..9, 10..19 and 20..29."""
    lake = Lake(str(tmp_path / "lake"))
    for epoch in range(3):
        rows = [{"instant": 10 * epoch + i, "epoch": epoch, "weight": 1} for i in range(10)]
        write(lake, TABLE, rows, Metadata("r", "ingest", epoch))
    return lake


@pytest.mark.parametrize(
    ("before", "counts"),
    [(0, (0, 0)), (1, (1, 10)), (10, (10, 10)), (15, (15, 20)), (99, (30, 30))],
)
def test_earlier_rows_and_all_rows_of_their_files_are_counted(
    lake: Lake, before: int, counts: tuple[int, int]
) -> None:
    assert earlier_rows(lake, TABLE.name, "instant", before) == EarlierRows(*counts)
    assert may_have_earlier_rows(lake, TABLE.name, "instant", before) == (before > 0)


def test_deleting_earlier_rows_leaves_files_without_them_as_they_are(lake: Lake) -> None:
    files = lake.existing(TABLE.name).file_uris()
    delete_earlier_rows(lake, TABLE.name, "instant", 15, DELETES)
    rows = Lake(lake.root).rows(TABLE.name, ["instant"]).to_pylist()
    assert sorted(int(row["instant"]) for row in rows) == [*range(15, 30)]
    newest = [file for file in files if file in lake.existing(TABLE.name).file_uris()]
    assert len(newest) == 1
    assert Lake(lake.root).last_metadata(TABLE.name) == (4, DELETES)


def test_a_table_that_does_not_exist_has_no_rows(tmp_path: Path) -> None:
    lake = Lake(str(tmp_path / "lake"))
    assert not may_have_earlier_rows(lake, TABLE.name, "instant", 1)
    assert earlier_rows(lake, TABLE.name, "instant", 1) == EarlierRows(0, 0)
