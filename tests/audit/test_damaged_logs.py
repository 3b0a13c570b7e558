"""A log that cannot be read concerns its query only, until it is repaired, restored or dropped."""

from __future__ import annotations

import pytest

from tests.audit.test_repair import is_right
from tests.support.damage import newest_commit
from tests.support.opened import call, has_pending_work, statuses_of
from tests.support.oracles.projects import check_answers
from tests.support.projects.project import Project
from weir.audit.checked import table_of
from weir.audit.files import LOG
from weir.audit.repair import repair_lake
from weir.audit.stage import examined
from weir.cli import main as weir
from weir.errors import WeirError
from weir.project import open_lake

TABLES = ("answers/rooms", "embeddings/rooms")
LINES = ('A <urn:z> <urn:title> "z" <urn:g>', 'A <urn:z> <urn:room> "9" <urn:g>')


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest, project: Project) -> str:
    """A table with a garbled commit."""
    newest_commit(open_lake(project.settings), request.param).write_text("{")
    return str(request.param)


def test_a_query_with_a_damaged_log_fails_and_the_others_are_published(
    project: Project, table: str
) -> None:
    project.change(*LINES)
    with pytest.raises(WeirError, match=f"rooms: .*{table}.*is not JSON"):
        project.maintain()
    with pytest.raises(WeirError, match=r"1 answer could not be published:[^:]*rooms"):
        project.stages("validate", "publish")
    check_answers(project, "in_g", 4, 4)


@pytest.mark.usefixtures("table")
def test_the_status_of_a_query_with_a_damaged_log_is_broken(project: Project) -> None:
    states = {status.query: status.state for status in statuses_of(project.settings)}
    assert states == {"rooms": "broken", "in_g": "current"}
    assert has_pending_work(project.settings)


def test_an_audit_names_the_table_whose_log_is_damaged(project: Project, table: str) -> None:
    failed = call(examined, project.settings, "audit").failed
    assert {(table_of(failure), failure.expectation) for failure in failed} == {(table, LOG.name)}


def test_a_repair_recomputes_embeddings_whose_log_is_damaged(project: Project) -> None:
    newest_commit(open_lake(project.settings), "embeddings/rooms").write_text("{")
    assert [repair.table for repair in call(repair_lake, project.settings, "r").done] == [
        "embeddings/rooms"
    ]
    project.run()
    assert is_right(project)


@pytest.mark.usefixtures("table")
def test_a_query_with_a_damaged_log_is_computed_again_once_it_is_dropped(project: Project) -> None:
    assert weir(["--config", str(project.folder / "weir.toml"), "drop", "rooms", "--yes"]) == 0
    project.run()
    check_answers(project, "rooms", 3, 3)
