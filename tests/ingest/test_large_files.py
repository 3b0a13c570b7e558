"""A small file that gives much is taken by Spark or stops its source; the others go on."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from tests.support.projects.project import Project
from weir.errors import EXIT_FAILED

LARGE = {"name": "large", "kind": "patches", "location": "large"}
GOOD = {"name": "good", "kind": "patches", "location": "good"}
LINE = 'A <urn:s> <urn:p> "1" .\n'


def declare(project: Project, content: str, **limits: int) -> None:
    """A source with one file of some content between two files of another one."""
    project.declare(LARGE, GOOD, **limits)
    project.patch("good/1.rdfp", 'A <urn:s> <urn:p> "good" .')
    project.folders("large")
    (project.folder / "large/1.rdfp.gz").write_bytes(gzip.compress(content.encode()))


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    ("content", "limits", "reason"),
    [
        (LINE * 2000, {"parsed_rows": 1000}, "it gives more than 1,000 rows (parsed_rows)"),
        (LINE * 2000, {"parsed_bytes": 9999}, "it gives more than 9,999 bytes of rows"),
        ("A oops .\n" * 200, {"rejected_rows": 100}, "more than 100 of its lines are rejected"),
        ("TX .\nTA .\n" * 200, {"parsed_rows": 100}, "it gives more than 100 rows"),
    ],
)
def test_a_file_beyond_the_limits_stops_its_source_and_no_other(
    project: Project, content: str, limits: dict[str, Any], reason: str
) -> None:
    declare(project, content, **limits)
    (error,) = project.ingest().errors
    assert error.exit_code == EXIT_FAILED
    assert reason in error.what
    assert "source large" in error.what
    assert error.where == str(project.folder / "large/1.rdfp.gz")
    assert project.rows("transactions", "source") == [("good",)]
    assert project.rows("rejected") == []


def test_the_rejected_lines_of_all_files_of_a_version_count(project: Project) -> None:
    versions = {"name": "v", "kind": "snapshots", "location": "v", "max_rejected": "100%"}
    project.declare(versions, rejected_rows=3)
    for name in "ab":
        project.write(f"v/1/{name}.nt", "oops\n" * 2)
    (error,) = project.ingest().errors
    assert "1 has 4 rejected lines, more than 3 (rejected_rows)" in error.what


@pytest.mark.parametrize("limits", [{"driver_rows": 500}, {"driver_parsed_bytes": 100_000}])
def test_what_gives_more_than_the_driver_takes_is_left_to_spark(
    project: Project, limits: dict[str, int]
) -> None:
    declare(project, LINE * 2000, **limits)
    with pytest.raises(AssertionError, match="Spark was asked for"):
        project.ingest()
