"""A project of two queries with three epochs, all published."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.project import PATCHES, Project

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
def published(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project; not to be changed."""
    project = Project(tmp_path_factory.mktemp("published")).declare(PATCHES)
    project.query("rooms", ROOMS)
    project.query("in_g", IN_G)
    for lines in _CHANGES:
        project.change(*lines)
        project.run()
    return project


@pytest.fixture
def project(published: Project, tmp_path: Path) -> Project:
    """A copy of it."""
    return published.copy(tmp_path / "project")
