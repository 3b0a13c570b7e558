"""All stages from the command line, in a project that `weir init` wrote."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.support.projects.command_line import Weir
from weir.errors import EXIT_BUSY, EXIT_FAILED, EXIT_QUALITY
from weir.lake.lake import Lake
from weir.project import open_lake
from weir.settings import Settings
from weir.stage import claimed

FIRST, SECOND = Path("data/versions/001.ttl"), Path("data/versions/002.ttl")


@pytest.fixture
def project(initialised: None) -> Settings:
    """A project that `weir init` wrote, where starting Spark fails."""
    del initialised
    return Settings.load()


def versions(settings: Settings) -> dict[str, int | None]:
    names = (
        "quads",
        "triples",
        "transactions",
        "quality",
        "answers/exhibits",
        "embeddings/exhibits",
    )
    return {name: open_lake(settings).version(name) for name in names}


def test_an_edited_graph_gives_the_rows_that_vanished_and_appeared(
    weir: Weir, project: Settings
) -> None:
    called = weir("run", "--output", "json")
    assert (called.code, called.json["errors"]) == (0, [])
    assert weir("show", "exhibits", "--output", "json").json == [
        {"title": "Greek vase", "room": "1", "weight": 1},
        {"title": "Roman coin", "room": "2", "weight": 1},
    ]
    before = versions(project)
    assert weir("run", "--output", "json").json["queries"] == []
    assert versions(project) == before
    moved = FIRST.read_text().replace('vase"@en ; :room "1"', 'vase"@en ; :room "2"')
    SECOND.write_text(moved)
    (answer,) = weir("run", "--output", "json").json["queries"]
    assert answer == {
        "query": "exhibits",
        "mode": "incremental",
        "rows": 2,
        "to_epoch": 2,
        "reason": None,
    }
    log = weir("log", "exhibits", "--from", "2", "--output", "json").json
    assert {(row["weight"], row["title"], row["room"]) for row in log} == {
        (-1, "Greek vase", "1"),
        (1, "Greek vase", "2"),
    }
    (status,) = weir("status", "--output", "json").json["queries"]
    assert (status["state"], status["rows"], status["lag_epochs"]) == ("current", 2, 0)
    assert "connected-variable, 2 patterns" in weir("explain", "exhibits").out
    assert weir("site").code == 0


@pytest.mark.usefixtures("has_run")
def test_a_new_project_has_its_answers_as_tables_that_any_reader_reads() -> None:
    rows = DeltaTable("lake/current/exhibits").to_pyarrow_table().sort_by("room")
    assert rows.to_pydict() == {
        "title": ["Greek vase", "Roman coin"],
        "room": ["1", "2"],
        "count": [1, 1],
        "title_lang": ["en", "en"],
    }


def test_the_log_says_of_each_row_which_file_or_edit_made_it(weir: Weir, project: Settings) -> None:
    written = datetime(2026, 3, 1, 12, tzinfo=UTC)
    for file, room in ((FIRST, "1"), (SECOND, "2")):
        text = FIRST.read_text().replace('vase"@en ; :room "1"', f'vase"@en ; :room "{room}"')
        file.write_text(text)
        os.utime(file, (written.timestamp(), written.timestamp()))
        assert weir("run").code == 0
    query = project.queries / "exhibits.rq"
    query.write_text(query.read_text().replace("?room .", "?room . FILTER(?room = '9')"))
    (edited,) = weir("run", "--output", "json").json["queries"]
    assert edited["mode"] == "edited"
    log = weir("log", "exhibits", "--output", "json").json
    time, edit = written.isoformat(), "an edit of the query"
    assert [(row["epoch"], row["event_time"], row["changed by"]) for row in log] == [
        *[(1, time, "museum: 001.ttl")] * 2,
        *[(2, time, "museum: 002.ttl")] * 2,
        *[(2, None, edit)] * 2,
    ]
    assert edit in weir("log", "exhibits").out


def test_a_failed_check_ends_a_run_with_its_own_exit_code(weir: Weir, project: Settings) -> None:
    query = project.queries / "exhibits.rq"
    query.write_text("#+ max_rows: 1\n" + query.read_text())
    called = weir("run")
    assert called.code == EXIT_QUALITY
    assert "row_count_is_within_max_rows" in called.err
    assert weir("show", "exhibits").code != 0
    # The run exits with the error of a broken query, and reports the held one as well.
    (project.queries / "broken.rq").write_text("SELECT")
    called = weir("run")
    assert called.code == EXIT_FAILED
    assert "broken.rq" in called.err
    assert "row_count_is_within_max_rows" in called.err


def test_a_run_beside_another_exits_as_busy(weir: Weir, project: Settings) -> None:
    with claimed(open_lake(project), "ingest", "the other run", 60):
        called = weir("run")
    assert called.code == EXIT_BUSY
    assert "the other run" in called.err
    assert "waits for another run" in called.out
    assert Lake(project.lake).version("quads") is None
