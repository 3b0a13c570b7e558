"""The rows of a foreign Delta table on the driver: which versions it reads, and what they give."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.support.built import AsBuilt
from tests.support.projects.project import Project

HOUSE = {"name": "house", "kind": "delta", "location": "house"}
FEED = {"delta.enableChangeDataFeed": "true"}


def insert(project: Project, *objects: str, mode: str = "append") -> None:
    """Write a row per object."""
    same = {"subject": "<urn:s>", "predicate": "<urn:p>"}
    columns = {name: [term] * len(objects) for name, term in same.items()}
    rows = pa.table({**columns, "object": pa.array(objects, pa.string())})
    write_deltalake(project.folder / "house", rows, mode=mode, configuration=FEED)  # type: ignore[call-overload]


def table(project: Project) -> DeltaTable:
    return DeltaTable(project.folder / "house")


def states(project: Project) -> list[set[object]]:
    epochs = len(project.rows("transactions"))
    return [{quad[3] for quad in project.state(epoch)} for epoch in range(1, epochs + 1)]


def _build(folder: Path) -> Project:
    project = Project(folder).declare(HOUSE | {"max_deleted_share": 1})
    insert(project, '"1"', '"2"')
    project.ingest()
    return project


@pytest.fixture
def house(as_built: AsBuilt) -> Project:
    """A foreign table of one version, which is ingested."""
    return as_built(_build)


def test_the_content_of_a_small_table_needs_no_spark(house: Project) -> None:
    assert states(house) == [{'"1"', '"2"'}]


def test_commits_that_insert_delete_update_and_compact_need_no_spark(house: Project) -> None:
    insert(house, '"3"')
    table(house).delete("object = '\"2\"'")
    table(house).update(updates={"object": "'\"9\"'"}, predicate="object = '\"1\"'")
    table(house).optimize.compact()
    insert(house, '"8"', '"9"', mode="overwrite")
    result = house.ingest()
    assert result.errors == ()
    assert states(house) == [
        {'"1"', '"2"'},
        {'"1"', '"2"', '"3"'},
        {'"1"', '"3"'},
        {'"9"', '"3"'},
        {'"9"', '"3"'},
        {'"8"', '"9"'},
    ]


def test_a_quad_holds_until_its_last_row_is_deleted_however_it_is_spelled(house: Project) -> None:
    insert(house, '"\\u0061"', '"a"')
    table(house).delete("object = '\"a\"'")
    table(house).delete("object like '%u0061%'")
    assert house.ingest().errors == ()
    one = {'"1"', '"2"'}
    assert states(house) == [one, one | {'"a"'}, one | {'"a"'}, one]


def test_a_row_that_is_no_quad_is_rejected(house: Project) -> None:
    insert(house, "1")
    house.ingest()
    ((position, raw),) = house.rows("rejected", "position", "raw")
    assert (position, raw) == ("1", "<urn:s> <urn:p> 1 ")


def test_a_blank_node_names_a_graph_and_is_the_same_node_in_all_rows(project: Project) -> None:
    project.declare(HOUSE | {"columns": {"graph": "graph"}})
    columns = {
        "subject": ["<urn:s>", "_:g"],
        "predicate": ["<urn:p>", "<urn:about>"],
        "object": ['"1"', "<urn:s>"],
        "graph": ["_:g", ""],
    }
    write_deltalake(project.folder / "house", pa.table(columns), configuration=FEED)
    assert project.ingest().errors == ()
    inside, about = sorted(project.state(1), key=lambda quad: str(quad[2]), reverse=True)
    assert str(inside[0]).startswith("_:b")
    assert inside[0] == about[1]


def test_where_a_commit_is_gone_the_newest_content_is_ingested(house: Project) -> None:
    for number in range(3, 6):
        insert(house, f'"{number}"')
    table(house).create_checkpoint()
    for version in range(3):
        (house.folder / f"house/_delta_log/{version:020d}.json").unlink()
    assert house.ingest().errors == ()
    assert [row[0] for row in house.rows("transactions", "position")] == ["0", "3"]
    assert states(house)[-1] == {f'"{number}"' for number in range(1, 6)}


def test_where_files_of_the_feed_are_gone_the_newest_content_is_ingested(house: Project) -> None:
    table(house).update(updates={"object": "'\"9\"'"}, predicate="object = '\"1\"'")
    for file in (house.folder / "house/_change_data").glob("*.parquet"):
        file.unlink()
    insert(house, '"8"')
    assert house.ingest().errors == ()
    assert [row[0] for row in house.rows("transactions", "position")] == ["0", "2"]
    assert states(house)[-1] == {'"9"', '"2"', '"8"'}


def test_nothing_is_written_to_a_foreign_table(house: Project) -> None:
    before = {*(house.folder / "house").rglob("*")}
    assert house.ingest().errors == ()
    assert {*(house.folder / "house").rglob("*")} == before


def _partitioned(project: Project) -> None:
    rows = pa.table({name: [f"<urn:{name}>"] for name in ("subject", "predicate", "object")})
    folder = project.folder / "house"
    write_deltalake(folder, rows, configuration=FEED, partition_by=["predicate"])


def test_spark_is_asked_for_a_partitioned_table(project: Project) -> None:
    project.declare(HOUSE)
    _partitioned(project)
    with pytest.raises(AssertionError, match="Spark was asked for"):
        project.ingest()


@pytest.mark.parametrize("limit", ["driver_rows", "driver_parse_bytes", "driver_table_bytes"])
def test_spark_is_asked_for_a_commit_beyond_the_limits(house: Project, limit: str) -> None:
    insert(house, '"3"')
    house.declare(HOUSE, **{limit: 1})
    with pytest.raises(AssertionError, match="Spark was asked for"):
        house.ingest()


def test_spark_is_asked_for_a_commit_after_which_a_column_has_another_type(
    project: Project,
) -> None:
    columns = {"subject": "subject", "predicate": "predicate", "object": "object", "time": "at"}
    stream = {"time": "column", "delay": "PT0S", "lateness": "P1D"}
    project.declare(HOUSE | {"columns": columns, "stream": stream})
    terms = {"subject": ["<urn:s>"], "predicate": ["<urn:p>"], "object": ['"1"']}
    for at in (1, "1970-01-01T00:00:00Z"):
        write_deltalake(
            project.folder / "house",
            pa.table({**terms, "at": [at]}),
            mode="overwrite",
            schema_mode="overwrite",
            configuration=FEED,
        )
        if at == 1:
            assert project.ingest().errors == ()
    with pytest.raises(AssertionError, match="Spark was asked for"):
        project.ingest()
