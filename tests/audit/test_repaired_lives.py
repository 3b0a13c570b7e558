"""A life with damaged embeddings publishes the rows of a life without, epoch by epoch."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.audit.conftest import ROOMS
from tests.support.damage import data_files, flip_a_bit, newest_commit
from tests.support.generators import registry_life
from tests.support.laws import Seeds
from tests.support.opened import call
from tests.support.projects.project import PATCHES, Change, Project
from weir.audit.repair import repair_lake
from weir.cli import main
from weir.errors import WeirError
from weir.lake.upkeep.consolidated import note_consolidation
from weir.project import open_lake

_CHANGES = (
    ('A <urn:b> <urn:room> "4" <urn:g>', 'A <urn:c> <urn:title> "c" <urn:h>'),
    ('D <urn:b> <urn:room> "4" <urn:g>', 'A <urn:c> <urn:room> "5" <urn:g>'),
    ('D <urn:c> <urn:title> "c" <urn:h>',),
)


def flipped(project: Project, query: str) -> None:
    """A bit of a data file, if there is one."""
    for file in data_files(open_lake(project.settings), f"embeddings/{query}")[-1:]:
        flip_a_bit(file, random.Random(3))


def garbled(project: Project, query: str) -> None:
    """The newest commit."""
    newest_commit(open_lake(project.settings), f"embeddings/{query}").write_text("{")


def removed(project: Project, query: str) -> None:
    """The table is gone."""
    shutil.rmtree(Path(project.settings.lake) / "embeddings" / query)


DAMAGES: tuple[Callable[[Project, str], None], ...] = (flipped, garbled, removed)


def repair(project: Project) -> None:
    """Rebuild what is damaged."""
    call(repair_lake, project.settings, "repair")


def damaged(project: Project, damage: Callable[[Project, str], None], query: str) -> list[Change]:
    """The log of a query that is damaged now, repaired and published."""
    damage(project, query)
    repair(project)
    project.run()
    return project.signed(query)


def undisturbed(project: Project, folder: Path, query: str) -> list[Change]:
    """The log of a query without the damage."""
    copy = project.copy(folder)
    copy.run()
    return copy.signed(query)


@pytest.fixture(scope="module")
def maintained(published: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The project with three epochs that are maintained and not published; not to be changed."""
    project = published.copy(tmp_path_factory.mktemp("maintained") / "project")
    for lines in _CHANGES:
        project.change(*lines)
        project.maintain()
    return project


@pytest.fixture
def ahead(maintained: Project, tmp_path: Path) -> Project:
    """A copy of it."""
    return maintained.copy(tmp_path / "project")


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("damage", DAMAGES)
def test_each_epoch_that_was_not_published_is_published_by_itself(
    ahead: Project, tmp_path: Path, damage: Callable[[Project, str], None]
) -> None:
    expected = undisturbed(ahead, tmp_path / "undisturbed", "rooms")
    assert {epoch for epoch, _, _ in expected} >= {4, 5, 6}
    assert damaged(ahead, damage, "rooms") == expected


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("text", [f"# new\n{ROOMS}", ROOMS.replace("?t ?r", "?r")])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_text_that_was_never_published_begins_where_it_began(
    ahead: Project, tmp_path: Path, damage: Callable[[Project, str], None], text: str
) -> None:
    """One of a new query, and one of an edited query."""
    query = "new" if text.startswith("#") else "rooms"
    ahead.query(query, text)
    ahead.maintain()
    ahead.change('A <urn:d> <urn:title> "d" <urn:g>', 'A <urn:d> <urn:room> "6" <urn:g>')
    ahead.maintain()
    expected = undisturbed(ahead, tmp_path / "undisturbed", query)
    assert {epoch for epoch, _, _ in expected} >= {6, 7}
    assert damaged(ahead, damage, query) == expected


def test_an_edit_that_is_taken_back_before_it_is_published_leaves_no_trace(
    ahead: Project, tmp_path: Path
) -> None:
    expected = undisturbed(ahead, tmp_path / "undisturbed", "rooms")
    ahead.query("rooms", ROOMS.replace("?t ?r", "?r"))
    ahead.maintain()
    ahead.query("rooms", ROOMS)
    ahead.run()
    assert ahead.signed("rooms") == expected


def test_epochs_that_the_graph_no_longer_knows_come_as_one_difference_which_is_said(
    ahead: Project,
) -> None:
    flipped(ahead, "rooms")
    for log in ("quads", "triples"):
        note_consolidation(open_lake(ahead.settings), log, 5)
    done = call(repair_lake, ahead.settings, "repair").done
    said = "epochs 4 to 5 come as one difference: their changes were compacted away"
    assert [said in of_query.what for of_query in done] == [True]
    assert ahead.maintain().warnings == [f"rooms: {said}"]
    assert ahead.ledger("maintain")["rooms"]["reason"].endswith(said)
    ahead.stages("validate", "publish")
    assert {epoch for epoch, _, _ in ahead.signed("rooms") if epoch > 3} == {5, 6}


def test_a_dropped_query_begins_at_the_newest_epoch(ahead: Project) -> None:
    config = str(ahead.folder / "weir.toml")
    assert main(["--config", config, "drop", "rooms", "--yes"]) == 0
    ahead.run()
    assert {epoch for epoch, _, _ in ahead.signed("rooms")} == {6}


@pytest.mark.usefixtures("slow")
@pytest.mark.law("repaired lives")
def test_damage_between_stages_changes_no_row_of_any_epoch(tmp_path: Path, seeds: Seeds) -> None:
    for seed in seeds:
        whole, broken = (
            Project(tmp_path / f"{name}{seed}").declare(PATCHES) for name in ("whole", "broken")
        )
        live(seed, whole, broken)
        queries = {log.name for log in (whole.folder / "lake/answers").iterdir()}
        for query in queries:
            assert broken.signed(query) == whole.signed(query), (seed, query)


def live(seed: int, whole: Project, broken: Project) -> None:
    """A life of two projects with the same inputs, one of them damaged again and again."""
    chance = random.Random(f"repaired {seed}")
    both, lives = (whole, broken), registry_life.lives(chance, 3)
    for step in range(5):
        for life in lives if step else ():
            state = chance.getstate()
            for project in both:
                chance.setstate(state)
                before = (life.text, life.file)
                life.advance(project, chance)
                if project is whole:
                    life.text, life.file = before
        for _ in range(chance.choice((0, 1, 1, 2)) if step else 1):
            lines = registry_life.change_set(chance)
            for project in both:
                project.change(*lines)
        for project in both:
            for life in () if step else lives:
                project.query(life.query, str(life.text))
            maintain(project)
        if chance.random() < 0.7:
            there = sorted(log.name for log in (broken.folder / "lake/embeddings").iterdir())
            for query in chance.sample(there, chance.randint(1, len(there))):
                chance.choice(DAMAGES)(broken, query)
            repair(broken)
            maintain(broken)
        if chance.random() < 0.5 or step == 4:
            for project in both:
                project.stages("validate", "publish")


def maintain(project: Project) -> None:
    """Maintain the queries; a random text that is refused is left out."""
    with suppress(WeirError):
        project.maintain()
