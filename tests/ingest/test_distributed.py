"""Ingest on Spark: the same lake as on the driver, and foreign Delta tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from tests.ingest.test_crash import fill
from tests.ingest.test_stopped_sources import FEED
from tests.support.projects.project import Project

HOUSE = {"name": "house", "kind": "delta", "location": "house"}


def test_spark_leaves_the_same_lake_as_the_driver(spark: SparkSession, tmp_path: Path) -> None:
    lakes = []
    for name, limits in (("here", {}), ("there", {"driver_parse_bytes": 0, "broadcast_rows": 1})):
        project = Project(tmp_path / name)
        fill(project)
        project.configure(**limits)
        project.write("versions/3/a.ttl", '<urn:s> <urn:p> "4" .')
        project.write("versions/3/b.ttl", '<urn:s> <urn:p> "5" .')
        project.write("versions/4/a.ttl", "broken")
        project.write("versions/4/b.ttl", '<urn:s> <urn:p> "6" .')
        project.ingest(spark)
        assert not (project.folder / "lake/_staging/ingest/1").exists()
        contents = project.contents()
        # The files that Spark parses have no hashes.
        lakes.append({**contents, "source_files": len(contents["source_files"])})
    assert lakes[0] == lakes[1]


def objects(project: Project) -> list[set[object]]:
    epochs = len(project.rows("transactions"))
    return [{quad[3] for quad in project.state(epoch)} for epoch in range(1, epochs + 1)]


def run(spark: SparkSession, project: Project, *statements: str) -> None:
    for statement in statements:
        spark.sql(statement.replace("house", f"delta.`{project.folder}/house`"))


@pytest.fixture
def house(spark: SparkSession, project: Project) -> Project:
    """A foreign table of three versions: created, two rows, one row more."""
    run(
        spark,
        project,
        "CREATE TABLE house (subject STRING, predicate STRING, object STRING) USING delta"
        " TBLPROPERTIES (delta.enableChangeDataFeed = true)",
        "INSERT INTO house VALUES ('<urn:s>', '<urn:p>', '1'), ('<urn:s>', '<urn:p>', '\"1\"')",
        "INSERT INTO house VALUES ('<urn:s>', '<urn:p>', '\"2\"')",
    )
    return project


def test_each_commit_of_a_foreign_table_is_an_epoch(spark: SparkSession, house: Project) -> None:
    house.declare(HOUSE | {"starting_version": 1}, driver_parse_bytes=0)
    house.ingest(spark)
    run(
        spark,
        house,
        "UPDATE house SET object = '\"3\"' WHERE object = '\"2\"'",
        "MERGE INTO house USING (SELECT '\"3\"' AS o) ON object = o"
        " WHEN MATCHED THEN UPDATE SET object = o",
        "INSERT INTO house VALUES ('<urn:s>', '<urn:p>', '\"1\"')",
        "DELETE FROM house WHERE object = '\"3\"'",
        "INSERT OVERWRITE house VALUES ('<urn:s>', '<urn:p>', '\"1\"'),"
        " ('_:b', '<urn:p>', '\"4\"'), ('<urn:s>', '<urn:p>', '1')",
    )
    house.ingest(spark)
    assert objects(house) == [
        {'"1"'},
        {'"1"', '"2"'},
        {'"1"', '"3"'},
        {'"1"', '"3"'},
        {'"1"', '"3"'},
        {'"1"'},
        {'"1"', '"4"'},
    ]
    columns = ("epoch", "position", "inserted", "deleted", "rejected")
    assert house.rows("transactions", *columns) == [
        (1, "1", 1, 0, 1),
        (2, "2", 1, 0, 0),
        (3, "3", 1, 1, 0),
        (4, "4", 0, 0, 0),
        (5, "5", 0, 0, 0),
        (6, "6", 0, 1, 0),
        (7, "7", 1, 0, 0),
    ]
    ((position, reason, raw),) = house.rows("rejected", "position", "reason", "raw")
    assert position == "1"
    assert str(reason).startswith("object: ")
    assert raw == "<urn:s> <urn:p> 1 "
    assert all(row[0] is not None for row in house.rows("transactions", "event_time"))
    assert house.ingest(spark).to_epoch == 7


def test_the_driver_and_spark_give_the_same_rows_of_a_foreign_table(
    spark: SparkSession, house: Project
) -> None:
    run(
        spark,
        house,
        "UPDATE house SET object = '\"3\"' WHERE object = '\"2\"'",
        "INSERT INTO house VALUES ('<urn:s>', '<urn:p>', '\"1\"'), (NULL, '<urn:p>', '\"1\"')",
        "DELETE FROM house WHERE object = '\"1\"'",
        "INSERT OVERWRITE house VALUES ('_:b', '<urn:p>', '\"4\"'), ('_:b', '<urn:p>', '\"4\"')",
    )
    lakes = []
    for driver_parse_bytes in (16_000_000, 0):
        shutil.rmtree(house.folder / "lake", ignore_errors=True)
        source = HOUSE | {"starting_version": 1}
        house.declare(source, driver_parse_bytes=driver_parse_bytes)
        house.ingest(spark) if driver_parse_bytes == 0 else house.ingest()
        lakes.append(house.contents())
    assert lakes[0] == lakes[1]
    assert len(lakes[0]["transactions"]) == 6


def test_another_table_at_the_place_of_a_foreign_table_stops_its_source(
    spark: SparkSession, house: Project
) -> None:
    house.declare(HOUSE)
    house.ingest(spark)
    shutil.rmtree(house.folder / "house")
    other = pa.table({name: ["<urn:other>"] for name in ("subject", "predicate", "object")})
    for _ in range(6):
        write_deltalake(house.folder / "house", other, mode="append", configuration=FEED)
    (error,) = house.ingest(spark).errors
    assert "house: 2 was ingested last, and the table there is a new one" in str(error)
    assert objects(house) == [{'"1"', '"2"'}]


def test_a_foreign_table_that_is_replaced_within_its_history_is_continued(
    spark: SparkSession, house: Project
) -> None:
    house.declare(HOUSE)
    house.ingest(spark)
    run(
        spark,
        house,
        "CREATE OR REPLACE TABLE house USING delta"
        " TBLPROPERTIES (delta.enableChangeDataFeed = true) AS"
        " SELECT '<urn:s>' AS subject, '<urn:p>' AS predicate, '\"7\"' AS object",
    )
    assert house.ingest(spark).errors == ()
    run(spark, house, "INSERT INTO house VALUES ('<urn:s>', '<urn:p>', '\"8\"')")
    assert house.ingest(spark).errors == ()
    assert objects(house) == [{'"1"', '"2"'}, {'"7"'}, {'"7"', '"8"'}]


def test_where_the_feed_has_a_gap_the_content_is_ingested(
    spark: SparkSession, house: Project
) -> None:
    house.declare(HOUSE | {"starting_version": 1}, driver_parse_bytes=0)
    house.ingest(spark)
    run(
        spark,
        house,
        "INSERT INTO house VALUES ('<urn:s>', '<urn:p>', '\"5\"')",
        "DELETE FROM house WHERE object = '\"1\"'",
    )
    # As Delta does eventually: a checkpoint, and the commits before it are deleted.
    DeltaTable(house.folder / "house").create_checkpoint()
    for version in range(4):
        (house.folder / f"house/_delta_log/{version:020d}.json").unlink()
    house.ingest(spark)
    rows = house.rows("transactions", "epoch", "position")
    assert rows == [(1, "1"), (2, "2"), (3, "4")]
    assert objects(house)[-1] == {'"2"', '"5"'}


@pytest.mark.parametrize("batch_epochs", [1, 500])
def test_where_files_of_the_feed_are_gone_the_newest_content_is_ingested(
    spark: SparkSession, house: Project, batch_epochs: int
) -> None:
    limits = {"batch_epochs": batch_epochs, "driver_parse_bytes": 0}
    house.declare(HOUSE | {"starting_version": 2}, **limits)
    house.ingest(spark)
    run(
        spark,
        house,
        "INSERT INTO house VALUES ('<urn:s>', '<urn:p>', '\"5\"')",
        "INSERT INTO house VALUES ('<urn:s>', '<urn:p>', '\"6\"')",
        "INSERT OVERWRITE house VALUES ('<urn:s>', '<urn:p>', '\"7\"')",
    )
    # As VACUUM does eventually.
    kept = {Path(uri).name for uri in DeltaTable(house.folder / "house").file_uris()}
    for file in (house.folder / "house").rglob("*.parquet"):
        if file.name not in kept and "_delta_log" not in file.parts:
            file.unlink()
    result = house.ingest(spark)
    assert result.errors == ()
    assert house.rows("transactions", "epoch", "position") == [(1, "2"), (2, "5")]
    assert objects(house)[-1] == {'"7"'}
    run(spark, house, "INSERT INTO house VALUES ('<urn:s>', '<urn:p>', '\"8\"')")
    house.ingest(spark)
    assert objects(house)[-1] == {'"7"', '"8"'}


def test_without_a_starting_version_the_newest_content_is_the_first_epoch(
    spark: SparkSession, house: Project
) -> None:
    house.declare(HOUSE)
    result = house.ingest(lambda: spark)
    assert (result.from_epoch, result.to_epoch) == (0, 1)
    assert objects(house) == [{'"1"', '"2"'}]


@pytest.mark.parametrize("driver_parse_bytes", [0, 16_000_000], ids=["spark", "driver"])
def test_a_quad_holds_as_long_as_a_row_spells_it_in_any_way(
    spark: SparkSession, project: Project, driver_parse_bytes: int
) -> None:
    own = "<urn:weir:graph:house>"
    string = "^^<http://www.w3.org/2001/XMLSchema#string>"
    columns = {"graph": "g", "subject": "s", "predicate": "p", "object": "o"}
    project.declare(HOUSE | {"columns": columns}, driver_parse_bytes=driver_parse_bytes)
    folder = project.folder / "house"

    def insert(*rows: tuple[str, str, str, str]) -> None:
        table = pa.table(dict(zip("gspo", map(list, zip(*rows, strict=True)), strict=True)))
        feed = {"delta.enableChangeDataFeed": "true"}
        write_deltalake(folder, table, mode="append", configuration=feed)

    insert(("", "<urn:t>", "<urn:p>", '"first"'))
    project.ingest(spark)
    insert(("", "<urn:t>", "<urn:p>", '"a"'), ("", "_:x", "<urn:p>", '"A"@EN'))
    insert((own, "<urn:\\u0074>", "<urn:p>", f'"\\u0061"{string}'))
    insert((own, "<urn:t>", "<urn:\\u0070>", '"a"'), (own, "_:x", "<urn:p>", '"A"@en'))
    for condition in ("g = '' AND o = '\"a\"'", "o = '\"A\"@EN'", "p LIKE '%u0070>'", "g <> ''"):
        DeltaTable(folder).delete(condition)
    project.ingest(spark)
    assert project.rows("rejected") == []
    first, a, b = '"first"', '"a"', '"A"@en'
    assert objects(project) == [{first}, *[{first, a, b}] * 6, {first}]
    changed = project.rows("transactions", "epoch", "inserted", "deleted")
    assert [row for row in changed if row[1:] != (0, 0)] == [(1, 1, 0), (2, 2, 0), (8, 0, 2)]
