"""What delta-rs writes, in each type of text and by each operation, is read without Spark.

The state after each version is what delta-rs itself reads of that version.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.support.projects.project import Project
from weir.ingest.sources import delta
from weir.lake.delta.commit_files import commit_file

HOUSE = {
    "name": "house",
    "kind": "delta",
    "location": "house",
    "starting_version": 0,
    "max_deleted_share": 1,
    "allow_empty": True,
}
FEED = {"delta.enableChangeDataFeed": "true"}
TEXTS: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "string_view": pa.string_view(),
    "large_string": pa.large_string(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
}
NESTED = pa.struct([("tags", pa.list_(pa.string())), ("in", pa.map_(pa.string(), pa.int64()))])


def rows(text: str, *objects: str, **more: pa.Array[Any]) -> pa.Table:
    """A row per object, its terms of one of Arrow's types of text; `nested`: with other columns."""
    arrays = {
        "subject": [f"<urn:{term.encode().hex()}>" for term in objects],
        "predicate": [f"<urn:p{len(term) % 2}>" for term in objects],
        "object": [*objects],
    }
    kind = TEXTS.get(text, pa.string())
    columns = {name: pa.array(values, pa.string()).cast(kind) for name, values in arrays.items()}
    if text == "nested":
        value = {"tags": ["a"], "in": [("b", 1)]}
        columns["about"] = pa.array([value] * len(objects), NESTED)
    return pa.table({**columns, **more})


class House:
    """A table of a project, written by delta-rs."""

    def __init__(self, project: Project, text: str, **options: Any) -> None:
        self.project, self.text, self.options = project, text, options
        self.folder = project.folder / "house"
        self.insert('"1"', '"2"', '"a \\" b"')

    def insert(self, *objects: str, mode: str = "append", **options: Any) -> None:
        write: Any = write_deltalake
        more = self.options | options
        write(self.folder, rows(self.text, *objects), mode=mode, configuration=FEED, **more)

    def remove_by_hand(self, *objects: str) -> None:
        """Commit a `remove` of the file with just these objects, without its optional fields."""
        added = pa.table(self.table.get_add_actions()).to_pylist()
        (path,) = (file["path"] for file in added if file["num_records"] == len(objects))
        remove = {"path": path, "deletionTimestamp": 1, "dataChange": True}
        lines = ({"commitInfo": {"timestamp": 1767225600000}}, {"remove": remove})
        commit = self.folder / commit_file(self.table.version() + 1)
        commit.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    def committed(self, version: int) -> float:
        """When a version was committed, in seconds since 1970."""
        for line in (self.folder / commit_file(version)).read_text().splitlines():
            if "commitInfo" in line:
                return float(json.loads(line)["commitInfo"]["timestamp"]) / 1000
        raise AssertionError("no time")

    @property
    def table(self) -> DeltaTable:
        return DeltaTable(self.folder)

    @property
    def versions(self) -> list[set[object]]:
        """The objects of each version."""
        read = [DeltaTable(self.folder, version) for version in range(self.table.version() + 1)]
        columns = [table.to_pyarrow_table(columns=["object"])["object"] for table in read]
        return [{*column.to_pylist()} for column in columns]

    @property
    def epochs(self) -> list[set[object]]:
        """The objects that hold at each epoch."""
        last = len(self.project.rows("transactions"))
        return [{quad[3] for quad in self.project.state(epoch)} for epoch in range(1, last + 1)]


def merge(house: House) -> None:
    source = rows(house.text, '"1"', '"new"')
    house.table.merge(
        source, predicate="t.object = s.object", source_alias="s", target_alias="t"
    ).when_matched_update({"object": "'\"merged\"'"}).when_not_matched_insert_all().execute()


def compact(house: House) -> None:
    house.insert('"4"')
    house.table.optimize.compact()


def new_column(house: House) -> None:
    more = pa.array([1])
    write_deltalake(
        house.folder, rows(house.text, '"3"', extra=more), mode="append", schema_mode="merge"
    )


OPERATIONS: Mapping[str, Callable[[House], object]] = {
    "insert": lambda house: house.insert('"3"', '"2"'),
    "delete": lambda house: house.table.delete("object = '\"2\"'"),
    "delete all": lambda house: house.table.delete(),
    "update": lambda house: house.table.update(
        updates={"object": "'\"9\"'"}, predicate="object = '\"1\"'"
    ),
    "merge": merge,
    "overwrite": lambda house: house.insert('"1"', '"8"', mode="overwrite"),
    "overwrite a part": lambda house: house.insert(
        '"1"', mode="overwrite", predicate="object = '\"1\"'"
    ),
    "optimize": compact,
    "z-order": lambda house: house.table.optimize.z_order(["object"]),
    "restore": lambda house: house.table.restore(0),
    "new column": new_column,
    "properties": lambda house: house.table.alter.set_table_properties(
        {"delta.logRetentionDuration": "interval 90 days"}
    ),
}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("text", [*TEXTS, "nested"])
def test_an_operation_of_delta_rs_gives_the_rows_of_its_version(
    project: Project, text: str, operation: str
) -> None:
    project.declare(HOUSE)
    house = House(project, text)
    if operation == "restore":
        house.insert('"6"')
    project.ingest()
    OPERATIONS[operation](house)
    assert project.ingest().errors == ()
    assert house.epochs == house.versions


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("text", [*TEXTS, "nested"])
def test_operations_that_follow_one_another_are_read_in_one_run(
    project: Project, text: str
) -> None:
    project.declare(HOUSE)
    house = House(project, text)
    for operation in ("delete", "insert", "merge", "optimize", "update", "restore", "delete all"):
        OPERATIONS[operation](house)
    assert project.ingest().errors == ()
    assert house.epochs == house.versions


def test_a_column_that_comes_and_goes_between_two_runs_stops_nothing(project: Project) -> None:
    project.declare(HOUSE)
    house = House(project, "string")
    project.ingest()
    new_column(house)
    house.insert('"n"', mode="overwrite", schema_mode="overwrite")
    house.insert('"m"')
    assert project.ingest().errors == ()
    assert house.epochs == house.versions


def test_a_removed_file_whose_size_the_log_does_not_say_is_read(project: Project) -> None:
    project.declare(HOUSE)
    house = House(project, "string")
    house.insert('"c"')
    house.remove_by_hand('"c"')
    assert project.ingest().errors == ()
    first = {'"1"', '"2"', '"a \\" b"'}
    assert house.epochs == [first, first | {'"c"'}, first]


def test_each_commit_has_its_own_time_while_another_process_commits(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.declare(HOUSE)
    house = House(project, "string")
    for term in ('"b"', '"c"'):
        time.sleep(0.01)
        house.insert(term)
    table_id = delta._table_id

    def committing(table: DeltaTable) -> str:
        time.sleep(0.01)
        house.insert('"d"')
        return table_id(table)

    monkeypatch.setattr(delta, "_table_id", committing)
    project.ingest()
    times = sorted(row["event_time"].timestamp() for row in project.table("transactions"))
    assert times == [house.committed(version) for version in range(3)]
