"""A query with another name has the history that it would have had, killed anywhere."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import weir
from tests.support.dying import dies_after
from tests.support.streams.projects import SEEN, event_project, readings
from weir.audit.stage import examined
from weir.cli import main
from weir.errors import BusyError, ConfigurationError
from weir.lake.names import Name
from weir.maintain.query_names import rename_query
from weir.progress.completion import Completion
from weir.project import Project
from weir.settings import Settings
from weir.stage import claimed

TABLES = ("answers", "current", "embeddings")


@pytest.fixture(scope="module")
def museum_that_ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two epochs, typed tables, a channel and a query `gone`; to be copied."""
    folder = tmp_path_factory.mktemp("museum")
    assert main(["init", str(folder)]) == 0
    with (folder / "weir.toml").open("a") as config:
        config.write('\n[notify.desk]\nfolder = "outbox"\n')
    gone = folder / "queries/gone.rq"
    gone.write_text((folder / "queries/exhibits.rq").read_text())
    run(folder)
    gone.unlink()
    move(folder, 3)
    run(folder)
    return folder


@pytest.fixture
def museum(museum_that_ran: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "museum"
    shutil.copytree(museum_that_ran, folder)
    return folder


def run(folder: Path) -> weir.Run:
    with weir.Project(folder) as project:
        return project.run()


def move(folder: Path, room: int) -> None:
    versions = folder / "data/versions"
    text = (versions / "001.ttl").read_text().replace('"1"', f'"{room}"')
    (versions / f"{len([*versions.iterdir()]) + 1:03}.ttl").write_text(text)


def rename(folder: Path, old: str = "exhibits", new: str = "shown") -> None:
    with Project(Settings.load(folder / "weir.toml")) as project:
        rename_query(project, "rename", old=Name(old), new=Name(new))


def life(folder: Path, name: str) -> tuple[Any, ...]:
    """The answer, its changes, and which tables there are of it."""
    with weir.Project(folder) as project:
        answer = project.answers[name]
        changes = answer.changes().drop_columns(["event_time"]).to_pylist()
        tables = [of for of in TABLES if (folder / "lake" / of / name / "_delta_log").exists()]
        return answer.current().to_pylist(), changes, tables


def names_of_tables(folder: Path) -> set[str]:
    """Of which queries there are tables, but for `gone`."""
    names = {path.name for of in TABLES for path in (folder / "lake" / of).iterdir()}
    return names - {"gone"}


def messages(folder: Path) -> list[str]:
    return sorted(file.read_text() for file in (folder / "outbox").glob("*.json"))


def modes(done: weir.Run) -> dict[str, str]:
    (maintained,) = [stage for stage in done.stages if stage.stage == "maintain"]
    assert maintained.result is not None
    return {row.query: row.mode for row in maintained.result.queries}  # type: ignore[attr-defined]


def passes_an_audit(folder: Path) -> bool:
    with Project(Settings.load(folder / "weir.toml")) as project:
        return not examined(project, "audit", full=True).failed


def test_history_tables_and_types_are_kept_and_nothing_is_computed_again(museum: Path) -> None:
    before = life(museum, "exhibits")
    rename(museum)
    assert life(museum, "shown") == before
    assert [file.name for file in (museum / "queries").iterdir()] == ["shown.rq"]
    assert names_of_tables(museum) == {"shown"}
    assert [done.stage for done in run(museum).stages] == ["ingest"]
    assert passes_an_audit(museum)


@pytest.mark.usefixtures("slow")
def test_a_later_change_is_what_it_would_have_been(museum: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    shutil.copytree(museum, twin)
    rename(museum)
    for folder in (museum, twin):
        move(folder, 4)
        run(folder)
    assert life(museum, "shown") == life(twin, "exhibits")
    assert len(messages(museum)) == len(messages(twin)) == 2
    assert '"query": "shown"' in messages(museum)[-1]
    assert passes_an_audit(museum)


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("change", [False, True], ids=["at once", "after a run"])
def test_killed_anywhere_it_is_finished_by_the_next_call(
    museum: Path, tmp_path: Path, *, change: bool
) -> None:
    """Until then, the query goes on under one of its names."""
    points = []
    for passed in count(1, 7) if change else count(0, 2):
        folder, twin = tmp_path / f"killed_{passed}", tmp_path / f"twin_{passed}"
        shutil.copytree(museum, folder)
        with dies_after(passed) as death:
            rename(folder)
        if not death.at:
            break
        points.append(death.at)
        if change:
            shutil.copytree(museum, twin)
            for one in (folder, twin):
                move(one, 4)
                assert not run(one).errors
        (file,) = (folder / "queries").iterdir()
        expected = life(twin if change else museum, "exhibits")
        assert life(folder, file.stem) == expected, death.at
        if file.stem == "exhibits" or "exhibits" in names_of_tables(folder):
            rename(folder)
        assert life(folder, "shown") == expected, death.at
        assert names_of_tables(folder) == {"shown"}, death.at
        assert not run(folder).errors
        assert life(folder, "shown") == expected, death.at
        shutil.rmtree(folder)
        shutil.rmtree(twin, ignore_errors=True)
    assert len(points) > (2 if change else 8)


@pytest.mark.usefixtures("slow")
def test_a_name_can_be_given_back(museum: Path) -> None:
    before = life(museum, "exhibits")
    rename(museum)
    rename(museum, "shown", "exhibits")
    assert life(museum, "exhibits") == before
    assert [done.stage for done in run(museum).stages] == ["ingest"]


def test_a_query_that_never_ran_is_its_file_alone(museum: Path) -> None:
    text = (museum / "queries/exhibits.rq").read_text()
    (museum / "queries/new.rq").write_text(text)
    rename(museum, "new", "newer")
    assert (museum / "queries/newer.rq").read_text() == text
    assert names_of_tables(museum) == {"exhibits"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("exhibit", "shown", "there is no query exhibit"),
        ("exhibits", "exhibits", "exhibits is declared already"),
        ("exhibits", "quads", "quads"),
        ("exhibits", "gone", "gone has tables of a query that is gone"),
    ],
)
def test_what_cannot_be_renamed_stays(museum: Path, old: str, new: str, message: str) -> None:
    before = life(museum, "exhibits")
    with pytest.raises(ConfigurationError, match=message):
        rename(museum, old, new)
    assert life(museum, "exhibits") == before
    assert [file.name for file in (museum / "queries").iterdir()] == ["exhibits.rq"]
    with Project(Settings.load(museum / "weir.toml")) as project:
        # A mistake of the caller is not a run that failed.
        assert not Completion.read(project.lake).failed_runs


@pytest.mark.usefixtures("slow")
def test_a_query_over_streams_is_refused(tmp_path: Path) -> None:
    project = event_project(tmp_path / "events", SEEN)
    project.write("events/1.ttl", readings(("a", 1), ("a", 70)))
    project.run()
    with pytest.raises(ConfigurationError, match="q reads streams"):
        rename(project.folder, "q", "r")


@pytest.mark.usefixtures("slow")
def test_an_undelivered_message_is_delivered_first(museum: Path) -> None:
    config = museum / "weir.toml"
    config.write_text(config.read_text().replace('"outbox"', '"weir.toml"'))
    move(museum, 5)
    run(museum)
    with pytest.raises(ConfigurationError, match="a message about exhibits to desk"):
        rename(museum)


def test_a_run_in_progress_is_not_disturbed(museum: Path) -> None:
    with Project(Settings.load(museum / "weir.toml")) as project:
        lake = project.open_lake()
        with claimed(lake, "publish", "other", 60), pytest.raises(BusyError):
            rename(museum)
    assert names_of_tables(museum) == {"exhibits"}
