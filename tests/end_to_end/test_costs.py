"""What a run costs, counted: tables that are opened, sessions that are started."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.graphs import FIRST, LATER, NAMES, PAIRS
from tests.support.projects.ingest import no_spark
from tests.support.projects.maintain import MaintainedProject
from tests.support.stages import STAGES, opened_lakes


@pytest.fixture
def project(tmp_path: Path) -> MaintainedProject:
    """Two queries whose answers are published, and a change set that is not ingested."""
    project = MaintainedProject(tmp_path)
    project.begin()
    project.query("pairs", PAIRS)
    project.query("names", NAMES)
    for lines in FIRST:
        project.change(*lines)
    project.run(no_spark)
    for number, change_set in enumerate(LATER, start=len(FIRST) + 1):
        project.patch(f"changes/{number:04}.rdfp", *(f"{line} ." for line in change_set))
    return project


def test_each_table_is_opened_once_a_stage(
    project: MaintainedProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, stage in STAGES.items():
        with opened_lakes(monkeypatch) as lakes:
            stage(no_spark, project.settings, "test")
        (lake,) = lakes
        assert set(lake.opened.values()) == {1}, (name, lake.opened)
