"""Rows that a run stages, in the folder of its job."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from weir.lake.delta.staging import remove, stage, staging_folder


def test_staged_rows_replace_what_is_left_at_their_place(
    quick_spark: SparkSession, tmp_path: Path
) -> None:
    """Of a folder that was removed, an object store may still have the folders within it, empty."""
    folder = f"{staging_folder(tmp_path.as_uri(), 'ingest')}/rows-1"
    (tmp_path / "_staging" / "ingest" / "rows-1" / "_temporary").mkdir(parents=True)
    stage(quick_spark.range(3), folder)
    stage(quick_spark.range(2), folder)
    assert quick_spark.read.parquet(folder).count() == 2
    remove(quick_spark, staging_folder(tmp_path.as_uri(), "ingest"))
    assert not (tmp_path / "_staging" / "ingest").exists()
