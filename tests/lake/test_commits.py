"""Commits and their metadata, with and without Spark."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.change_feed import ChangeFeedGap, changes_of
from weir.lake.delta.commit import KILL_AT, create_if_missing, write
from weir.lake.delta.metadata import Metadata
from weir.lake.delta.session import read
from weir.lake.lake import Lake
from weir.lake.tables import GRAPHS, QUADS, SHARED_TABLES, answers

MINE = Metadata("r", "ingest", 7, extra={"transactions": [{"epoch": 7, "event_time": None}]})
ROW = {"graph": "<g>", "source": "s"}


@given(
    metadata=st.builds(
        Metadata,
        st.text(),
        st.sampled_from(["ingest", "publish"]),
        st.integers(0, 2**62),
        base=st.integers(0, 9),
        mode=st.text(),
        extra=st.dictionaries(st.text(), st.lists(st.none() | st.integers() | st.text())),
    )
)
def test_metadata_is_restored_from_its_text(metadata: Metadata) -> None:
    assert Metadata.from_json(metadata.to_json()) == metadata


@pytest.mark.parametrize("text", [None, "", "no json", "[]", "7", '{"other": 1}'])
def test_the_metadata_of_foreign_commits_is_none(text: str | None) -> None:
    assert Metadata.from_json(text) is None


@pytest.mark.parametrize("table", SHARED_TABLES, ids=lambda table: table.name)
def test_a_created_table_is_as_defined(tmp_path: Path, table) -> None:  # type: ignore[no-untyped-def]
    create_if_missing(Lake(str(tmp_path)), table)
    create_if_missing(Lake(str(tmp_path)), table)
    stored = Lake(str(tmp_path)).open(table.name)
    assert stored is not None
    assert stored.version() == 0
    assert [field.name for field in stored.schema().fields] == [*table.column_names]
    assert [f.metadata["comment"] for f in stored.schema().fields] == [
        c.comment for c in table.columns
    ]
    assert {*table.properties} <= {*stored.metadata().configuration.items()}


def test_the_newest_commit_of_weir_is_found_behind_foreign_ones(tmp_path: Path) -> None:
    root = str(tmp_path)
    assert Lake(root).last_metadata("graphs") is None
    assert write(Lake(root), GRAPHS, [ROW], MINE) == 1
    write_deltalake(f"{root}/graphs", Lake(root).rows("graphs"), mode="append")
    assert Lake(root).last_metadata("graphs") == (1, MINE)
    assert write(Lake(root), GRAPHS, [ROW], Metadata("r", "compact", 9)) == 3
    assert Lake(root).last_metadata("graphs", job="ingest") == (1, MINE)


def test_an_empty_commit_file_is_an_error_and_no_version(tmp_path: Path) -> None:
    root = str(tmp_path)
    write(Lake(root), GRAPHS, [ROW], MINE)
    (tmp_path / "graphs/_delta_log" / f"{2:020d}.json").touch()
    with pytest.raises(DamagedTable, match=r"0002\.json.*empty"):
        Lake(root).version("graphs")


def test_opening_a_table_looks_only_at_the_commit_files_after_the_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = Lake(str(tmp_path))
    looked_at: list[str] = []
    stat = Path.stat

    def counted(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if path.suffix == ".json":
            looked_at.append(path.name)
        return stat(path, follow_symlinks=follow_symlinks)

    for _ in range(2):
        for _ in range(10):
            write(lake, GRAPHS, [ROW], MINE)
        lake.existing("graphs").create_checkpoint()
        newest = write(lake, GRAPHS, [ROW], MINE)
        with monkeypatch.context() as patched:
            patched.setattr(Path, "stat", counted)
            looked_at.clear()
            assert Lake(str(tmp_path)).version("graphs") == newest
        assert {*looked_at} == {f"{newest:020d}.json", f"{newest + 1:020d}.json"}
    (tmp_path / "graphs/_delta_log" / f"{newest + 1:020d}.json").touch()
    with pytest.raises(DamagedTable, match="empty"):
        Lake(str(tmp_path)).version("graphs")


def test_a_process_dies_at_the_given_checkpoint(tmp_path: Path) -> None:
    code = f"""
from weir.lake.delta.commit import write
from weir.lake.lake import Lake
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import GRAPHS
write(Lake({str(tmp_path)!r}), GRAPHS, [{ROW!r}], Metadata("r", "ingest", 1))
"""
    environment = {**os.environ, KILL_AT: "ingest:before:graphs"}
    killed = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert Lake(str(tmp_path)).version("graphs") == 0


def test_a_commit_has_its_own_version_though_another_came_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Lake(str(tmp_path))

    def late(name: str) -> None:
        if name == "ingest:after:graphs":
            monkeypatch.undo()
            assert write(other, GRAPHS, [ROW], Metadata("other", "ingest", 8)) == 2

    monkeypatch.setattr("weir.lake.delta.commit.checkpoint", late)
    assert write(Lake(str(tmp_path)), GRAPHS, [ROW], MINE) == 1


def test_spark_appends_by_column_name_and_returns_the_version(
    spark: SparkSession, tmp_path: Path
) -> None:
    root = str(tmp_path)
    frame = spark.createDataFrame(
        pa.table({name: ["1", "2"] for name in reversed(QUADS.column_names)})
    )
    assert write(Lake(root), QUADS, frame, MINE, files=1) == 1
    assert write(Lake(root), QUADS, frame.limit(0), Metadata("r", "ingest", 8)) == 2
    assert Lake(root).last_metadata("quads") == (2, Metadata("r", "ingest", 8))
    rows = read(spark, Lake(root), "quads").collect()
    assert [tuple(row) for row in rows] == [("1", "1", "1", "1", 1, 1), ("2", "2", "2", "2", 2, 2)]
    assert DeltaTable(f"{root}/quads").metadata().configuration["delta.enableChangeDataFeed"]
    with pytest.raises(AnalysisException):
        write(Lake(root), QUADS, frame.drop("graph"), MINE)


def test_columns_are_added_only_on_request(spark: SparkSession, tmp_path: Path) -> None:
    root = str(tmp_path)
    narrow, wide = answers("q", ("a",)), answers("q", ("a", "b"))
    row = {"epoch": 1, "weight": 1, "a": "<x>", "event_time": None}
    write(Lake(root), narrow, [row], MINE)
    frame = spark.sql(
        "SELECT 2L epoch, 1L weight, '<x>' a, '<y>' b, TIMESTAMP'2026-01-01' event_time"
    )
    with pytest.raises(ValueError, match="lacks the columns b"):
        write(Lake(root), wide, frame, MINE)
    write(Lake(root), wide, frame, MINE, merge_schema=True)
    rows = Lake(root).rows("answers/q", columns=["epoch", "b"]).sort_by("epoch").to_pylist()
    assert rows == [{"epoch": 1, "b": None}, {"epoch": 2, "b": "<y>"}]
    write(Lake(root), narrow, frame, MINE, mode="overwrite")
    assert read(spark, Lake(root), "answers/q").columns == [*narrow.column_names]


def test_a_missing_commit_is_a_gap_of_the_change_feed(spark: SparkSession, tmp_path: Path) -> None:
    root = str(tmp_path)
    quad = {"graph": "", "subject": "<s>", "predicate": "<p>", "object": "<o>", "weight": 1}
    for epoch in (1, 2, 3):
        write(Lake(root), QUADS, [quad | {"epoch": epoch}], Metadata("r", "ingest", epoch))
    changes = changes_of(spark, f"{root}/quads", 2, 3).select("epoch", "_change_type").collect()
    assert sorted(tuple(row) for row in changes) == [(2, "insert"), (3, "insert")]
    (tmp_path / "quads/_delta_log" / f"{2:020d}.json").unlink()
    with pytest.raises(ChangeFeedGap, match="version 2"):
        changes_of(spark, f"{root}/quads", 1, 3)
