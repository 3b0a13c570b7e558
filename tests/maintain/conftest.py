"""A project per test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.maintain import MaintainedProject


@pytest.fixture
def project(tmp_path: Path) -> MaintainedProject:
    project = MaintainedProject(tmp_path / "project")
    project.folder.mkdir()
    project.begin()
    return project
