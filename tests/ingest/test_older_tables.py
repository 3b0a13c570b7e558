"""A table that was restored alone, from before the others, is not gone on from."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.opened import call
from tests.support.projects.project import PATCHES
from tests.support.projects.replicas import IRI, ReplicaProject
from tests.support.streams.projects import READINGS, readings
from weir.compact.stage import compact_lake
from weir.ingest.source_names import drop_source, rename_source
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.names import Name

pytestmark = pytest.mark.usefixtures("sampled")

TABLES = (
    *(
        "quads",
        "triples",
        "graphs",
        "transactions",
        "streams/readings",
        "stream_epochs",
        "replicas/wd",
    ),
)


def step(project: ReplicaProject, number: int) -> None:
    """A change set, a reading and a round of the remote, all ingested."""
    project.change_set(
        f"A <http://x/u{number}> <http://x/city> <http://x/c> .",
        f"A <http://x/u{number}> <http://x/city> <http://x/c> <http://x/g{number}> .",
    )
    project.write(f"events/{number}.ttl", readings(("s1", 10 * number)))
    project.run()
    project.remote.set("http://x/c", "http://x/population", number)
    project.now = project.now.replace(hour=number)
    assert not project.refresh().errors
    project.ingest()


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> ReplicaProject:
    """A project of two steps; not to be changed."""
    project = ReplicaProject(tmp_path_factory.mktemp("backup") / "project")
    project.declare_remote()
    project.declare(PATCHES | {"name": "data"}, READINGS)
    project.folders("events")
    project.query(
        "cities",
        "SELECT ?user ?n WHERE { ?user <http://x/city> ?city"
        f" SERVICE <{IRI}> {{ ?city <http://x/population> ?n }} }}",
    )
    for number in (1, 2):
        step(project, number)
    return project


@pytest.fixture(scope="module")
def newer(backup: ReplicaProject, tmp_path_factory: pytest.TempPathFactory) -> ReplicaProject:
    """The same project two steps later; not to be changed."""
    project = backup.copy(tmp_path_factory.mktemp("newer") / "project")
    for number in (3, 4):
        step(project, number)
    return project


def restore(project: ReplicaProject, table: str, backup: ReplicaProject) -> None:
    """Put the table of another project in the place of a project's own."""
    shutil.rmtree(project.folder / "lake" / table)
    shutil.copytree(backup.folder / "lake" / table, project.folder / "lake" / table)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("table", TABLES)
def test_nothing_changes_the_graph_or_follows_it_in_a_lake_one_table_of_which_is_older(
    backup: ReplicaProject, newer: ReplicaProject, tmp_path: Path, table: str
) -> None:
    project = newer.copy(tmp_path / "project")
    restore(project, table, backup)
    before = project.versions()
    project.change_set("A <http://x/u5> <http://x/city> <http://x/c> .")
    stages: list[Callable[[], object]] = [
        project.ingest,
        lambda: call(drop_source, project.settings, "drop", name=Name("gone")),
        lambda: call(rename_source, project.settings, "rename", old=Name("gone"), new=Name("data")),
    ]
    if table != "transactions":
        # After older epochs there is nothing to maintain; a run that died leaves its newest epoch
        # out, too, so compaction cannot refuse it.
        stages += [
            project.maintain,
            lambda: call(compact_lake, project.settings, "compact"),
        ]
    for stage in stages:
        with pytest.raises(DamagedTable, match="it is older than the others") as raised:
            stage()
        assert raised.value.where.endswith(table)
        assert project.versions() == before
    restore(project, table, newer)
    project.ingest()
    assert len(project.table("transactions")) == 4 * 3 + 1


def test_a_remote_is_not_asked_whose_inbox_is_older_than_the_graph(
    backup: ReplicaProject, newer: ReplicaProject, tmp_path: Path
) -> None:
    project = newer.copy(tmp_path / "project")
    restore(project, "replicas/wd", backup)
    project.now = project.now.replace(hour=9)
    asked = len(project.remote.asked)
    (error,) = project.refresh().errors
    assert "it is older than the others" in str(error)
    assert len(project.remote.asked) == asked
