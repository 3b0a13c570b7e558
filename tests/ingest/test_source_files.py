"""Files that are changed after they were read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.support.built import AsBuilt
from tests.support.opened import call
from tests.support.projects.project import PATCHES, SNAPSHOTS, Project
from weir.ingest import source_files
from weir.status.sources import source_statuses

FILE = "versions/1.nt"


def _build(folder: Path) -> Project:
    project = Project(folder).declare(SNAPSHOTS)
    project.write(FILE, "<urn:s> <urn:p> <urn:1> .\n")
    os.utime(project.folder / FILE, (1, 1))
    assert project.ingest().warnings == ()
    return project


@pytest.fixture
def read(as_built: AsBuilt) -> Project:
    """A source of one version, which is ingested."""
    return as_built(_build)


def test_a_file_of_another_size_is_reported_once(read: Project) -> None:
    read.write(FILE, "<urn:s> <urn:p> <urn:22> .\n")
    (warning,) = read.ingest().warnings
    assert "source s: " in warning
    assert FILE in warning
    assert read.ingest().warnings == ()


def test_a_file_of_another_content_of_the_same_size_is_reported(read: Project) -> None:
    read.write(FILE, "<urn:s> <urn:p> <urn:2> .\n")
    assert len(read.ingest().warnings) == 1


def test_a_file_with_another_time_alone_is_not_reported(read: Project) -> None:
    os.utime(read.folder / FILE, (2, 2))
    assert read.ingest().warnings == ()


def test_a_file_that_is_gone_is_not_reported(read: Project) -> None:
    (read.folder / FILE).rename(read.folder / "elsewhere")
    read.write("versions/2.nt", "<urn:s> <urn:p> <urn:1> .\n")
    assert read.ingest().warnings == ()


def test_only_the_files_that_were_written_last_are_compared(
    read: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_files, "COMPARED_FILES", 1)
    newer = "versions/2.nt"
    read.write(newer, "<urn:s> <urn:p> <urn:2> .\n")
    read.ingest()
    read.write(FILE, "<urn:s> <urn:p> <urn:22> .\n")
    assert read.ingest().warnings == ()
    read.write(newer, "<urn:s> <urn:p> <urn:33> .\n")
    (warning,) = read.ingest().warnings
    assert newer in warning


def test_the_status_names_a_changed_file_until_it_is_restored(read: Project) -> None:
    before = (read.folder / FILE).read_bytes()
    read.write(FILE, "<urn:s> <urn:p> <urn:2> .\n")
    read.ingest()
    (status,) = call(source_statuses, read.settings).sources
    assert [name.endswith(FILE) for name in status.changed] == [True]
    (read.folder / FILE).write_bytes(before)
    os.utime(read.folder / FILE, (1, 1))
    (status,) = call(source_statuses, read.settings).sources
    assert status.changed == ()


def test_a_project_that_was_moved_notices_a_change_in_its_own_file(
    read: Project, tmp_path: Path
) -> None:
    moved = read.copy(tmp_path / "moved")
    shutil.rmtree(read.folder)
    moved.write(FILE, "<urn:s> <urn:p> <urn:22> .\n")
    (warning,) = moved.ingest().warnings
    assert str(moved.folder / FILE) in warning


def test_a_copy_reports_no_change_of_the_project_that_it_was_copied_from(
    read: Project, tmp_path: Path
) -> None:
    copied = read.copy(tmp_path / "copied")
    read.write(FILE, "<urn:s> <urn:p> <urn:22> .\n")
    assert copied.ingest().warnings == ()


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("is_moved", [False, True])
@pytest.mark.parametrize("file", [FILE, "versions/2/a.nt"])
def test_the_rows_of_earlier_versions_with_absolute_paths_are_understood(
    read: Project, tmp_path: Path, file: str, *, is_moved: bool
) -> None:
    read.write(file, "<urn:s> <urn:p> <urn:1> .\n")
    read.ingest()
    table = DeltaTable(Path(read.settings.lake) / "source_files")
    table.update(updates={"file": f"'{read.folder}/' || file"})
    project = read
    if is_moved:
        project = read.copy(tmp_path / "moved")
        shutil.rmtree(read.folder)
    assert project.ingest().warnings == ()
    project.write(file, "<urn:s> <urn:p> <urn:22> .\n")
    (warning,) = project.ingest().warnings
    assert str(project.folder / file) in warning
    assert project.ingest().warnings == ()


def test_the_base_of_patches_is_found_by_its_name(project: Project) -> None:
    project.declare(PATCHES | {"base": "base.nq"})
    project.write("base.nq", "<urn:s> <urn:p> <urn:1> .\n")
    project.folders("changes")
    project.ingest()
    table = DeltaTable(Path(project.settings.lake) / "source_files")
    table.update(updates={"file": "'/elsewhere/base.nq'"})
    project.write("base.nq", "<urn:s> <urn:p> <urn:22> .\n")
    (warning,) = project.ingest().warnings
    assert "base.nq" in warning


def test_a_file_outside_of_the_project_is_known_by_its_path(
    project: Project, tmp_path: Path
) -> None:
    project.declare(SNAPSHOTS | {"location": str(tmp_path / "data")})
    (tmp_path / "data").mkdir()
    (tmp_path / "data/1.nt").write_text("<urn:s> <urn:p> <urn:1> .\n")
    project.ingest()
    assert project.rows("source_files", "file") == [(str(tmp_path / "data/1.nt"),)]
    copied = project.copy(tmp_path / "copied")
    (tmp_path / "data/1.nt").write_text("<urn:s> <urn:p> <urn:22> .\n")
    assert len(copied.ingest().warnings) == 1


def test_a_patch_that_was_renamed_after_it_was_read_is_noticed(project: Project) -> None:
    project.change("A <urn:s> <urn:p> <urn:1>")
    project.change("D <urn:s> <urn:p> <urn:1>")
    first = project.change_sets[0]
    (first.parent / "done").mkdir()
    first.rename(first.parent / "done" / first.name)
    (warning,) = project.ingest().warnings
    assert "source p: done/0001.rdfp has the content of 0001.rdfp, which was read" in warning
    assert project.ingest().warnings == ()


def test_a_patch_with_the_content_of_one_that_is_still_there_is_none(project: Project) -> None:
    for operation in "ADA":
        project.change_set(f"{operation} <urn:s> <urn:p> <urn:1>")
        assert project.ingest().warnings == ()


def test_versions_may_have_the_content_of_one_that_is_gone(read: Project) -> None:
    read.write("versions/2.nt", "")
    read.declare(SNAPSHOTS | {"allow_empty": True})
    read.ingest()
    (read.folder / FILE).rename(read.folder / "versions/3.nt")
    assert read.ingest().warnings == ()
