"""What maintaining queries over streams costs, counted: tables that are read, databases."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from jobs.compute import engine as engines
from jobs.compute.connection import connect
from lake.lake import Lake
from lake.tables import STREAM_EPOCHS, TRANSACTIONS
from tests.support.projects.ingest import no_spark
from tests.support.stages import STAGES
from tests.support.streams.sensors import HOT, arrive, run, sensors

MANY = 6


def cost(folder: Path, queries: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The reads of small tables and the databases of the maintain stage after a second file."""
    folder.mkdir()
    project = sensors(folder)
    for number in range(1, queries):
        project.query(f"hot{number}", HOT.replace("PT10S", f"PT{10 + number}S"))
    arrive(project, 0)
    run(project)
    arrive(project, 1)
    STAGES["ingest"](no_spark, project.settings, "test")
    counted: Counter[str] = Counter()
    read = Lake.rows

    def rows(lake: Lake, name: str, *wanted: object) -> pa.Table:
        counted[name] += 1
        return read(lake, name, *wanted)  # type: ignore[arg-type]

    def connected(*wanted: object) -> object:
        counted["databases"] += 1
        return connect(*wanted)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Lake, "rows", rows)
        patched.setattr(engines, "connect", connected)
        STAGES["maintain"](no_spark, project.settings, "test")
    return counted


def test_many_queries_read_what_is_recorded_of_their_streams_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, many = (cost(tmp_path / str(n), n, monkeypatch) for n in (1, MANY))
    tables = (STREAM_EPOCHS.name, TRANSACTIONS.name)
    assert {name: many[name] for name in tables} == {name: one[name] for name in tables}


def test_a_further_query_that_has_one_leg_opens_one_further_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, many = (cost(tmp_path / str(n), n, monkeypatch) for n in (1, MANY))
    assert many["databases"] - one["databases"] == MANY - 1
