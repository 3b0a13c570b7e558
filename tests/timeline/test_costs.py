"""What maintaining queries over streams costs, counted: tables that are read, databases."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from tests.support.streams.sensors import HOT, arrive, sensors
from weir.compute import database
from weir.compute.database import Database
from weir.lake.lake import Lake
from weir.lake.tables import STREAM_EPOCHS
from weir.settings import Settings

MANY = 3


def cost(folder: Path, queries: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The reads of small tables and the databases of the maintain stage after a second file."""
    project = sensors(folder)
    for number in range(1, queries):
        project.query(f"hot{number}", HOT.replace("PT10S", f"PT{10 + number}S"))
    arrive(project, 0)
    project.run()
    arrive(project, 1)
    project.ingest()
    counted: Counter[str] = Counter()
    read, make = Lake.rows, database.Database

    def rows(lake: Lake, name: str, *wanted: object) -> pa.Table:
        counted[name] += 1
        return read(lake, name, *wanted)  # type: ignore[arg-type]

    def made(settings: Settings) -> Database:
        counted["databases"] += 1
        return make(settings)

    with monkeypatch.context() as patched:
        patched.setattr(Lake, "rows", rows)
        patched.setattr(database, "Database", made)
        project.maintain()
    return counted


@pytest.fixture(scope="module")
def costs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Counter[str]]:
    """By the number of queries."""
    folder = tmp_path_factory.mktemp("costs")
    with pytest.MonkeyPatch.context() as monkeypatch:
        return {number: cost(folder / str(number), number, monkeypatch) for number in (1, MANY)}


@pytest.mark.usefixtures("slow")
def test_frontiers_are_read_once_however_many_queries_depend_on_them(
    costs: dict[int, Counter[str]],
) -> None:
    assert [counts[STREAM_EPOCHS.name] for counts in costs.values()] == [1, 1]


def test_all_queries_over_streams_share_one_database(costs: dict[int, Counter[str]]) -> None:
    assert [counts["databases"] for counts in costs.values()] == [1, 1]
