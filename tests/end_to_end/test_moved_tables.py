"""Tables of an object store under another name: copied, moved, rebuilt; killed anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.object_store import Store
from tests.end_to_end.test_object_store import CHANGES, project_in, states
from tests.support.dying import dies_after
from tests.support.opened import call
from tests.support.projects.project import Project
from weir.audit.repair import repair_lake
from weir.audit.stage import examined
from weir.lake.lake import Lake
from weir.lake.names import Name
from weir.lake.storage.objects import ObjectStore
from weir.maintain.query_names import rename_query
from weir.project import Project as Opened
from weir.project import open_lake


def ran(folder: Path, store: Store) -> Project:
    """A project whose lake is in a store, after all changes."""
    project = project_in(folder, store.empty(), store)
    for change in CHANGES:
        project.change_set(*change)
    project.run()
    return project


def rename(project: Project) -> None:
    with Opened(project.settings) as opened:
        rename_query(opened, "rename", old=Name("pairs"), new=Name("couples"))


def rows(project: Project, table: str) -> list[dict[str, object]]:
    """The rows of a table, by a lake that has no mirror yet."""
    lake = Lake(project.settings.lake, project.settings.storage_options)
    return sorted(lake.rows(table).to_pylist(), key=str)


def passes_an_audit(project: Project) -> bool:
    return not call(examined, project.settings, "audit", full=True).failed


def test_a_renamed_query_has_its_history_and_goes_on(object_store: Store, tmp_path: Path) -> None:
    project = ran(tmp_path, object_store)
    before = rows(project, "answers/pairs")
    rename(project)
    assert rows(project, "answers/couples") == before
    assert "answers/pairs" not in open_lake(project.settings).tables()
    project.change("A <urn:b> <urn:knows> <urn:b>")
    project.run()
    assert len(rows(project, "answers/couples")) > len(before)
    assert passes_an_audit(project)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("passed", range(9))
def test_a_query_whose_renaming_was_killed_is_renamed_by_the_next_call(
    object_store: Store, tmp_path: Path, passed: int
) -> None:
    project = ran(tmp_path, object_store)
    before = rows(project, "answers/pairs")
    with dies_after(passed) as death:
        rename(project)
    assert death.at
    (name,) = {file.stem for file in (project.folder / "queries").iterdir()} & {"pairs", "couples"}
    assert rows(project, f"answers/{name}") == before
    if "answers/pairs" in open_lake(project.settings).tables():
        rename(project)
    assert rows(project, "answers/couples") == before
    assert passes_an_audit(project)


def lose(project: Project) -> str:
    """Lose a data file of `quads`, which this process has written; gives its path."""
    objects = ObjectStore(project.settings.lake, project.settings.storage_options)
    files = [entry.path for entry in objects.below("quads") if entry.path.endswith(".parquet")]
    objects.delete(files[:1])
    return files[0]


def rebuild(project: Project) -> None:
    call(repair_lake, project.settings, "repair", from_sources=True)


def test_a_damaged_log_is_read_again_from_the_sources(object_store: Store, tmp_path: Path) -> None:
    project = ran(tmp_path, object_store)
    before, answers = rows(project, "quads"), states(project)
    lost = lose(project)
    (result,) = call(examined, project.settings, "audit").failed
    assert f"{project.settings.lake}/{lost}" in result.examples[0]
    rebuild(project)
    assert rows(project, "quads") == before
    assert passes_an_audit(project)
    objects = ObjectStore(project.settings.lake, project.settings.storage_options)
    assert not objects.below("_rebuilt") + objects.below("_replaced")
    project.run()
    assert states(project) == answers


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("passed", range(0, 18, 3))
def test_a_rebuild_that_was_killed_is_done_by_the_next_call(
    object_store: Store, tmp_path: Path, passed: int
) -> None:
    project = ran(tmp_path, object_store)
    before = rows(project, "quads")
    lose(project)
    with dies_after(passed) as death:
        rebuild(project)
    assert death.at
    rebuild(project)
    assert rows(project, "quads") == before
    assert passes_an_audit(project)
