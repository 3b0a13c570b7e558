"""The views of SQL about remotes."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.projects.project import Project
from tests.support.replicas.written import PATTERN, REMOTES, RemoteTables, remote_project
from weir.answers.sql import query_lake
from weir.definitions.names import declarations, folders_of
from weir.errors import ConfigurationError, WeirError
from weir.lake.delta.appended import commit_digest
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import FRESHNESS, replica, replica_summary
from weir.project import open_lake
from weir.remotes.declarations import load_remotes
from weir.remotes.replica_inbox import SUMMARY_FORMAT


@pytest.fixture
def tables(tmp_path: Path) -> RemoteTables:
    project = remote_project(tmp_path)
    project.refresh({"a": ('"1"', '"2"', '"2"'), "b": ('"1"',), "c": ()})
    project.refresh({"a": None, "b": ('"2"',), "c": ('"9"',)})
    project.refresh({"c": (), "b": ('"2"',)})
    return project


def mappings(tables: RemoteTables) -> list[tuple[Any, ...]]:
    """key, object, multiplicity, asked in and answered in: numbers of rounds."""
    statement = "SELECT pattern, key, mapping, multiplicity, asked_at, answered_at FROM replica_wd"
    _, rows = query_lake(tables.settings, statement)
    decoded = []
    for pattern, key, mapping, multiplicity, *times in rows:
        assert pattern == PATTERN
        rounds = [(time - tables.evaluation(0)) // timedelta(minutes=10) for time in times]
        decoded.append((json.loads(key)[0], json.loads(mapping)["o"], multiplicity, *rounds))
    return sorted(decoded)


EXPECTED = [
    ("<urn:a>", '"1"', 1, 2, 1),
    ("<urn:a>", '"2"', 2, 2, 1),
    ("<urn:b>", '"2"', 1, 3, 3),
]


def test_the_view_of_a_replica_has_the_mappings_that_each_key_has_now(
    tables: RemoteTables,
) -> None:
    assert mappings(tables) == EXPECTED


def up_to(lake: Lake, version: int) -> Metadata:
    """Of a summary that has the rounds up to a version of the inbox."""
    digest = commit_digest(lake, replica("wd").name, version)
    extra = {"format": SUMMARY_FORMAT, "version": version, "commit": digest}
    return Metadata("s", "refresh", 0, extra=extra)


def test_the_view_of_a_replica_is_the_same_from_a_summary_of_the_inbox(
    tables: RemoteTables,
) -> None:
    lake = open_lake(tables.settings)
    version = lake.version(replica("wd").name)
    rows = [row for row in lake.rows(replica("wd").name).to_pylist() if row["round"] > 1]
    known = [row for row in lake.rows(replica("wd").name).to_pylist() if row["round"] == 1]
    kept = [row for row in known if row["key"] == '["<urn:a>"]' and row["part"] == "mapping"]
    assert version is not None
    write(lake, replica_summary("wd"), [*kept, *rows], up_to(lake, version), mode="overwrite")
    assert mappings(tables) == EXPECTED
    tables.refresh({"b": ()})
    assert mappings(tables) == EXPECTED[:2]


def test_after_a_commit_that_removed_rows_the_whole_inbox_is_read(tables: RemoteTables) -> None:
    lake = open_lake(tables.settings)
    metadata = up_to(lake, 1)
    write(lake, replica_summary("wd"), [], metadata, mode="overwrite")
    assert mappings(tables) == EXPECTED[2:]
    rows = lake.rows(replica("wd").name)
    write(lake, replica("wd"), rows, metadata, mode="overwrite")
    assert mappings(tables) == EXPECTED


def test_the_view_of_freshness_has_the_newest_row_of_each_pattern(tables: RemoteTables) -> None:
    columns = "remote, pattern, round, candidates"
    names, rows = query_lake(tables.settings, f"SELECT {columns} FROM freshness_current")
    assert rows == [("wd", PATTERN, 3, 3)]
    names, rows = query_lake(tables.settings, "SELECT * FROM freshness_current")
    assert names == FRESHNESS.column_names


def test_views_of_remotes_are_listed_and_others_do_not_exist(tables: RemoteTables) -> None:
    with pytest.raises(WeirError, match="replica_wd, freshness_current") as raised:
        query_lake(tables.settings, "SELECT * FROM replica_fb")
    assert "replica_fb" in raised.value.what


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("name", ["replica", "replica_wd", "replica_", "freshness", "requests"])
@pytest.mark.parametrize("kind", ["query", "program"])
def test_no_query_has_the_name_of_a_view_of_a_remote(
    tables: RemoteTables, name: str, kind: str
) -> None:
    project = Project(tables.folder)
    (project.query if kind == "query" else project.program)(name, "SELECT")
    (declared,) = declarations(folders_of(tables.settings))
    assert not declared.is_usable
    with pytest.raises(ConfigurationError, match=f"'{name}' is the name of a"):
        declared.check_name()


def test_a_query_may_have_a_name_similar_to_a_view_of_a_remote(tables: RemoteTables) -> None:
    (tables.settings.queries / "replicas.rq").write_text("SELECT")
    (declared,) = declarations(folders_of(tables.settings))
    assert declared.is_usable


def test_no_remote_has_the_ending_of_a_view_of_a_stream(tables: RemoteTables) -> None:
    file = tables.folder / "remotes.yml"
    file.write_text(REMOTES.replace("name: wd", "name: wd_events"))
    with pytest.raises(ConfigurationError, match="views of streams end in _events"):
        load_remotes(file)
