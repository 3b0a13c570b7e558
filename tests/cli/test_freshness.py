"""`weir freshness` and the page of remotes, over tables written by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from tests.support.projects.project import Project
from tests.support.replicas import written
from tests.support.replicas.written import PATTERN, REMOTES, RemoteTables, remote_project
from weir.compute import session
from weir.definitions.catalog import Catalog
from weir.errors import EXIT_FAILED, EXIT_QUALITY
from weir.remotes.declarations import load_remotes
from weir.remotes.schedule import following
from weir.text.durations import age_text


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RemoteTables:
    """A remote that was evaluated a few minutes ago; Spark cannot be started."""
    monkeypatch.setattr(session, "_start", None)
    monkeypatch.setattr(written, "START", datetime.now(UTC) - timedelta(minutes=25))
    monkeypatch.chdir(tmp_path)
    project = remote_project(tmp_path)
    project.refresh({"a": ('"1"',), "b": ('"1"',)})
    project.refresh({"b": ('"2"',), "c": None}, not_asked=1)
    return project


def test_the_state_of_every_remote_is_printed(weir: Weir, tables: RemoteTables) -> None:
    del tables
    called = weir("freshness", "--patterns")
    assert called.code == 0
    assert "fresh" in called.out
    for used in ("2 of 20", "2 of 4", "10,000 of 100,000", "0.5 of 8"):
        assert used in called.out
    assert PATTERN in called.out
    assert PATTERN not in weir("freshness").out


def test_the_queries_that_ask_for_a_pattern_are_named(
    weir: Weir, tables: RemoteTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(written, "START", datetime.now(UTC) - timedelta(minutes=31))
    text = (
        "SELECT * WHERE { ?s <urn:q> ?x SERVICE <https://wd.example.org/sparql> { ?s <urn:p> ?o } }"
    )
    project = Project(tables.folder)
    project.query("exhibits", text)
    project.query("rooms", f"#+ description: another\n{text}")
    (query, _) = Catalog.of(project.settings).members
    (block,) = query.services.blocks
    assert "no query any more" in weir("freshness", "--patterns").out
    other = RemoteTables(tables.folder, rounds=2)
    other.register(block.pattern)
    written_rows = other.next({"a": ('"1"',)})
    for row in (*written_rows.freshness, *written_rows.inbox):
        row["pattern"] = block.pattern
    other.write(written_rows)
    assert "exhibits, rooms" in weir("freshness", "--patterns").out
    (result,) = weir("freshness", "--output", "json").json["results"]
    assert result["patterns"][0]["queries"] == ["exhibits", "rooms"]
    weir("site")
    page = Path("site/remotes.html").read_text()
    assert page.count("exhibits, rooms") == 2, "of the pattern, and of its stalest key"
    assert block.pattern not in page


def test_json_has_the_fields_of_source_freshness_and_ours(weir: Weir, tables: RemoteTables) -> None:
    called = weir("freshness", "--output", "json")
    (result,) = called.json["results"]
    assert called.code == 0
    assert result["unique_id"] == "source.weir.replicas.wd"
    reason = "1 key failed: it did not answer; 2 keys were never answered"
    assert (result["status"], result["reason"]) == ("warn", reason)
    assert result["criteria"] == {
        "warn_after": {"count": 20, "period": "minute"},
        "error_after": {"count": 1, "period": "hour"},
        "filter": None,
    }
    snapshot, loaded = (
        datetime.fromisoformat(result[name]) for name in ("snapshotted_at", "max_loaded_at")
    )
    assert loaded == tables.evaluation(1)
    age = (snapshot - loaded).total_seconds()
    assert result["max_loaded_at_time_ago_in_s"] == pytest.approx(age, abs=0.001)
    assert result["oldest_seconds"] >= result["median_seconds"]
    assert (result["candidates"], result["never_asked"]) == (4, 2)
    assert datetime.fromisoformat(result["last_evaluation"]) == tables.evaluation(2)
    (remote,) = load_remotes(tables.settings.remotes).values()
    expected = following(remote, tables.evaluation(2))
    assert datetime.fromisoformat(result["next_allowed"]) == expected
    assert result["used"]["keys"] == 2
    assert [pattern["pattern"] for pattern in result["patterns"]] == [PATTERN]


def test_a_replica_that_is_too_old_ends_with_its_own_exit_code(
    weir: Weir, tables: RemoteTables
) -> None:
    (tables.folder / "remotes.yml").write_text(
        REMOTES.replace("PT1H", "PT10M").replace("PT20M", "PT90S")
    )
    called = weir("freshness", "--output", "json")
    assert called.code == EXIT_QUALITY
    (result,) = called.json["results"]
    assert (result["status"], result["state"]) == ("error", "error")
    assert result["criteria"]["warn_after"] == {"count": 90, "period": "second"}
    assert "the oldest answer is" in called.err


def test_answers_older_than_warn_after_end_with_the_same_exit_code(
    weir: Weir, tables: RemoteTables
) -> None:
    (tables.folder / "remotes.yml").write_text(REMOTES.replace("PT20M", "PT10M"))
    called = weir("freshness", "--output", "json")
    assert (called.code, called.json["results"][0]["status"]) == (EXIT_QUALITY, "warn")
    assert "`warn_after` is PT10M" in called.err


def test_a_remote_that_backs_off_is_late_once_its_answers_are(
    weir: Weir, tables: RemoteTables
) -> None:
    until = datetime.now(UTC) + timedelta(minutes=30)
    tables.refresh({"a": None}, not_before=until, not_before_reason="throttled")
    called = weir("freshness", "--output", "json")
    assert (called.code, called.json["results"][0]["state"]) == (0, "backing_off")
    (tables.folder / "remotes.yml").write_text(REMOTES.replace("PT20M", "PT10M"))
    called = weir("freshness", "--output", "json")
    assert (called.code, called.json["results"][0]["state"]) == (EXIT_QUALITY, "backing_off")


@pytest.mark.parametrize(("limit", "code"), [("PT30M", 0), ("PT20M", EXIT_QUALITY)])
def test_a_remote_that_was_never_evaluated_is_late_after_warn_after(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, code: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Project(tmp_path).write("remotes.yml", REMOTES.replace("PT20M", limit))
    RemoteTables(tmp_path).register(first_seen=datetime.now(UTC) - timedelta(minutes=25))
    called = weir("freshness", "--output", "json")
    assert (called.code, called.json["results"][0]["state"]) == (code, "never_evaluated")


def test_a_damaged_table_is_a_runtime_error_of_every_remote(
    weir: Weir, tables: RemoteTables
) -> None:
    log = tables.folder / "lake/freshness/_delta_log"
    sorted(log.glob("*.json"))[-1].write_text("")
    called = weir("freshness", "--output", "json")
    assert called.code == EXIT_FAILED
    (result,) = called.json["results"]
    assert (result["unique_id"], result["status"]) == ("source.weir.replicas.wd", "runtime error")
    assert "freshness" in result["error"]


def test_freshness_without_remotes_says_that_none_is_declared(
    weir: Weir, tables: RemoteTables
) -> None:
    (tables.folder / "remotes.yml").unlink()
    called = weir("freshness")
    assert (called.code, called.out) == (
        0,
        f"No remote is declared in {tables.folder / 'remotes.yml'}, and no traversal in"
        f" {tables.folder / 'traversals.yml'}.\n",
    )
    assert weir("freshness", "--output", "json").json["results"] == []


def test_the_site_has_a_page_of_remotes(weir: Weir, tables: RemoteTables) -> None:
    weir("site")
    page = Path("site/remotes.html")
    assert 'wd <span class="badge warn">warn</span>' in page.read_text()
    (tables.folder / "remotes.yml").unlink()
    weir("site")
    assert "No remote is declared" in page.read_text()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59, "59s"), (60, "1m"), (5400, "1.5h"), (172800, "2d")]
)
def test_an_age_is_written_in_its_largest_unit(seconds: float, text: str) -> None:
    assert age_text(seconds) == text
