"""Where what an explanation names is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.project import PATCHES, Project
from weir.definitions.catalog import Catalog
from weir.project import Project as Opened
from weir.why.explain import explain_epoch
from weir.why.explanation import Change
from weir.why.places import Places

ROOM = "<http://e/room>"


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project in which the second of two patches has another room."""
    project = Project(tmp_path_factory.mktemp("places") / "project").declare(PATCHES)
    project.query("q", "SELECT ?x ?r { ?x <http://e/room> ?r }")
    project.change_set(f"A <http://e/a> {ROOM} <http://e/1>")
    project.run()
    project.change_set(f"D <http://e/a> {ROOM} <http://e/1>", f"A <http://e/a> {ROOM} <http://e/2>")
    project.run()
    return project


def places(project: Project, *, reads_files: bool) -> list[str]:
    """The places of the changes that explain the rows of epoch 2."""
    with Opened(project.settings) as own:
        definition = Catalog.of(own.settings).member("q")
        rows = explain_epoch(own, definition, 2, {}, 5).rows
        written = Places.of(own, rows, reads_files=reads_files)
        changes = [change for row in rows for change in row.changes]
        return [written.of_change(change) for change in changes if isinstance(change, Change)]


def test_a_change_has_the_line_of_its_file(moved: Project) -> None:
    file = moved.change_sets[1]
    lines = file.read_text().splitlines()
    expected = [
        f"p: {file.name}:{i}"
        for start in ("D <http://e/a>", "A <http://e/a>")
        for i, line in enumerate(lines, start=1)
        if line.startswith(start)
    ]
    assert places(moved, reads_files=True) == expected


def test_without_the_file_a_change_has_its_change_set(moved: Project, tmp_path: Path) -> None:
    own = moved.copy(tmp_path / "copy")
    file = own.change_sets[1]
    named = [f"p: {file.name}"] * 2
    assert places(own, reads_files=False) == named
    file.unlink()
    assert places(own, reads_files=True) == named
