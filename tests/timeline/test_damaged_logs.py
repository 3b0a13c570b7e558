"""Queries of which one reads the stream of the other, while a log of that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.built import AsBuilt
from tests.support.damage import newest_commit
from tests.support.opened import has_pending_work, statuses_of
from tests.support.projects.project import Project
from tests.timeline.test_output_streams import STREAMS, arrive, often, project_of, seen_before
from weir.errors import WeirError
from weir.progress.completion import Completion
from weir.project import open_lake

pytestmark = pytest.mark.usefixtures("sampled")

TABLES = ("answers/q", "embeddings/q", "output_streams/q")


def begun(folder: Path) -> Project:
    project = project_of(folder, "ISTREAM")
    arrive(project, 0, 1, 2)
    project.run()
    return project


@pytest.fixture
def project(as_built: AsBuilt) -> Project:
    """The query `often` reads the stream of `q`; three of five files are published."""
    return as_built(begun)


@pytest.mark.parametrize("table", TABLES)
def test_the_reader_of_a_damaged_stream_waits_and_catches_up_once_it_is_restored(
    project: Project, table: str
) -> None:
    commit = newest_commit(open_lake(project.settings), table)
    right = commit.read_bytes()
    commit.write_text("{")
    arrive(project, 3, 4)
    project.ingest()
    with pytest.raises(WeirError, match=r"q: .*is not JSON"):
        project.maintain()
    lake = open_lake(project.settings)
    reader = Completion.read(lake).maintained("often")
    assert reader is not None
    assert reader.epoch < Completion.read(lake).head
    commit.write_bytes(right)
    project.run()
    assert often(project) == seen_before(STREAMS["ISTREAM"])


@pytest.mark.parametrize("table", TABLES)
def test_a_damaged_log_fails_its_query_without_a_new_epoch_too(
    project: Project, table: str
) -> None:
    newest_commit(open_lake(project.settings), table).write_text("{")
    assert has_pending_work(project.settings)
    with pytest.raises(WeirError, match="could not be maintained:"):
        project.maintain()


@pytest.mark.parametrize("table", TABLES)
def test_the_status_says_which_query_is_broken(project: Project, table: str) -> None:
    newest_commit(open_lake(project.settings), table).write_text("{")
    states = {status.query: status.state for status in statuses_of(project.settings)}
    assert states == {"often": "current", "q": "broken"}
