"""Tables as DuckDB relations, by any writer and at any place."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaProtocolError

from weir.lake.delta.bindings import Bindings
from weir.lake.delta.scan import attach

ROWS = pa.table({"term": ["<urn:a>", None], "epoch": [1, 2]})


def written(folder: Path, *parts: pa.Table) -> DeltaTable:
    for rows in parts:
        write_deltalake(folder, rows, mode="append")
    return DeltaTable(folder)


def scanned(table: DeltaTable) -> tuple[list[tuple[object, ...]], str]:
    """The rows, in order, and how DuckDB reads them."""
    connection = duckdb.connect()
    attach(Bindings(connection), "stored", table)
    rows = connection.execute("SELECT * FROM stored ORDER BY epoch").fetchall()
    ((_, plan),) = connection.execute("EXPLAIN SELECT * FROM stored").fetchall()
    return rows, "files" if "PARQUET_SCAN" in plan.upper() else "arrow"


def test_plain_columns_of_a_local_table_are_read_from_its_files(tmp_path: Path) -> None:
    table = written(tmp_path / "plain", ROWS)
    assert scanned(table) == ([("<urn:a>", 1), (None, 2)], "files")


@pytest.mark.parametrize(
    ("folder", "way"), [("a space, an \u00fc", "files"), ("a*", "arrow"), ("epoch=7", "files")]
)
def test_any_name_of_a_folder_is_read(tmp_path: Path, folder: str, way: str) -> None:
    # The last name, read as a pattern, also matches this one.
    written(tmp_path / "ab", ROWS)
    assert scanned(written(tmp_path / folder, ROWS)) == ([("<urn:a>", 1), (None, 2)], way)


def test_times_keep_their_zone(tmp_path: Path) -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    (row,), way = scanned(written(tmp_path / "times", pa.table({"epoch": [1], "at": [at]})))
    assert row == (1, at)
    assert way == "arrow"


def test_removed_files_are_not_read(tmp_path: Path) -> None:
    table = written(tmp_path / "table", ROWS, pa.table({"term": ["<urn:b>"], "epoch": [3]}))
    table.delete("epoch = 3")
    assert scanned(DeltaTable(tmp_path / "table"))[0] == [("<urn:a>", 1), (None, 2)]


def test_a_table_stays_as_it_was_when_it_was_opened(tmp_path: Path) -> None:
    table = written(tmp_path / "table", ROWS)
    connection = duckdb.connect()
    attach(Bindings(connection), "stored", table)
    written(tmp_path / "table", ROWS)
    assert connection.execute("SELECT COUNT(*) FROM stored").fetchone() == (2,)


def test_a_table_without_rows_is_read(tmp_path: Path) -> None:
    assert scanned(written(tmp_path / "empty", ROWS.slice(0, 0)))[0] == []


def test_columns_are_matched_by_name(tmp_path: Path) -> None:
    table = written(tmp_path / "table", ROWS, ROWS.select(["epoch", "term"]))
    assert [type(term) for term, _ in scanned(table)[0]] == [str, str, type(None), type(None)]


def test_the_files_of_a_table_that_needs_a_newer_reader_are_left_to_delta(tmp_path: Path) -> None:
    folder = tmp_path / "newer"
    write_deltalake(folder, ROWS, configuration={"delta.enableDeletionVectors": "true"})
    with pytest.raises(DeltaProtocolError, match="deletionVectors"):
        attach(Bindings(duckdb.connect()), "stored", DeltaTable(folder))
