"""A delivery through a door that dies at any commit, repeated, leaves what a whole one leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.dying import dies_at, passed
from tests.support.killed import call_killed
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project
from weir.ingest.stopped_sources import stopped_sources
from weir.project import open_lake

_REPORT = "exhibits"
_SHAPES = """\
#+ door: {sources: [p]}
@prefix : <http://x/> .
@prefix sh: <http://www.w3.org/ns/shacl#> .
:Exhibit a sh:NodeShape ; sh:targetSubjectsOf :title ;
  sh:property [ sh:path :room ; sh:minCount 1 ; sh:message "where is it?" ] .
"""
_OPENS = 'D <http://x/vase> <http://x/room> "1" .'
_COMMITS = (
    "ingest:claim",
    # The report is behind.
    "maintain:claim",
    "maintain:embeddings/exhibits",
    "maintain:runs",
    "ingest:graphs",
    "ingest:rejected",
    "ingest:source_files",
    "ingest:quads",
    "ingest:triples",
    "ingest:transactions",
    "ingest:stopped_sources",
    "ingest:runs",
)
ACCEPTED = {"let in": (), "refused": (), "accepted": ("p",)}
"""The deliveries that die, and which sources each of them accepts."""
POINTS = [
    f"{job}:{moment}:{table}"
    for job, table in (name.split(":") for name in _COMMITS)
    for moment in ("before", "after")
]
CASES = [
    (delivery, point)
    for delivery in ACCEPTED
    for point in POINTS
    if delivery != "let in" or not point.endswith("stopped_sources")
]


def _exhibit(name: str) -> tuple[str, str]:
    title, room = (f"A <http://x/{name}> <http://x/{key}>" for key in ("title", "room"))
    return f'{title} "{name}" .', f'{room} "1" .'


def fill(project: Project, delivery: str) -> None:
    """A project whose report is behind, before the delivery."""
    project.declare(PATCHES, {**SNAPSHOTS, "graph": "http://x/s"})
    project.write(f"shapes/{_REPORT}.ttl", _SHAPES)
    project.change_set(*_exhibit("vase"))
    project.deliver()
    project.stages("maintain", "validate", "publish")
    if delivery == "accepted":
        project.change_set(_OPENS, "broken")
        project.deliver()
    project.write("versions/1.nt", '<http://x/desk> <http://x/title> "desk" .')
    project.deliver()
    project.change_set(*_exhibit("coin"), 'A <http://x/coin> <http://x/x> "" <http://x/g> .', "bad")
    if delivery == "refused":
        project.change_set(_OPENS)
        project.change_set(*_exhibit("mask"))


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Project]:
    """The projects before each delivery."""
    projects = {name: Project(tmp_path_factory.mktemp("before")) for name in ACCEPTED}
    for name, project in projects.items():
        fill(project, name)
    return projects


@pytest.fixture(scope="module")
def unbroken(
    before: dict[str, Project], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Project]:
    """The projects after each delivery, and after the stages that follow."""
    folder = tmp_path_factory.mktemp("unbroken")
    projects = {name: project.copy(folder / name) for name, project in before.items()}
    for name, project in projects.items():
        project.deliver(ACCEPTED[name])
        project.stages("maintain", "validate", "publish")
    return projects


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(("delivery", "point"), CASES)
def test_a_delivery_that_is_killed_and_repeated_leaves_the_same_lake_and_report(
    before: dict[str, Project],
    unbroken: dict[str, Project],
    tmp_path: Path,
    delivery: str,
    point: str,
) -> None:
    project, accept = before[delivery].copy(tmp_path / "project"), ACCEPTED[delivery]
    call_killed(Project.deliver, project, accept, at=point)
    if delivery == "refused":
        vase = [row for row in project.table("quads") if row["subject"] == "<http://x/vase>"]
        assert [row["weight"] for row in vase] == [1, 1], "a change set that opens a result"
    project.deliver(accept)
    project.stages("maintain", "validate", "publish")
    assert _left(project) == _left(unbroken[delivery])
    versions = project.versions()
    project.deliver(accept)
    assert project.versions() == versions


def test_these_are_all_commits_of_a_delivery(before: dict[str, Project], tmp_path: Path) -> None:
    for delivery, accept in ACCEPTED.items():
        project = before[delivery].copy(tmp_path / delivery)
        with passed() as points:
            project.deliver(accept)
        assert points == [point for name, point in CASES if name == delivery]


def test_an_acceptance_that_dies_before_its_commit_is_none(
    before: dict[str, Project], tmp_path: Path
) -> None:
    project = before["accepted"].copy(tmp_path / "project")
    with dies_at("ingest:before:quads"):
        project.deliver(("p",))
    assert project.deliver().errors
    assert project.rows("transactions", "position") == [("0001.rdfp",), ("1.nt",)]


def test_an_acceptance_that_dies_after_its_commit_is_finished_without_a_second_one(
    before: dict[str, Project], unbroken: dict[str, Project], tmp_path: Path
) -> None:
    project = before["accepted"].copy(tmp_path / "project")
    with dies_at("ingest:after:quads"):
        project.deliver(("p",))
    assert not project.deliver().errors
    project.stages("maintain", "validate", "publish")
    assert _left(project) == _left(unbroken["accepted"])


def _left(project: Project) -> tuple[object, ...]:
    """What a delivery leaves: the lake, the versions of its epochs, the report, what stopped."""
    epochs = project.rows("transactions", "epoch", "quads_version", "triples_version")
    stopped = [
        (source.source, source.position, source.excess)
        for source in stopped_sources(open_lake(project.settings)).values()
    ]
    return project.contents(), epochs, project.signed(_REPORT), stopped
