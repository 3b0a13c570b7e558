"""Files that are changed after they were read."""

from __future__ import annotations

import os

import pytest

from jobs.cli.source_status import source_statuses
from jobs.ingest import source_files
from tests.support.projects.project import SNAPSHOTS, Project

FILE = "versions/1.nt"


@pytest.fixture
def read(project: Project) -> Project:
    """A source of one version, which is ingested."""
    project.declare(SNAPSHOTS)
    project.write(FILE, "<urn:s> <urn:p> <urn:1> .\n")
    os.utime(project.folder / FILE, (1, 1))
    assert project.ingest().warnings == ()
    return project


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
    (status,) = source_statuses(read.settings).sources
    assert [name.endswith(FILE) for name in status.changed] == [True]
    (read.folder / FILE).write_bytes(before)
    os.utime(read.folder / FILE, (1, 1))
    (status,) = source_statuses(read.settings).sources
    assert status.changed == ()
