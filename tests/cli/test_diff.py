"""`weir diff`: what the answers of edited queries would gain and lose."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.projects.command_line import Weir, files
from tests.support.streams.projects import OFTEN, SEEN, event_project, readings

HEAD = "PREFIX : <http://example.org/>\n"
EDITED = HEAD + "SELECT ?title ?room { ?e :title ?title OPTIONAL { ?e :room ?room } }"


def query(name: str, text: str) -> None:
    Path(f"queries/{name}.rq").write_text(text)


def git(*arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


def by_query(rows: list[dict[str, Any]]) -> dict[str, tuple[str, int, int]]:
    return {row["query"]: (row["change"], row["gained"], row["lost"]) for row in rows}


@pytest.mark.usefixtures("has_run")
def test_edited_added_and_removed_queries_are_compared_with_what_is_published(weir: Weir) -> None:
    query("kept", HEAD + "ASK { ?e :title ?t }")
    query("gone", HEAD + "SELECT ?t { ?e :title ?t }")
    weir("run")
    query("exhibits", EDITED)
    query("rooms", HEAD + "SELECT DISTINCT ?r { ?e :room ?r }")
    Path("queries/gone.rq").unlink()
    query("kept", HEAD + "# the same\nASK { ?e :title ?t }")
    before = files("lake")
    called = weir("diff", "--output", "json")
    assert files("lake") == before
    assert called.code == 0
    assert by_query(called.json) == {
        "exhibits": ("edited", 1, 0),
        "gone": ("removed", 0, 3),
        "rooms": ("added", 2, 0),
    }
    (exhibits,) = (row for row in called.json if row["query"] == "exhibits")
    assert exhibits["rows"] == [{"weight": 1, "title": "Bronze mask", "room": None}]
    weir("run")
    assert by_query(weir("diff", "--output", "json").json) == {"gone": ("removed", 0, 3)}


@pytest.mark.usefixtures("has_run")
@pytest.mark.parametrize(
    ("faults", "code"),
    [("gained", 1), ("edited", 1), ("lost", 0), ("added,removed,held", 0), ("", 0), ("lots", 2)],
)
def test_the_exit_code_is_1_if_a_named_fault_is_there(weir: Weir, faults: str, code: int) -> None:
    query("exhibits", EDITED)
    assert weir("diff", "--fail-on", faults).code == code


@pytest.mark.usefixtures("has_run")
def test_an_answer_that_a_run_would_hold_is_said(weir: Weir) -> None:
    query("exhibits", "#+ max_rows: 2\n" + EDITED)
    called = weir("diff", "--fail-on", "held")
    assert called.code == 1
    note = "a run would hold it back: 3 rows, max_rows is 2 (queries/exhibits.rq:1)"
    assert note in called.out
    run = weir("run")
    assert "3 rows, max_rows is 2 (queries/exhibits.rq:1)" in run.err


@pytest.mark.usefixtures("has_run")
def test_a_query_that_cannot_be_used_or_computed_fails_and_the_others_are_compared(
    weir: Weir, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEIR_LIMITS__PRODUCT_ROWS", "5")
    query("broken", "SELECT")
    query("large", HEAD + "SELECT * { ?e :title ?t . ?f :room ?r }")
    query("rooms", HEAD + "SELECT DISTINCT ?r { ?e :room ?r }")
    called = weir("diff", "--output", "json")
    assert called.code == 1
    errors = {row["query"]: row["error"] or "" for row in called.json}
    assert "broken.rq:1:1" in errors["broken"]
    assert "more than product_rows = 5" in errors["large"]
    assert errors["rooms"] == ""


@pytest.mark.usefixtures("has_run")
def test_a_commit_of_git_can_be_the_base(weir: Weir) -> None:
    query("rooms", HEAD + "SELECT ?r { ?e :room ?r }")
    git("init", "-q")
    git("add", "queries")
    git("commit", "-qm", "first")
    query("exhibits", EDITED)
    query("rooms", HEAD + "SELECT ?r { ?e :room ?r ; :title 'Roman coin'@en }")
    query("titles", HEAD + "SELECT ?t { ?e :title ?t }")
    called = weir("diff", "--base", "HEAD", "--output", "json")
    assert by_query(called.json) == {
        "exhibits": ("edited", 1, 0),
        "rooms": ("edited", 0, 1),
        "titles": ("added", 3, 0),
    }
    git("add", "queries")
    git("commit", "-qm", "second")
    Path("queries/rooms.rq").unlink()
    called = weir("diff", "--base", "HEAD", "--output", "json")
    assert by_query(called.json) == {"rooms": ("removed", 0, 1)}
    wrong = weir("diff", "--base", "nowhere")
    assert (wrong.code, "git: " in wrong.err) == (2, True)


@pytest.mark.usefixtures("has_run")
def test_a_base_needs_a_repository(weir: Weir, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(Path.cwd().parent))
    wrong = weir("diff", "--base", "--version")
    assert (wrong.code, "git: " in wrong.err) == (2, True)


@pytest.mark.usefixtures("has_run")
def test_a_selection_is_compared(weir: Weir) -> None:
    query("exhibits", EDITED)
    query("rooms", "#+ tags: [a]\n" + HEAD + "SELECT DISTINCT ?r { ?e :room ?r }")
    for criteria in ("tag:a", "state:new", "rooms"):
        called = weir("diff", "--select", criteria, "--output", "json")
        assert [*by_query(called.json)] == ["rooms"]
    called = weir("diff", "--exclude", "state:new", "--output", "json")
    assert [*by_query(called.json)] == ["exhibits"]


@pytest.mark.usefixtures("has_run")
def test_markdown_is_for_a_pull_request(weir: Weir) -> None:
    query("piped", HEAD + 'SELECT ?p { ?e :title ?t BIND ("a|<b>" AS ?p) FILTER (?e = :mask) }')
    called = weir("diff", "--output", "markdown")
    assert called.out == (
        "### Answers that would change\n\n"
        "| query | change | gained | lost | note |\n| --- | --- | --- | --- | --- |\n"
        "| piped | added | 1 | 0 |  |\n\n"
        "### piped, added: rows gained (+) and lost (-)\n\n"
        "| weight | p |\n| --- | --- |\n| +1 | a\\|&lt;b> |\n\n"
    )


@pytest.mark.usefixtures("has_run")
def test_rows_that_are_left_out_are_counted(weir: Weir) -> None:
    query("titles", HEAD + "SELECT ?t { ?e :title ?t }")
    assert "and 2 more (--limit 0 for all)" in weir("diff", "--limit", "1").out
    (titles,) = weir("diff", "--limit", "0", "--output", "json").json
    assert len(titles["rows"]) == 3


def test_what_reads_the_stream_of_an_edited_query_is_recomputed(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = event_project(tmp_path, SEEN)
    project.query("often", OFTEN)
    project.write("events/1.ttl", readings(("a", 1), ("b", 2), ("b", 3), ("a", 25), ("a", 70)))
    project.run()
    before = {name: Counter(project.signed(name)) for name in ("q", "often")}
    project.query("q", SEEN.replace("?reading ex:of", "<http://example.org/a/1> ex:of"))
    monkeypatch.chdir(tmp_path)
    called = weir("diff", "--limit", "0", "--output", "json")
    assert {row["query"]: row["change"] for row in called.json} == {
        "q": "edited",
        "often": "recomputed",
    }
    project.run()
    for row in called.json:
        appended = Counter(project.signed(row["query"]))
        appended.subtract(before[row["query"]])
        signs = [weight for (_, weight, _), n in appended.items() for _ in range(n)]
        assert row["gained"] == sum(w for w in signs if w > 0)
        assert row["lost"] == -sum(w for w in signs if w < 0)
        assert row["gained"] + row["lost"] > 0
