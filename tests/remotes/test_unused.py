"""Answers about patterns that no query has any more leave the graph after `keep_unused`."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.remotes.test_evaluations import EVERY, QUERY, project_of
from tests.support.opened import call
from tests.support.projects.replicas import ReplicaProject
from weir.project import open_lake
from weir.rdf.reserved_graphs import is_reserved
from weir.refresh.check import check_freshness
from weir.remotes import unused

pytestmark = pytest.mark.usefixtures("sampled")

EDITED = QUERY.replace("?n }", "?n FILTER(?n > 0) }", 1)


def in_graph(project: ReplicaProject) -> int:
    """How many quads the replica has in the graph, after ingest and maintain."""
    project.stages("ingest", "maintain")
    return sum(row["weight"] for row in project.table("quads") if is_reserved(row["graph"]))


def dropped(project: ReplicaProject) -> list[str]:
    """Keys that were dropped, in the order of rounds."""
    rows = [row for row in project.table("replicas/wd") if row["status"] == "dropped"]
    return [row["key"] for row in sorted(rows, key=lambda row: row["round"])]


def removed(project: ReplicaProject) -> None:
    """Remove the query."""
    project.remove_query("cities")


def test_answers_of_a_removed_query_leave_the_graph_once_they_are_old(tmp_path: Path) -> None:
    project = project_of(tmp_path, keep_unused="P1D")
    assert in_graph(project)
    removed(project)
    project.now += EVERY
    project.refresh()
    assert in_graph(project)
    project.now += timedelta(days=1)
    project.refresh()
    assert not in_graph(project)
    assert dropped(project) == ["<http://x/a>", "<http://x/b>"]


def test_a_key_that_is_dropped_was_not_asked_for(tmp_path: Path) -> None:
    project = project_of(tmp_path, keep_unused="P1D")
    removed(project)
    project.now += timedelta(days=1)
    project.refresh()
    rows = [row for row in project.table("replicas/wd") if row["status"] == "dropped"]
    assert [(row["asked_at"], row["answered_at"]) for row in rows] == [(None, None)] * 2


def test_nothing_is_evaluated_any_more_when_all_is_dropped(tmp_path: Path) -> None:
    project = project_of(tmp_path, keep_unused="P1D")
    removed(project)
    for _ in range(3):
        project.now += timedelta(days=1)
        project.refresh()
    assert {row["round"] for row in project.table("replicas/wd")} == {1, 2}


def test_an_edited_block_is_another_pattern_and_the_old_one_is_dropped(tmp_path: Path) -> None:
    project = project_of(tmp_path, keep_unused="P1D")
    project.query("cities", EDITED)
    project.stages("maintain")
    project.now += timedelta(days=1)
    project.refresh()
    assert in_graph(project) == 4
    assert sorted(dropped(project)) == ["<http://x/a>", "<http://x/b>"]


def test_a_block_that_comes_back_is_asked_for_as_if_for_the_first_time(tmp_path: Path) -> None:
    project = project_of(tmp_path, keep_unused="P1D")
    removed(project)
    project.now += timedelta(days=1)
    project.refresh()
    project.query("cities", QUERY)
    project.run()
    assert not open_lake(project.settings).exists("answers/cities")
    project.now += EVERY
    project.refresh()
    project.run()
    assert project.answer("cities") == {
        (("n", f'"{n}"^^<http://www.w3.org/2001/XMLSchema#integer>'), ("user", user)): 1
        for n, user in ((1, "<http://x/u>"), (2, "<http://x/v>"))
    }
    assert project.freshness()[-1]["changed"] == 2


def test_more_keys_than_a_round_drops_are_dropped_by_the_next_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unused, "AT_ONCE", 1)
    project = project_of(tmp_path, keep_unused="P1D")
    removed(project)
    project.now += timedelta(days=1)
    for _ in range(4):
        project.refresh()
        project.now += EVERY
    assert dropped(project) == ["<http://x/a>", "<http://x/b>"]
    assert not in_graph(project)


def test_rounds_that_drop_keys_pass_every_check(tmp_path: Path) -> None:
    project = project_of(tmp_path, keep_unused="P1D")
    project.query("cities", EDITED)
    project.stages("maintain")
    for number in range(3):
        project.now += timedelta(days=1)
        project.refresh()
        project.stages("ingest")
        call(check_freshness, project.settings, f"check-{number}", now=project.now)
    assert dropped(project)
    assert all(row["success"] for row in project.table("quality"))
