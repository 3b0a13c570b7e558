"""Rows that a door computed are committed by maintain, if they are of what ingest committed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.support.built import AsBuilt
from tests.support.dying import dies_at
from tests.support.opened import opened
from tests.support.projects.project import PATCHES, Project
from weir.definitions.plan_body import PlanBody
from weir.door import guarded
from weir.ingest.stage import IngestResult, ingest_changes
from weir.maintain.stage import maintain_queries
from weir.project import Project as Opened

_DOOR = "#+ door: {sources: [p]}\n"
_SHAPES = """\
@prefix : <http://x/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
:Exhibit a sh:NodeShape ; sh:targetSubjectsOf :title ;
  sh:property [ sh:path :room ; sh:minCount 1 ; sh:message "where is it?" ] ;
  sh:property [ sh:path :title ; sh:maxLength 4 ; sh:severity sh:Warning ] .
"""


def _exhibit(name: str, *, room: str = "1") -> tuple[str, str]:
    title, of_room = (f"A <http://x/{name}> <http://x/{key}>" for key in ("title", "room"))
    return f'{title} "{name}" .', f'{of_room} "{room}" .'


def begun(folder: Path) -> Project:
    project = Project(folder).declare(PATCHES)
    project.write("shapes/exhibits.ttl", f"{_DOOR}{_SHAPES}")
    project.change_set(*_exhibit("vase"))
    project.deliver_and_run()
    return project


@pytest.fixture
def project(as_built: AsBuilt) -> Project:
    """A project with a door and an exhibit, published."""
    return as_built(begun)


@pytest.fixture
def process(project: Project) -> Iterator[Opened]:
    """A process that goes on, as a resident one does."""
    with opened(project.settings) as process:
        yield process


def _ingest(process: Opened) -> IngestResult:
    return guarded(ingest_changes, process, "test")


def _report(project: Project) -> list[tuple[int, Any]]:
    project.stages("maintain", "validate", "publish")
    return [(epoch, dict(row)["focus_node"]) for epoch, _, row in project.signed("exhibits")]


def test_what_the_door_computed_is_not_computed_again(project: Project, process: Opened) -> None:
    project.change_set(*_exhibit("statue"))
    assert not _ingest(process).errors
    with mock.patch.object(PlanBody, "delta", side_effect=AssertionError("it is computed")):
        maintain_queries(process, "test")
    assert project.watermark("exhibits") == 2
    assert _report(project) == [(2, "<http://x/statue>")]


def test_batches_take_what_the_door_computed_of_the_one_before(project: Project) -> None:
    project.configure(batch_epochs=1)
    project.change_set(*_exhibit("statue"))
    project.change_set(*_exhibit("amphora"))
    with mock.patch.object(
        PlanBody, "delta", autospec=True, side_effect=PlanBody.delta
    ) as computed:
        project.deliver_and_run()
    assert computed.call_count == 2
    assert _report(project) == [(2, "<http://x/statue>"), (3, "<http://x/amphora>")]


def test_what_was_refused_is_not_taken_for_what_another_process_ingests(
    project: Project, process: Opened
) -> None:
    project.change_set('A <http://x/statue> <http://x/title> "statue" .')
    assert _ingest(process).errors
    project.patch("changes/0002.rdfp", *_exhibit("amphora"))
    project.deliver()
    maintain_queries(process, "test")
    assert _report(project) == [(2, "<http://x/amphora>")]


def test_what_was_not_committed_is_not_taken_for_what_another_process_ingests(
    project: Project, process: Opened
) -> None:
    project.change_set(*_exhibit("statue"))
    with dies_at("ingest:before:quads"):
        _ingest(process)
    project.patch("changes/0002.rdfp", *_exhibit("amphora"))
    project.deliver()
    maintain_queries(process, "test")
    assert _report(project) == [(2, "<http://x/amphora>")]


def test_shapes_that_were_edited_since_are_computed(project: Project, process: Opened) -> None:
    project.change_set(*_exhibit("statue"))
    assert not _ingest(process).errors
    project.write("shapes/exhibits.ttl", f"{_DOOR}{_SHAPES.replace('maxLength 4', 'maxLength 9')}")
    maintain_queries(process, "test")
    assert _report(project) == []


def test_a_range_with_later_epochs_is_computed(project: Project, process: Opened) -> None:
    project.change_set(*_exhibit("statue"))
    assert not _ingest(process).errors
    project.change_set(*_exhibit("amphora"))
    project.ingest()
    maintain_queries(process, "test")
    assert _report(project) == [(2, "<http://x/statue>"), (3, "<http://x/amphora>")]


def test_other_shapes_are_computed_beside_them(project: Project, process: Opened) -> None:
    project.write("shapes/others.ttl", _SHAPES.replace("Exhibit", "Other"))
    project.deliver_and_run()
    project.change_set(*_exhibit("statue"))
    assert not _ingest(process).errors
    maintain_queries(process, "test")
    assert _report(project) == [(2, "<http://x/statue>")]
    assert [epoch for epoch, _, _ in project.signed("others")] == [2]
