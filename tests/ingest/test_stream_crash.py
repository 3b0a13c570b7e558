"""A run killed at any commit of a stream and repeated leaves what an undisturbed one does."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.dying import dies_at
from tests.support.opened import call
from tests.support.projects.project import Project
from weir.ingest.stage import is_anything_pending
from weir.project import open_lake

_TABLES = ("late", "streams/r", "stream_epochs")
_DATE_TIME = "<http://www.w3.org/2001/XMLSchema#dateTime>"
STREAM = {
    "name": "r",
    "kind": "patches",
    "location": "r",
    "stream": {"time": {"predicate": "urn:t"}, "lateness": "PT2S"},
}
GRAPH = {"name": "a", "kind": "patches", "location": "a"}


def event(number: int, second: int) -> str:
    return f'A <urn:e{number}> <urn:t> "2026-01-01T00:00:{second:02}Z"^^{_DATE_TIME} .'


def fill(project: Project) -> None:
    """An earlier epoch, then a batch with everything, one of the graph, and one after them."""
    project.declare(STREAM, GRAPH, batch_epochs=2)
    project.patch("r/1.rdfp", event(1, 10))
    project.ingest()
    project.patch("r/2.rdfp", event(2, 20), event(3, 5), "broken", "A <urn:x> <urn:p> <urn:y> .")
    project.patch("r/3.rdfp", event(4, 17), event(5, 18), event(6, 30))
    project.patch("r/4.rdfp", event(7, 11))
    project.patch("a/1.rdfp", "A <urn:s> <urn:p> <urn:o> .")


def contents(project: Project) -> dict[str, list[tuple[Any, ...]]]:
    """Everything that ingest writes, without the columns that differ from run to run."""
    lake, tables = open_lake(project.settings), project.contents()
    for table in _TABLES:
        names = lake.rows(table).column_names if lake.exists(table) else []
        tables[table] = project.rows(table, *(n for n in names if n != "run_id")) if names else []
    return tables


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("unbroken"))
    fill(project)
    project.ingest()
    return project


POINTS = [
    f"ingest:{moment}:{table}"
    for table in ("rejected", *_TABLES, "transactions")
    for moment in ("before", "after")
]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("point", POINTS)
def test_a_killed_run_that_is_run_again_leaves_the_same_lake(
    project: Project, unbroken: Project, point: str
) -> None:
    fill(project)
    with dies_at(point):
        project.ingest()
    assert call(is_anything_pending, project.settings)
    project.ingest()
    assert contents(project) == contents(unbroken)
    assert not call(is_anything_pending, project.settings)


def test_late_rows_of_a_run_that_died_leave_no_trace_if_other_sources_come_first(
    project: Project,
) -> None:
    fill(project)
    with dies_at("ingest:after:late"):
        project.ingest()
    project.declare(GRAPH, STREAM, batch_epochs=2)
    # It dies again, after the rows were deleted.
    with dies_at("ingest:after:delete:late"):
        project.ingest()
    project.ingest()
    assert project.rows("transactions", "epoch", "source") == [
        (1, "r"),
        (2, "a"),
        (3, "r"),
        (4, "r"),
        (5, "r"),
    ]
    assert project.rows("late", "epoch", "subject") == [
        (3, "<urn:e3>"),
        (4, "<urn:e4>"),
        (5, "<urn:e7>"),
    ]
    assert len(project.rows("rejected")) == 2


def test_a_stream_that_is_no_longer_declared_is_finished_all_the_same(
    project: Project, unbroken: Project
) -> None:
    fill(project)
    with dies_at("ingest:after:streams/r"):
        project.ingest()
    project.declare(GRAPH)
    project.ingest()
    assert project.rows("transactions", "epoch", "source")[:4] == [
        (1, "r"),
        (2, "r"),
        (3, "r"),
        (4, "a"),
    ]
    project.declare(STREAM, GRAPH)
    project.ingest()
    assert project.rows("streams/r", "subject") == unbroken.rows("streams/r", "subject")


@pytest.mark.parametrize("table", ["streams/r", "stream_epochs", "transactions"])
def test_a_tick_that_is_killed_is_one_epoch(project: Project, table: str) -> None:
    idle = STREAM | {"stream": {"time": {"predicate": "urn:t"}, "idle": "PT0.01S"}}
    project.declare(STREAM)
    project.patch("r/1.rdfp", event(1, 10))
    project.ingest()
    project.declare(idle)
    with dies_at(f"ingest:after:{table}"):
        project.ingest()
    project.declare(STREAM)
    project.ingest()
    columns = ("epoch", "position")
    assert project.rows("transactions", *columns) == [(1, "1.rdfp"), (2, None)]
    assert project.rows("stream_epochs", "epoch", "rows") == [(1, 1), (2, 0)]
