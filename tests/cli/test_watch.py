"""`weir watch`: each change of an answer once, as it is published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.projects.command_line import Called, Weir
from tests.support.streams.projects import SEEN, event_project, readings
from weir.cli import main
from weir.process.interrupts import INTERRUPTED

Change = Callable[[], None]


@pytest.fixture
def watched(weir: Weir, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Called]:
    """Watches `exhibits`; before each look, the next of some changes is made; then Ctrl-C."""

    def call(*changes: Change, arguments: tuple[str, ...] = ()) -> Called:
        remaining = iter(changes)

        def sleep(seconds: float) -> None:
            assert seconds == 2
            change = next(remaining, None)
            if change is None:
                raise KeyboardInterrupt
            change()

        monkeypatch.setattr("weir.cli.watch.sleep", sleep)
        called = weir("watch", "exhibits", *arguments)
        assert called.code == INTERRUPTED
        return called

    return call


def moved_to(room: int) -> Change:
    """A version in which the vase is in another room, and a run."""

    def change() -> None:
        versions = Path("data/versions")
        text = (versions / "001.ttl").read_text().replace('"1"', f'"{room}"')
        (versions / f"00{room}.ttl").write_text(text)
        assert main(["run", "--output", "json"]) == 0

    return change


def nothing() -> None:
    """No change."""


@pytest.mark.usefixtures("has_run")
def test_each_change_is_printed_once(watched: Callable[..., Called]) -> None:
    printed = watched(nothing, moved_to(2), nothing, moved_to(3), nothing).out
    assert printed.startswith("Waiting for changes of exhibits")
    rows = [line.split() for line in printed.splitlines() if "Greek vase" in line]
    assert [(row[0], row[1], row[4]) for row in rows] == [
        ("2", "-1", "1"),
        ("2", "1", "2"),
        ("3", "-1", "2"),
        ("3", "1", "3"),
    ]


@pytest.mark.usefixtures("has_run")
def test_the_lines_are_those_of_log(watched: Callable[..., Called], weir: Weir) -> None:
    def edit() -> None:
        query = Path("queries/exhibits.rq")
        query.write_text(
            query.read_text().replace("?exhibit :title", '?exhibit :room "1" ; :title')
        )
        assert main(["run", "--output", "json"]) == 0

    printed = watched(moved_to(2), edit).out.splitlines()
    log = weir("log", "exhibits", "--from", "2").out.splitlines()
    heads = [line.split() for line in (*printed, *log) if line.split()[:1] == ["epoch"]]
    assert len(heads) == 3
    assert heads == [heads[0]] * 3

    def rows(lines: list[str]) -> list[list[str]]:
        return sorted(line.split() for line in lines if line.split()[:1] in (["2"], ["3"]))

    assert rows(printed) == rows(log)
    assert any("an edit of the query" in line for line in printed)


@pytest.mark.usefixtures("has_run")
def test_lines_of_json_have_the_cause(watched: Callable[..., Called]) -> None:
    printed = watched(moved_to(2), arguments=("--output", "json")).out
    rows = [json.loads(line) for line in printed.splitlines() if line.startswith('{"epoch"')]
    assert {row["changed by"] for row in rows} == {"museum: 002.ttl"}


def test_times_of_streams_have_all_digits_and_their_zone(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = event_project(tmp_path, SEEN)
    project.write("events/1.ttl", readings(("a", 1), ("b", 2), ("a", 70)))
    project.run()
    monkeypatch.chdir(tmp_path)

    def sleep(seconds: float) -> None:
        del seconds
        if (tmp_path / "events/2.ttl").exists():
            raise KeyboardInterrupt
        project.write("events/2.ttl", readings(("c", 90), ("a", 150)))
        project.run()

    monkeypatch.setattr("weir.cli.watch.sleep", sleep)
    printed = weir("watch", "q").out.splitlines()
    log = weir("log", "q", "--from", "2").out
    times = [word for line in printed for word in line.split() if word.endswith("Z")]
    assert times
    assert all(time in log for time in times)


@pytest.mark.usefixtures("has_run")
def test_programs_read_a_line_per_row(watched: Callable[..., Called]) -> None:
    printed = watched(moved_to(2), arguments=("--output", "json")).out
    rows = [json.loads(line) for line in printed.splitlines() if line.startswith('{"epoch"')]
    assert [(row["weight"], row["room"], row["title_term"]) for row in rows] == [
        (-1, "1", '"Greek vase"@en'),
        (1, "2", '"Greek vase"@en'),
    ]


@pytest.mark.usefixtures("has_run")
def test_an_edit_is_a_change(watched: Callable[..., Called]) -> None:
    def edit() -> None:
        query = Path("queries/exhibits.rq")
        text = query.read_text().replace("?exhibit :title", '?exhibit :room "1" ; :title')
        query.write_text(text)
        assert main(["run", "--output", "json"]) == 0

    assert "Roman coin" in watched(edit).out


@pytest.mark.usefixtures("initialised")
def test_what_is_not_published_cannot_be_watched(weir: Weir) -> None:
    refused = weir("watch", "exhibits")
    assert refused.code == 2
    assert "`weir run` creates one" in refused.err
