"""Commits of rounds leave the log of an inbox once ingest and the check have read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.remotes.test_evaluations import EVERY, POPULATION, project_of
from tests.support.opened import call
from tests.support.projects.replicas import ReplicaProject
from weir.lake.delta.commit_files import LOG
from weir.project import open_lake
from weir.refresh.check import check_freshness
from weir.remotes.checks import rounds as checked
from weir.remotes.checks.rounds import delete_old_rounds
from weir.remotes.replica_inbox import replica_inbox

pytestmark = pytest.mark.usefixtures("sampled")

ROUNDS = 6


@pytest.fixture
def project(
    changed: ReplicaProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ReplicaProject:
    """A remote that every round changes; the first one is ingested."""
    monkeypatch.setattr(checked, "LOG_COMMITS", 0)
    return changed.copy(tmp_path / "project")


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> ReplicaProject:
    """What `project` copies."""
    project = project_of(tmp_path_factory.mktemp("changed"))
    project.stages("ingest")
    for number in range(2, ROUNDS + 1):
        evaluate(project, 10 * number)
    return project


def evaluate(project: ReplicaProject, value: int) -> None:
    project.now += EVERY
    project.remote.set("http://x/a", POPULATION, value)
    project.refresh()
    # So that every version can be the first one that stays.
    open_lake(project.settings).existing("replicas/wd").create_checkpoint()


def check(project: ReplicaProject) -> None:
    """Check what is new; raises if an expectation is not met."""
    call(check_freshness, project.settings, "check", now=project.now)


def delete(project: ReplicaProject, ingested: int) -> int:
    """The rounds whose commits are left, after those of old ones were deleted."""
    lake = open_lake(project.settings)
    delete_old_rounds(lake, replica_inbox("wd"), ingested)
    folder = Path(lake.location("replicas/wd")) / LOG
    return len([*folder.glob("*.json")])


def ingested(project: ReplicaProject) -> list[str]:
    return [row["position"] for row in project.table("transactions") if row["source"] == "wd"]


def test_rounds_that_are_not_ingested_stay(project: ReplicaProject) -> None:
    assert delete(project, 1) >= ROUNDS
    project.stages("ingest")
    assert sorted(ingested(project)) == [str(number) for number in range(1, ROUNDS + 1)]


def test_ingested_rounds_leave_a_lake_without_checks(project: ReplicaProject) -> None:
    project.stages("ingest")
    assert delete(project, ROUNDS) < ROUNDS


def test_the_next_rounds_follow_those_whose_commits_are_gone(project: ReplicaProject) -> None:
    project.stages("ingest")
    delete(project, ROUNDS)
    evaluate(project, 7)
    project.run()
    assert sorted(ingested(project)) == [str(number) for number in range(1, ROUNDS + 2)]
    seven = '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert (("n", seven), ("user", "<http://x/u>")) in project.answer("cities")


def test_the_rows_of_deleted_commits_stay(project: ReplicaProject) -> None:
    project.stages("ingest")
    before = len(project.table("replicas/wd"))
    delete(project, ROUNDS)
    assert len(project.table("replicas/wd")) == before


def test_rounds_stay_until_the_check_has_seen_them(project: ReplicaProject) -> None:
    check(project)
    evaluate(project, 7)
    evaluate(project, 8)
    project.stages("ingest")
    # The changes of rounds 2 to 6 were no epochs when they were checked.
    assert delete(project, ROUNDS + 2) >= ROUNDS + 1
    check(project)
    assert delete(project, ROUNDS + 2) <= 2
    evaluate(project, 9)
    project.stages("ingest")
    check(project)


def test_a_remote_that_does_not_change_keeps_no_commits_since_its_last_change(
    project: ReplicaProject,
) -> None:
    project.stages("ingest")
    check(project)
    for _ in range(4):
        evaluate(project, 10 * ROUNDS)
    check(project)
    assert delete(project, ROUNDS) <= 2
