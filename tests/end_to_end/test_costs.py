"""What a run costs, counted: tables that are opened, sessions that are started."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.graphs import FIRST, LATER, NAMES, PAIRS
from tests.support.projects.project import PATCHES, Project
from tests.support.stages import STAGES, opened_lakes


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two queries whose answers are published, and a change set that is not ingested."""
    project = Project(tmp_path).declare(PATCHES)
    project.query("pairs", PAIRS)
    project.query("names", NAMES)
    for lines in FIRST:
        project.change(*lines)
    project.run()
    for change_set in LATER:
        project.change_set(*change_set)
    return project


def test_each_table_is_opened_once_a_stage(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in STAGES:
        with opened_lakes(monkeypatch) as lakes:
            project.stages(name)
        (lake,) = lakes
        assert set(lake.opened.values()) == {1}, (name, lake.opened)
