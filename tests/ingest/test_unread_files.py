"""What lies in the folder of a source and is not read: it is said, with the reason."""

from __future__ import annotations

import os
import socket

import pytest

from tests.support.projects.project import Project
from weir.rdf.files import list_files

TRIPLE = '<urn:s> <urn:p> "1" .'


@pytest.fixture
def folder(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A source with a version, and beside it what is no version."""
    project.declare({"name": "s", "kind": "snapshots", "location": "versions"})
    project.write("versions/001.ttl", TRIPLE)
    project.write("versions/002.txt", TRIPLE)
    project.write("versions/003.txt", TRIPLE)
    project.write("versions/_note.txt", TRIPLE)
    project.write("versions/.hidden", TRIPLE)
    os.mkfifo(project.folder / "versions/pipe.ttl")
    monkeypatch.chdir(project.folder / "versions")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket.nt")
    return project


def test_files_that_are_not_read_are_counted_with_the_reason(folder: Project) -> None:
    for _ in range(2):
        (warning,) = folder.ingest().warnings
        assert warning == (
            "source s: 4 files not read: 2 as 002.txt (its name has no known ending),"
            " pipe.ttl (a pipe), socket.nt (a socket)"
        )
    assert folder.rows("transactions", "position") == [("001.ttl",)]


def test_files_beside_a_pattern_or_named_as_hidden_are_meant_to_stay(folder: Project) -> None:
    source = {"name": "s", "kind": "snapshots", "location": "versions", "glob": "*1.ttl"}
    folder.declare(source)
    assert folder.ingest().warnings == ()


def test_files_in_the_folder_of_a_version_are_said_too(project: Project) -> None:
    project.declare({"name": "s", "kind": "snapshots", "location": "versions"})
    project.write("versions/001/a.ttl", TRIPLE)
    project.write("versions/001/b.md", "")
    (warning,) = project.ingest().warnings
    assert "1 file not read: 001/b.md (its name has no known ending)" in warning


def test_the_files_beside_a_base_are_said_though_the_base_is_one_file(project: Project) -> None:
    source = {"name": "p", "kind": "patches", "location": "changes", "base": "base.ttl"}
    project.declare(source)
    project.write("base.ttl", TRIPLE)
    project.patch("changes/1.rdfp", 'A <urn:s> <urn:p> "2" .')
    project.write("changes/read.me", "")
    (warning,) = project.ingest().warnings
    assert "1 file not read: read.me" in warning


def test_a_source_that_is_a_pipe_stops_and_waits_for_nobody(project: Project) -> None:
    project.declare({"name": "s", "kind": "snapshots", "location": "pipe.ttl"})
    os.mkfifo(project.folder / "pipe.ttl")
    (error,) = project.ingest().errors
    assert "it is neither a file nor a folder" in str(error)


def test_a_link_to_a_pipe_is_no_file(project: Project) -> None:
    (project.folder / "versions").mkdir()
    os.mkfifo(project.folder / "versions/pipe.ttl")
    (project.folder / "versions/link.ttl").symlink_to("pipe.ttl")
    kinds = {file.name: file.no_file for file in list_files(str(project.folder / "versions"))}
    assert kinds == {"link.ttl": "a pipe", "pipe.ttl": "a pipe"}
