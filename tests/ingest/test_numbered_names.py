"""Patches that are missing after a backup of the lake was restored show by their numbers."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pytest

from tests.support.opened import call
from tests.support.projects.project import Project
from weir.ingest.numbered_names import left_out
from weir.status.sources import source_statuses


@pytest.mark.parametrize(
    ("ingested", "following", "missing"),
    [
        (["1.rdfp", "2.rdfp", "3.rdfp"], "5.rdfp", "1 number"),
        (["base", "a-08.rdfp", "a-09.rdfp", "a-10.rdfp"], "a-13.rdfp", "2 numbers"),
        (["v1-08", "v1-09", "v1-10", "v1-11", "v1-12", "v1-13"], "v1-15", "1 number"),
        (["2026-11-24", "2026-11-25", "2026-11-26"], "2026-11-29", "2 numbers"),
    ],
)
def test_a_name_after_which_numbers_are_left_out_is_noticed(
    ingested: Sequence[str], following: str, missing: str
) -> None:
    notice = left_out([name for name in ingested if name != "base"], following)
    assert notice is not None
    assert f"{missing} left out" in notice


@pytest.mark.parametrize(
    ("ingested", "following"),
    [
        ([], "7"),
        (["1", "2"], "4"),
        (["1", "2", "3"], "4"),
        (["1", "2", "4"], "7"),
        (["1", "3", "5"], "9"),
        (["a", "b", "c"], "e"),
        (["2026-11-28", "2026-11-29", "2026-11-30"], "2026-12-02"),
        (["2026-11-20", *(f"2026-11-{day}" for day in range(23, 28))], "2026-11-30"),
        (["1.rdfp", "2.rdfp", "3.rdfp"], "fix-5.rdfp"),
    ],
)
def test_names_that_do_not_count_up_by_one_say_nothing(
    ingested: Sequence[str], following: str
) -> None:
    assert left_out(ingested, following) is None


def test_a_restored_lake_whose_patches_were_archived_says_so(project: Project) -> None:
    for number in range(1, 4):
        project.change(f"A <urn:s> <urn:p> <urn:{number}>")
    shutil.copytree(project.settings.lake, project.folder / "backup")
    for number in range(4, 6):
        project.change(f"A <urn:s> <urn:p> <urn:{number}>")
    project.change_set("A <urn:s> <urn:p> <urn:6>")
    shutil.rmtree(project.settings.lake)
    shutil.move(project.folder / "backup", project.settings.lake)
    for file in project.change_sets[:5]:
        file.unlink()
    (status,) = call(source_statuses, project.settings).sources
    assert status.missing is not None
    (warning,) = project.ingest().warnings
    assert warning == f"source p: {status.missing}"
    assert "0003.rdfp was ingested last, and 0006.rdfp follows: 2 numbers left out" in warning
    assert project.ingest().warnings == ()


def test_patches_that_name_the_one_before_are_not_counted(project: Project) -> None:
    for number in range(1, 5):
        name = number if number < 4 else 7
        previous = f"urn:id:{number - 1}" if number > 1 else ""
        project.patch(
            f"changes/{name:04}.rdfp",
            f"A <urn:s> <urn:p> <urn:{number}> .",
            id_=f"urn:id:{number}",
            previous=previous,
        )
        assert project.ingest().warnings == ()
