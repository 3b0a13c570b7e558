"""What Spark writes is read by the driver and by Spark, and Spark reads what delta-rs writes.

The state after each version is what the writer itself reads of that version.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from tests.ingest.test_distributed import objects, run
from tests.ingest.test_foreign_writers import HOUSE, OPERATIONS, TEXTS, House, new_column
from tests.support.opened import no_spark
from tests.support.projects.project import Project
from weir.lake.delta.data_files import are_the_rows

LAYOUTS: Mapping[str, tuple[str, str]] = {
    "nested": (", about STRUCT<tags: ARRAY<STRING>, at: MAP<STRING, INT>>", ""),
    "partitioned": ("", "PARTITIONED BY (predicate)"),
    "deletion vectors": ("", ""),
}
"""By name: columns beside the terms, and how the table is divided."""
STATEMENTS = (
    "INSERT INTO house (subject, predicate, object) VALUES ('<urn:s>', '<urn:p>', '\"3\"')",
    "DELETE FROM house WHERE object = '\"2\"'",
    "UPDATE house SET object = '\"9\"' WHERE object = '\"1\"'",
    "MERGE INTO house USING (SELECT '<urn:s>' AS s, '<urn:p>' AS p, EXPLODE(ARRAY('\"3\"',"
    " '\"new\"')) AS o) ON object = o WHEN MATCHED THEN UPDATE SET object = '\"merged\"'"
    " WHEN NOT MATCHED THEN INSERT (subject, predicate, object) VALUES (s, p, o)",
    "OPTIMIZE house",
    "RESTORE house TO VERSION AS OF 2",
    "ALTER TABLE house ADD COLUMNS (more INT)",
    "INSERT INTO house (subject, predicate, object, more)"
    " VALUES ('<urn:t>', '<urn:p>', '\"4\"', 4)",
    "INSERT OVERWRITE house (subject, predicate, object)"
    " VALUES ('<urn:s>', '<urn:p>', '\"8\"'), ('<urn:s>', '<urn:p>', '\"4\"')",
    "DELETE FROM house",
)


@pytest.fixture(params=LAYOUTS)
def written(request: pytest.FixtureRequest, quick_spark: SparkSession, project: Project) -> Project:
    """A table that Spark has written by each kind of statement."""
    columns, partitions = LAYOUTS[request.param]
    vectors = str(request.param == "deletion vectors").lower()
    run(
        quick_spark,
        project,
        f"CREATE TABLE house (subject STRING, predicate STRING, object STRING{columns})"
        f" USING delta {partitions} TBLPROPERTIES (delta.enableChangeDataFeed = true,"
        f" delta.enableDeletionVectors = {vectors})",
        "INSERT INTO house (subject, predicate, object) VALUES"
        " ('<urn:s>', '<urn:p>', '\"1\"'), ('<urn:s>', '<urn:p>', '\"2\"')",
        *STATEMENTS,
    )
    return project


def states_by_spark(spark: SparkSession, project: Project) -> list[set[object]]:
    """The objects of each version but the first, as Spark reads them."""
    address = str(project.folder / "house")
    states = []
    for version in range(1, DeltaTable(address).version() + 1):
        reader = spark.read.format("delta").option("versionAsOf", version)
        states.append({row["object"] for row in reader.load(address).select("object").collect()})
    return states


def test_what_spark_writes_is_read_as_spark_reads_it(
    quick_spark: SparkSession, written: Project
) -> None:
    expected = states_by_spark(quick_spark, written)
    here = are_the_rows(DeltaTable(written.folder / "house"))
    for driver_parse_bytes, session in (
        (16_000_000, no_spark if here else quick_spark),
        (0, quick_spark),
    ):
        shutil.rmtree(written.folder / "lake", ignore_errors=True)
        written.declare(HOUSE | {"starting_version": 1}, driver_parse_bytes=driver_parse_bytes)
        assert written.ingest(session).errors == ()
        assert objects(written) == expected


@pytest.mark.parametrize("text", [*TEXTS, "nested", "partitioned"])
def test_spark_reads_what_delta_rs_writes_as_delta_rs_does(
    quick_spark: SparkSession, project: Project, text: str
) -> None:
    project.declare(HOUSE, driver_parse_bytes=0)
    partitions = {"partition_by": ["predicate"]} if text == "partitioned" else {}
    house = House(project, text, **partitions)
    for name in OPERATIONS:
        # Delta gives no changes of a batch across a schema that comes and goes.
        if name != "new column":
            OPERATIONS[name](house)
    assert project.ingest(quick_spark).errors == ()
    assert house.epochs == house.versions


@pytest.mark.parametrize("limit", ["driver_rows", "driver_parse_bytes", "driver_table_bytes"])
def test_a_commit_beyond_a_limit_of_the_driver_is_read_by_spark(
    quick_spark: SparkSession, project: Project, limit: str
) -> None:
    project.declare(HOUSE)
    house = House(project, "string")
    assert project.ingest(no_spark).errors == ()
    house.insert('"c"', '"d"')
    house.table.delete("object = '\"1\"'")
    project.declare(HOUSE, **{limit: 1})
    assert project.ingest(quick_spark).errors == ()
    assert house.epochs == house.versions


def without_a_size(house: House) -> None:
    house.insert('"c"')
    house.remove_by_hand('"c"')


def come_and_go(house: House) -> None:
    new_column(house)
    house.insert('"n"', mode="overwrite", schema_mode="overwrite")
    house.insert('"m"')


@pytest.mark.parametrize("written", [come_and_go, without_a_size])
def test_where_delta_gives_no_changes_the_newest_content_is_ingested(
    quick_spark: SparkSession, project: Project, written: Callable[[House], None]
) -> None:
    project.declare(HOUSE, driver_parse_bytes=0)
    house = House(project, "string")
    project.ingest(quick_spark)
    written(house)
    assert project.ingest(quick_spark).errors == ()
    newest = str(house.table.version())
    assert [row[0] for row in project.rows("transactions", "position")] == ["0", newest]
    assert house.epochs[-1] == house.versions[-1]


def test_the_cause_of_an_error_of_spark_is_shown(
    quick_spark: SparkSession, project: Project
) -> None:
    project.declare(HOUSE, driver_parse_bytes=0)
    house = House(project, "string")
    project.ingest(quick_spark)
    house.insert('"c"')
    (added,) = {*house.table.file_uris()} - {*DeltaTable(house.folder, 0).file_uris()}
    Path(added).write_bytes(b"PAR1 no file of Parquet PAR1")
    (error,) = project.ingest(quick_spark).errors
    assert "the footer index is not within the file" in str(error)
