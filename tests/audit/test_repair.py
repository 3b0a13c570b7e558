"""What follows from other tables is rebuilt, and readers of answers get signed corrections."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.audit.test_audit import (
    epoch_twice,
    garbled_commit,
    lost_file,
    negative_embedding,
    wrong_answer,
    wrong_embedding,
)
from tests.support.damage import data_files, flip_a_bit
from tests.support.opened import call
from tests.support.oracles.projects import check_answers
from tests.support.projects.project import Project
from weir.audit.repair import RepairResult, repair_lake
from weir.audit.stage import examined
from weir.errors import QualityError
from weir.lake.lake import Lake
from weir.progress.completion import Completion
from weir.project import open_lake

pytestmark = pytest.mark.usefixtures("sampled")


def repair(project: Project) -> RepairResult:
    """Audit fully, and repair what can be without Spark."""
    return call(repair_lake, project.settings, "repair", full=True)


def damaged_file(table: str) -> Callable[[Project, Lake], None]:
    """A flipped bit in one of its files."""

    def damage(_: Project, lake: Lake) -> None:
        flip_a_bit(data_files(lake, table)[-1], random.Random(3))

    return damage


def is_right(project: Project) -> bool:
    """Whether a full audit finds nothing, and pyoxigraph gives the same answers at the end."""
    check_answers(project, "rooms", 3, 3)
    check_answers(project, "in_g", 3, 3)
    return [
        failure
        for failure in call(examined, project.settings, "again", full=True).failed
        if failure.expectation != "commits_are_ours"
    ] == []


@pytest.mark.parametrize(
    "damage",
    [
        wrong_answer,
        wrong_embedding,
        negative_embedding,
        damaged_file("answers/rooms"),
        damaged_file("embeddings/rooms"),
    ],
    ids=["answer", "embedding", "negative", "file of an answer", "file of embeddings"],
)
def test_a_repair_and_a_run_correct_damaged_tables_of_queries(
    project: Project, damage: Callable[[Project, Lake], None]
) -> None:
    damage(project, open_lake(project.settings))
    assert repair(project).done
    project.run()
    assert is_right(project)


def test_a_wrong_row_is_taken_back_by_a_signed_row(project: Project) -> None:
    wrong_answer(project, open_lake(project.settings))
    before = project.signed("rooms")
    repair(project)
    project.run()
    (new,) = [change for change in project.signed("rooms") if change not in before]
    epoch, weight, solution = new
    assert (epoch, weight, dict(solution)["t"]) == (3, -1, '"never"')


def test_a_repaired_answer_knows_its_number_of_rows(project: Project) -> None:
    for file in data_files(open_lake(project.settings), "answers/rooms"):
        flip_a_bit(file, random.Random(3))
    repair(project)
    project.run()
    published = Completion.read(open_lake(project.settings)).published("rooms")
    assert published is not None
    assert published.metadata.extra["rows"] == project.answer("rooms", 3).total()


def test_a_repaired_answer_is_corrected_though_the_first_commits_of_its_embeddings_are_deleted(
    project: Project,
) -> None:
    lake = open_lake(project.settings)
    wrong_answer(project, lake)
    before = project.signed("rooms")
    embeddings = lake.existing("embeddings/rooms")
    embeddings.create_checkpoint()
    for version in range(embeddings.version()):
        (Path(lake.root) / f"embeddings/rooms/_delta_log/{version:020d}.json").unlink()
    repair(project)
    project.run()
    assert is_right(project)
    assert project.signed("rooms") != before


def test_nothing_is_repaired_where_nothing_is_wrong(project: Project) -> None:
    versions = project.versions()
    assert repair(project) == RepairResult()
    assert {**versions, "quality": 0} == {**project.versions(), "quality": 0}


@pytest.mark.parametrize("text", ["SELECT", None], ids=["broken", "removed"])
def test_an_answer_of_a_query_that_no_run_computes_is_left_as_it_is(
    project: Project, text: str | None
) -> None:
    """Its damaged rows would be taken out, and no run would publish what is right."""
    table = "answers/rooms"
    was = (project.folder / "queries/rooms.rq").read_text()
    damaged_file(table)(project, open_lake(project.settings))
    if text is None:
        project.remove_query("rooms")
    else:
        project.query("rooms", text)
    before = open_lake(project.settings).existing(table).version()
    with pytest.raises(QualityError, match="no run computes the query"):
        repair(project)
    assert open_lake(project.settings).existing(table).version() == before
    project.query("rooms", was)
    assert repair(project).done
    project.run()
    assert is_right(project)


def test_a_repair_that_is_not_confirmed_changes_nothing(project: Project) -> None:
    wrong_answer(project, open_lake(project.settings))
    before = project.versions()
    result = call(repair_lake, project.settings, "repair", confirm=lambda _: False)
    assert result.done == ()
    assert {**project.versions(), "quality": 0} == {**before, "quality": 0}


@pytest.mark.parametrize("damage", [lost_file, epoch_twice, garbled_commit])
def test_damage_that_no_other_table_repairs_is_left_to_a_backup(
    project: Project, damage: Callable[[Project, Lake], None]
) -> None:
    damage(project, open_lake(project.settings))
    with pytest.raises(QualityError, match="restore it from a backup"):
        repair(project)


def test_embeddings_are_not_recomputed_from_a_damaged_log(project: Project) -> None:
    lake = open_lake(project.settings)
    wrong_embedding(project, lake)
    lost_file(project, lake)
    with pytest.raises(QualityError, match="it follows from the graph, whose log is damaged"):
        repair(project)
    assert open_lake(project.settings).exists("embeddings/rooms")


def test_no_answer_is_computed_from_a_damaged_log(project: Project) -> None:
    """A query that has to be computed from the whole graph fails; nothing of it is stored."""
    damaged_file("triples")(project, open_lake(project.settings))
    project.query("new", "SELECT ?x ?t WHERE { ?x <urn:title> ?t ; <urn:room> ?r }")
    with pytest.raises(Exception, match="is not what was written"):
        project.maintain()
    assert not open_lake(project.settings).exists("embeddings/new")
