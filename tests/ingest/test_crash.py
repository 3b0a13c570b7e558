"""A run that dies at any commit and is repeated leaves what an undisturbed run leaves."""

from __future__ import annotations

import pytest

from tests.support.dying import dies_at
from tests.support.killed import call_killed
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project

POINTS = [
    f"ingest:{moment}:{table}"
    for table in (
        "claim",
        "graphs",
        "rejected",
        "source_files",
        "quads",
        "triples",
        "transactions",
        "runs",
    )
    for moment in ("before", "after")
]


def fill(project: Project) -> None:
    """Three batches: an earlier one, one with everything, one after it."""
    project.declare(PATCHES, SNAPSHOTS, batch_epochs=3)
    project.patch("changes/1.rdfp", 'A <urn:s> <urn:p> "1" .', 'A <urn:s> <urn:p> "1" <urn:g> .')
    project.ingest()
    project.patch("changes/2.rdfp", 'D <urn:s> <urn:p> "1" .', "broken", 'A <urn:s> <urn:p> "2" .')
    project.patch("changes/3.rdfp", 'D <urn:s> <urn:p> "1" <urn:g> .', 'A <urn:s> <urn:p> "2" .')
    project.write("versions/1.ttl", '<urn:s> <urn:p> "2", [ <urn:q> 1 ] .')
    project.write("versions/2.ttl", '<urn:s> <urn:p> "3", [ <urn:q> 1 ] .')


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("unbroken"))
    fill(project)
    project.ingest()
    return project


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("point", POINTS)
def test_a_run_that_dies_and_is_run_again_leaves_the_same_lake(
    project: Project, unbroken: Project, point: str
) -> None:
    fill(project)
    with dies_at(point):
        project.ingest()
    project.ingest()
    assert project.contents() == unbroken.contents()
    # Maintain reads the feed from the versions that the epochs name.
    assert versions_of_epochs(project) == versions_of_epochs(unbroken)


@pytest.mark.usefixtures("slow")
def test_a_process_that_is_killed_and_run_again_leaves_the_same_lake(
    project: Project, unbroken: Project
) -> None:
    fill(project)
    call_killed(Project.ingest, project, at="ingest:after:quads")
    project.ingest()
    assert project.contents() == unbroken.contents()


@pytest.mark.parametrize("other_graph", ["", "<urn:g>"])
def test_triples_of_versions_are_the_same_if_the_run_after_a_death_computes_them(
    project: Project, tmp_path_factory: pytest.TempPathFactory, other_graph: str
) -> None:
    def fill_with_versions(own: Project) -> None:
        own.declare(SNAPSHOTS)
        for number, (one, other) in enumerate((("a", "b"), ("b", "c")), start=1):
            own.ingest()
            in_other = f"<urn:s> <urn:p> <urn:{other}> {other_graph} ."
            own.write(f"versions/{number}.nq", f"<urn:s> <urn:p> <urn:{one}> .\n{in_other}\n")

    unbroken = Project(tmp_path_factory.mktemp("unbroken"))
    fill_with_versions(unbroken)
    unbroken.ingest()
    fill_with_versions(project)
    with dies_at("ingest:after:quads"):
        project.ingest()
    project.ingest()
    assert project.contents() == unbroken.contents()


def test_rejections_are_not_repeated_if_the_batches_of_the_next_run_differ(
    project: Project,
) -> None:
    for number in (1, 2, 3):
        project.patch(f"changes/{number}.rdfp", f"broken {number}")
    with dies_at("ingest:after:rejected"):
        project.ingest()
    project.configure(batch_epochs=1)
    project.ingest()
    assert project.rows("rejected", "position", "raw") == [
        (f"{number}.rdfp", f"broken {number}") for number in (1, 2, 3)
    ]


def versions_of_epochs(project: Project) -> list[tuple[object, ...]]:
    return project.rows("transactions", "epoch", "quads_version", "triples_version")
