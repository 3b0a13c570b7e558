"""`weir why`: what is printed, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from tests.support.streams.sensors import arrive, sensors
from weir.cli import main
from weir.settings import CONFIG_FILE

SECOND, THIRD = Path("data/versions/002.ttl"), Path("data/versions/003.ttl")
PLACES = "PREFIX : <http://example.org/>\nSELECT ?x ?r { ?x :room ?r }"


@pytest.fixture(scope="module")
def edited_project(museum_that_ran: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project in which the coin moved to room 1; not to be changed."""
    folder = tmp_path_factory.mktemp("why") / "edited"
    shutil.copytree(museum_that_ran, folder)
    first = (folder / "data/versions/001.ttl").read_text()
    assert ':room "2"' in first
    (folder / SECOND).write_text(first.replace(':room "2"', ':room "1"'))
    run(folder)
    return folder


@pytest.fixture(scope="module")
def moved_project(edited_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of one with the query places, after which it moved to room 3; not to be changed."""
    folder = tmp_path_factory.mktemp("why") / "moved"
    shutil.copytree(edited_project, folder)
    (folder / "queries/places.rq").write_text(PLACES)
    run(folder)
    second = (folder / SECOND).read_text()
    (folder / THIRD).write_text(second.replace(':room "1"', ':room "3"'))
    run(folder)
    return folder


def run(folder: Path) -> None:
    assert main(["--config", str(folder / CONFIG_FILE), "run"]) == 0


@pytest.fixture
def edited(edited_project: Path, monkeypatch: pytest.MonkeyPatch, without_spark: None) -> None:
    """The current folder is that of the project in which the coin moved."""
    del without_spark
    monkeypatch.chdir(edited_project)


@pytest.mark.usefixtures("edited")
def test_changes_and_a_match_are_printed_with_what_made_the_epoch(weir: Weir) -> None:
    printed = weir("why", "exhibits", "room=2")
    assert printed.out == (
        "exhibits at epoch 2: museum: 002.ttl\n"
        '-1 title="Roman coin"@en, room="2"\n'
        "  because of\n"
        '    -1 :coin :room "2"   in <urn:weir:graph:museum>\n'
        "  with\n"
        '       :coin :title "Roman coin"@en\n'
    )
    assert (printed.code, printed.err) == (0, "")


@pytest.mark.usefixtures("edited")
def test_json_has_the_exact_terms(weir: Weir) -> None:
    (gone, came) = sorted(
        weir("why", "exhibits", "--epoch", "2", "--output", "json").json,
        key=lambda row: row["weight"],
    )
    coin, room = "<http://example.org/coin>", "<http://example.org/room>"
    assert gone["row"] == {"title": '"Roman coin"@en', "room": '"2"'}
    assert came["changes"] == [
        {
            "weight": 1,
            "graph": "<urn:weir:graph:museum>",
            "subject": coin,
            "predicate": room,
            "object": '"1"',
            "place": "museum: 002.ttl",
        }
    ]
    assert {"subject": coin, "predicate": room, "object": '"1"'} in came["match"]


@pytest.mark.usefixtures("edited")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("room=3", "--epoch", "2"), "error: epoch 2 changed no such row of exhibits\n"),
        (("room=3",), "error: no epoch has changed such a row of exhibits since it was computed"),
        (("roam=2",), "error: roam=2: exhibits has no column roam\n"),
        (("room",), "error: room: no `=`\n"),
        (("--epoch", "1"), "error: the answer of exhibits was computed as a whole at epoch 1\n"),
        (("--epoch", "9"), "error: exhibits is computed up to epoch 2\n"),
    ],
)
def test_what_cannot_be_explained_is_refused_with_a_next_step(
    weir: Weir, arguments: tuple[str, ...], message: str
) -> None:
    printed = weir("why", "exhibits", *arguments)
    assert (printed.code, printed.out) == (2, "")
    assert printed.err.startswith(message)
    assert "next: " in printed.err


@pytest.mark.usefixtures("edited")
@pytest.mark.parametrize(
    ("value", "is_named"), [("ex:room", True), (":room", False), ("http://x/room", False)]
)
def test_a_prefix_that_is_not_declared_is_named(weir: Weir, value: str, *, is_named: bool) -> None:
    printed = weir("why", "exhibits", f"room={value}")
    assert (
        "neither exhibits nor `[prefixes]` of weir.toml declares ex:" in printed.err
    ) == is_named


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("title=Roman coins",), "Did you mean title=Roman coin? "),
        (('title="Roman coins"',), "Did you mean title=Roman coin? "),
        (("title=Greek vase",), "It had such a row then"),
        (("title=Greek vase", "room=2"), "next: `weir log exhibits`"),
        (("title=zzz",), "next: `weir log exhibits`"),
    ],
)
@pytest.mark.usefixtures("edited")
def test_of_a_row_that_never_changed_it_is_said_what_the_answer_has(
    weir: Weir, words: tuple[str, ...], said: str
) -> None:
    printed = weir("why", "exhibits", *words)
    assert printed.code == 2
    assert "computed as a whole at epoch 1\n" in printed.err
    assert said in printed.err


def test_an_iri_is_near_one_with_a_like_local_name(
    weir: Weir, moved_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(moved_project)
    for value in (":coins", "coin", "<http://example.org/coins>"):
        said = weir("why", "places", f"x={value}").err
        assert "Did you mean x=<http://example.org/coin>? " in said


def test_the_newest_epoch_that_changed_such_a_row_is_the_default(
    weir: Weir, moved_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(moved_project)
    assert weir("why", "exhibits").out.startswith("exhibits at epoch 3: ")
    printed = weir("why", "exhibits", "room=2")
    assert printed.out.startswith('exhibits at epoch 2: museum: 002.ttl\n-1 title="Roman coin"@en')
    assert weir("why", "exhibits", "room=2", "--epoch", "3").code == 2


@pytest.mark.usefixtures("edited")
def test_iris_are_printed_in_full_if_wanted(weir: Weir) -> None:
    short, full = weir("why", "exhibits", "room=2"), weir("why", "exhibits", "room=2", "--full")
    assert full.out == short.out.replace(":coin", "<http://example.org/coin>").replace(
        " :room", " <http://example.org/room>"
    ).replace(" :title", " <http://example.org/title>")


@pytest.mark.usefixtures("edited")
@pytest.mark.parametrize("value", ["1", '"1"'])
def test_a_value_may_be_plain_or_the_exact_term(weir: Weir, value: str) -> None:
    (row,) = weir("why", "exhibits", f"room={value}", "--output", "json").json
    assert row["weight"] == 1


@pytest.mark.parametrize("value", [":coin", "http://example.org/coin", "<http://example.org/coin>"])
def test_a_value_may_be_an_iri_in_any_form(
    weir: Weir, moved_project: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.chdir(moved_project)
    rows = weir("why", "places", f"x={value}", "--output", "json").json
    assert {row["row"]["x"] for row in rows} == {"<http://example.org/coin>"}
    assert len(rows) == 2
    (both,) = weir("why", "places", f"x={value}", "r=3", "r=4", "--output", "json").json
    assert both["row"]["r"] == '"3"'


@pytest.mark.usefixtures("edited")
def test_rows_that_are_left_out_are_said(weir: Weir) -> None:
    assert "The first 1 rows" in weir("why", "exhibits", "--limit", "1").out
    assert "The first" not in weir("why", "exhibits", "--limit", "2").out


def test_events_are_printed_with_their_times_and_lines(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = sensors(tmp_path / "sensors")
    for number in range(3):
        arrive(project, number)
        project.run()
    monkeypatch.chdir(project.folder)
    at = ("--at", "2026-01-01T00:00:10Z")
    printed = weir("why", "hot", "n=2", *at)
    assert printed.out == (
        "hot at epoch 4: readings: 2.nt\n"
        "+1 room=ex:hall, n=2   at 2026-01-01T00:00:10Z, a correction\n"
        "  because of\n"
        "    +1 <http://example.org/s2/7> ex:of ex:s2   at 2026-01-01T00:00:07Z,"
        " readings: 2.nt:1\n"
        "  with\n"
        "       ex:s2 ex:in ex:hall\n"
        "       <http://example.org/s2/3> ex:of ex:s2   at 2026-01-01T00:00:03Z,"
        " readings: 0.nt:3\n"
    )
    (row,) = weir("why", "hot", "n=2", *at, "--output", "json").json
    assert row["event_time"] == "2026-01-01T00:00:10Z"
    assert row["changes"][0]["stream"] == "readings"
    nothing = weir("why", "hot", "--at", "2026-01-01T00:00:11Z")
    assert (nothing.code, "no epoch has changed such a row of hot" in nothing.err) == (2, True)
