"""Streams on Spark: the same rows as on the driver, and events of foreign Delta tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.ingest.test_stream_crash import STREAM, contents, event, fill
from tests.support.opened import engine_of
from tests.support.projects.project import Project
from weir.errors import ConfigurationError
from weir.project import open_lake
from weir.validate.stream_rows import checked_streams
from weir.validate.validation import validate_graph


def test_spark_leaves_the_same_streams_as_the_driver(spark: SparkSession, tmp_path: Path) -> None:
    lakes = []
    for name, limits in (("here", {}), ("there", {"driver_rows": 0, "driver_parse_bytes": 0})):
        project = Project(tmp_path / name)
        by_graph = {"name": "g", "kind": "snapshots", "location": "g"}
        fill(project)
        project.declare(
            STREAM,
            by_graph | {"stream": {"time": {"graph": "urn:t"}, "timezone": "Asia/Tokyo"}},
            by_graph | {"name": "h", "stream": {"time": "transaction", "ahead": "P9999D"}},
            **limits,
        )
        dating = event(1, 1).removeprefix("A ").replace("Z", "")
        project.write("g/1.trig", f"{dating} GRAPH <urn:e1> {{ <urn:a> <urn:b> <urn:c> }}")
        os.utime(project.folder / "g/1.trig", (1_767_225_600,) * 2)
        project.ingest(spark)
        # The files that Spark parses have no hashes.
        files = [*project.rows("source_files", "source", "position", "bytes")]
        compared = {"g": project.rows("streams/g", "subject", "instant"), "source_files": files}
        lakes.append(contents(project) | compared)
        assert len(project.rows("streams/h")) == 2
        lake = open_lake(project.settings)
        with engine_of(project.settings, "validate", spark, lake) as engine:
            last = len(project.rows("transactions"))
            verdict = validate_graph(engine, 0, last, checked_streams(lake, 0, last, {"r": 0.1}))
        assert verdict.failures == "late_share_is_within_max_late_share (3 rows)"
    assert lakes[0] == lakes[1]


def run(spark: SparkSession, project: Project, *statements: str) -> None:
    for statement in statements:
        spark.sql(statement.replace("house", f"delta.`{project.folder}/house`"))


def house(spark: SparkSession, project: Project, type_: str) -> dict[str, Any]:
    """A foreign table whose events have a time of a type; the stream that reads it."""
    run(
        spark,
        project,
        f"CREATE TABLE house (subject STRING, predicate STRING, object STRING, epoch {type_})"
        " USING delta TBLPROPERTIES (delta.enableChangeDataFeed = true)",
    )
    return {
        "name": "r",
        "kind": "delta",
        "location": "house",
        "starting_version": 0,
        "columns": {"time": "epoch"},
        "stream": {"time": "column", "lateness": "P9D", "starts": "2000-01-01T00:00:00Z"},
    }


TYPES = {
    "BIGINT": "1767225600000001",
    "TIMESTAMP": "TIMESTAMP '2026-01-01 00:00:00.000001Z'",
    "STRING": "'2026-01-01T01:00:00.000001+01:00'",
}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("driver_parse_bytes", [0, 16_000_000], ids=["spark", "driver"])
@pytest.mark.parametrize("type_", TYPES)
def test_a_column_dates_the_rows_that_commits_add(
    spark: SparkSession, project: Project, type_: str, driver_parse_bytes: int
) -> None:
    project.declare(house(spark, project, type_), driver_parse_bytes=driver_parse_bytes)
    time = TYPES[type_]
    run(
        spark,
        project,
        f"INSERT INTO house VALUES ('<urn:s>', '<urn:p>', '\"1\"', {time}),"
        f" ('<urn:s>', '<urn:p>', '\"1\"', {time}), ('<urn:s>', '<urn:p>', '\"2\"', NULL)",
    )
    project.ingest(spark)
    run(
        spark,
        project,
        "DELETE FROM house WHERE object = '\"2\"'",
        "UPDATE house SET object = '\"3\"'",
    )
    assert project.ingest(spark).errors == ()
    assert project.rows("streams/r", "object", "instant", "epoch") == [
        ('"1"', 1767225600000001, 2),
        ('"3"', 1767225600000001, 4),
    ]
    assert project.rows("rejected", "position", "reason") == [("1", "it has no time")]


def test_a_time_column_of_another_type_is_refused(spark: SparkSession, project: Project) -> None:
    project.declare(house(spark, project, "DOUBLE"))
    (error,) = project.ingest(spark).errors
    assert isinstance(error, ConfigurationError)
    assert "the column epoch holds no times" in error.what
