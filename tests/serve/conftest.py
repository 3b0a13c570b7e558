"""A project with a history of its graph and of its answers, and a server of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.projects.graphs import FIRST, LATER, PAIRS
from tests.support.projects.project import PATCHES, Project
from tests.support.serving import Client, serving

KNOWN = "CONSTRUCT { ?b <urn:known-by> ?a } WHERE { ?a <urn:knows> ?b }"


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project whose graph and answers have six epochs; tests do not change it."""
    project = Project(tmp_path_factory.mktemp("people") / "project").declare(PATCHES)
    project.query("pairs", f"#+ description: Who knows whom.\n{PAIRS}")
    project.query("known", KNOWN)
    for change_set in (*FIRST, *LATER):
        project.change_set(*change_set)
        project.run()
    return project


@pytest.fixture(scope="module")
def server(people: Project) -> Iterator[Client]:
    """A server of it."""
    with serving(people.settings) as client:
        yield client


@pytest.fixture
def growing(people: Project, tmp_path: Path) -> Project:
    """A copy of the project, to be changed."""
    return people.copy(tmp_path / "copy")
