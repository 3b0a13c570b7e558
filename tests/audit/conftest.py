"""A project of two queries with three epochs, all published."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.ingest import no_spark
from tests.support.projects.maintain import MaintainedProject

ROOMS = "SELECT ?t ?r WHERE { ?x <urn:title> ?t ; <urn:room> ?r }"
IN_G = "SELECT ?t FROM <urn:g> WHERE { ?x <urn:title> ?t }"
_CHANGES = (
    (
        'A <urn:a> <urn:title> "a" <urn:g>',
        'A <urn:a> <urn:room> "1" <urn:g>',
        'A <urn:b> <urn:title> "b" <urn:g>',
    ),
    ('A <urn:b> <urn:room> "2" <urn:g>', 'A <urn:a> <urn:title> "a" <urn:h>'),
    ('D <urn:a> <urn:room> "1" <urn:g>', 'A <urn:a> <urn:room> "3" <urn:g>'),
)


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> MaintainedProject:
    """The project; not to be changed."""
    project = MaintainedProject(tmp_path_factory.mktemp("published"))
    project.begin()
    project.query("rooms", ROOMS)
    project.query("in_g", IN_G)
    for lines in _CHANGES:
        project.change(*lines)
        project.run(no_spark)
    return project


@pytest.fixture
def project(published: MaintainedProject, tmp_path: Path) -> MaintainedProject:
    """A copy of it."""
    return published.copy(tmp_path / "project")
