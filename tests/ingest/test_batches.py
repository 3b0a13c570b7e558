"""How change sets are divided into batches."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.projects.project import Project
from weir.ingest.changesets import ChangeSet, Document
from weir.ingest.pending import next_batch, source_positions
from weir.ingest.sources.delta import DeltaTable
from weir.ingest.sources.patches import Patches
from weir.lake.lake import Lake
from weir.project import open_lake
from weir.rdf.records import ParseRequest
from weir.settings import Limits

PATCHES = Patches(name="p", kind="patches", location="x")
TABLE = DeltaTable(name="t", kind="delta", location="x")


def files(*sizes: int) -> list[ChangeSet]:
    request = ParseRequest("x", "rdf-patch", "patch", scope="p")
    documents = [Document("x", size, request) for size in sizes]
    return [
        ChangeSet(PATCHES, str(i), documents=(document,)) for i, document in enumerate(documents)
    ]


def lengths(queue: list[ChangeSet], **limits: int) -> list[int]:
    numbers = []
    while queue:
        batch, queue = next_batch(queue, Limits(**limits))
        numbers.append(len(batch))
    return numbers


@given(
    sizes=st.lists(st.integers(0, 9), max_size=9),
    most=st.integers(1, 4),
    here=st.integers(0, 12),
)
def test_every_change_set_is_in_one_batch_and_in_order(
    sizes: list[int], most: int, here: int
) -> None:
    queue, taken = files(*sizes), []
    while queue:
        batch, queue = next_batch(queue, Limits(batch_epochs=most, driver_parse_bytes=here))
        assert 1 <= len(batch) <= most
        taken += batch
    assert taken == files(*sizes)


def test_a_batch_for_the_driver_has_as_many_files_as_it_may_parse() -> None:
    assert lengths(files(4, 4, 4, 4), driver_parse_bytes=8) == [2, 2]


def test_spark_gets_all_files_from_the_first_that_the_driver_may_not_parse() -> None:
    assert lengths(files(9, 1, 1), driver_parse_bytes=8) == [3]
    assert lengths(files(1, 1, 1), driver_parse_bytes=0) == [3]


def test_a_foreign_table_is_in_no_batch_with_files() -> None:
    commits = [ChangeSet(TABLE, str(i)) for i in range(2)]
    assert lengths([*files(1), *commits, *files(1, 1)], driver_parse_bytes=8) == [1, 2, 2]


def test_a_run_reads_the_positions_once_however_many_batches_it_has(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.configure(batch_epochs=1)
    project.patch("changes/0.rdfp", "A <urn:s> <urn:p> <urn:o> .", id_="urn:0")
    project.ingest()
    for number in (1, 2, 3):
        line = f"A <urn:s> <urn:p> <urn:{number}> ."
        before = f"urn:{number - 1}"
        project.patch(f"changes/{number}.rdfp", line, id_=f"urn:{number}", previous=before)
    read: list[str] = []
    rows = Lake.rows

    def counted(lake: Lake, table_name: str, *args: Any, **kwargs: Any) -> Any:
        read.append(table_name)
        return rows(lake, table_name, *args, **kwargs)

    monkeypatch.setattr(Lake, "rows", counted)
    (result,) = project.ingest().sources
    assert (result.epochs, result.position, result.error) == (3, "3.rdfp", None)
    assert read.count("transactions") == 1
    ingested = source_positions(open_lake(project.settings))["p"]
    assert (ingested.positions, ingested.last_id) == (
        ("0.rdfp", "1.rdfp", "2.rdfp", "3.rdfp"),
        "urn:3",
    )
