"""`weir run --dry-run`: what a run would do and why; nothing is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir, files
from tests.support.streams.projects import OFTEN, SEEN, event_project, readings

HEAD = "PREFIX : <http://example.org/>\n"
TITLES = HEAD + "SELECT ?t { ?e :title ?t }"


def steps(weir: Weir, *options: str) -> list[tuple[str, str, str]]:
    called = weir("run", "--dry-run", "--output", "json", *options)
    assert called.code == 0
    return [(row["stage"], row["of"], row["does"]) for row in called.json]


@pytest.mark.usefixtures("initialised")
def test_a_first_run_ingests(weir: Weir) -> None:
    assert steps(weir) == [("ingest", "museum", "1 change set")]
    assert not Path("lake").exists()


@pytest.mark.usefixtures("has_run")
def test_after_a_run_nothing_is_to_do_and_nothing_is_done(weir: Weir) -> None:
    before = files("lake")
    assert steps(weir) == []
    assert weir("run", "--dry-run").out == "Nothing to do.\n"
    assert files("lake") == before
    assert weir("run", "--output", "json").json["queries"] == []


@pytest.mark.usefixtures("has_run")
def test_each_query_has_its_mode_and_its_reason(weir: Weir) -> None:
    Path("queries/titles.rq").write_text(TITLES)
    Path("queries/exhibits.rq").write_text(TITLES.replace("?t", "?title"))
    Path("queries/broken.rq").write_text("SELECT")
    version = Path("data/versions/001.ttl").read_text()
    Path("data/versions/002.ttl").write_text(version.replace("Bronze", "Silver"))
    before = files("lake")
    assert steps(weir) == [
        ("ingest", "museum", "1 change set"),
        ("maintain", "broken", "fails"),
        ("maintain", "exhibits", "edited"),
        ("maintain", "titles", "initial"),
    ]
    assert files("lake") == before
    said = weir("run", "--dry-run").out
    assert "edited: the next run recomputes it" in said
    assert "What is ingested decides which further queries change." in said
    ran = weir("run", "--output", "json").json["queries"]
    assert {row["query"]: row["mode"] for row in ran} == {"exhibits": "edited", "titles": "initial"}
    assert steps(weir) == [("maintain", "broken", "fails")]


@pytest.mark.usefixtures("has_run")
def test_after_ingest_the_queries_are_behind(weir: Weir) -> None:
    version = Path("data/versions/001.ttl").read_text()
    Path("data/versions/002.ttl").write_text(version.replace("Bronze", "Silver"))
    weir("ingest")
    assert steps(weir) == [
        ("validate", "the graph", "checks epochs 2 to 2"),
        ("maintain", "exhibits", "incremental"),
    ]


@pytest.mark.usefixtures("has_run")
def test_an_answer_that_is_held_is_checked_again(weir: Weir) -> None:
    Path("queries/titles.rq").write_text("#+ max_rows: 2\n" + TITLES)
    assert weir("run").code == 3
    assert steps(weir) == [("validate", "titles", "checks it again")]


@pytest.mark.usefixtures("initialised")
@pytest.mark.parametrize("option", [("--every", "5s"), ("--accept", "museum")])
def test_options_of_what_changes_something_are_refused(weir: Weir, option: tuple[str, str]) -> None:
    assert weir("run", "--dry-run", *option).code == 2


@pytest.mark.usefixtures("has_run")
def test_a_selection_is_maintained_and_the_others_are_left_for_later(weir: Weir) -> None:
    Path("queries/titles.rq").write_text(TITLES)
    Path("queries/rooms.rq").write_text(TITLES.replace("title", "room"))
    assert steps(weir, "--select", "titles") == [("maintain", "titles", "initial")]
    ran = weir("run", "--select", "state:new", "--exclude", "rooms", "--output", "json").json
    assert [row["query"] for row in ran["queries"]] == ["titles"]
    assert steps(weir) == [("maintain", "rooms", "initial")]
    assert weir("run", "--every", "5s", "--select", "titles").code == 2


def test_a_selected_query_brings_those_whose_streams_it_reads(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = event_project(tmp_path, SEEN)
    project.query("often", OFTEN)
    project.query("other", "SELECT ?s { ?s ?p ?o }")
    project.write("events/1.ttl", readings(("a", 1), ("b", 2), ("a", 70)))
    monkeypatch.chdir(tmp_path)
    assert weir("ingest").code == 0
    named = [name for stage, name, _ in steps(weir, "--select", "often") if stage == "maintain"]
    assert named == ["often", "q"]
    Path("queries/broken.rq").write_text("SELECT")
    assert ("maintain", "broken", "fails") in steps(weir, "--select", "broken")

    def selected(*options: str) -> list[str]:
        return [row["name"] for row in weir("ls", "--output", "json", *options).json]

    assert selected("--select", "+often") == ["often", "q"]
    assert selected("--select", "q+") == ["often", "q"]
    assert selected("--select", "source:readings") == ["q"]
    assert selected("--select", "source:readings+") == ["often", "q"]
    Path("queries/broken.rq").unlink()
    maintained = weir("run", "--select", "often", "--output", "json").json["queries"]
    assert {row["query"] for row in maintained} == {*named}
