"""A lake of an earlier version of Weir is continued, and nothing is lost.

Queries whose parts are looked up now, and were stored, are computed once again; no others are.

`lakes/<version>.zip` is a project of five queries over two sources after three runs of that
version; `lakes/<version>-killed.zip` is the same after a run that was killed between its commits
of `quads` and `triples`.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from tests.support.projects.project import LOOKED_UP

LAKES = Path(__file__).parent / "lakes"
AGAIN = {"rooms"}
"""The queries that had stored parts which are looked up now."""
KILLED_AT = 5
"""The epoch that the killed run had begun to commit."""


def unpack(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(LAKES / f"{name}.zip") as archive:
        archive.extractall(folder)
    monkeypatch.chdir(folder)
    for limit, value in LOOKED_UP.items():
        monkeypatch.setenv(f"WEIR_LIMITS__{limit.upper()}", str(value))


def modes(weir: Weir) -> dict[str, str]:
    """What maintain did per query in its last run."""
    statement = (
        "SELECT query, mode FROM runs WHERE job = 'maintain' AND query IS NOT NULL"
        " AND number = (SELECT max(number) FROM runs WHERE job = 'maintain')"
    )
    rows = weir("sql", statement, "--output", "json").json
    return {row["query"]: row["mode"] for row in rows}


def answer(weir: Weir, query: str) -> list[tuple[str, ...]]:
    rows = weir("show", query, "--output", "json").json
    return sorted(
        tuple(str(value) for name, value in row.items() if name != "weight") for row in rows
    )


@pytest.mark.parametrize("version", ["0.1.0"])
def test_a_complete_lake_of_an_earlier_version_needs_no_more_than_one_run(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    unpack(version, tmp_path, monkeypatch)
    before = {query: answer(weir, query) for query in AGAIN}
    assert weir("run", "--output", "json").code == 0
    assert modes(weir) == dict.fromkeys(AGAIN, "edited")
    assert {query: answer(weir, query) for query in AGAIN} == before
    called = weir("run", "--output", "json")
    assert called.code == 0
    assert [stage["stage"] for stage in called.json["stages"]] == ["ingest"]


@pytest.mark.parametrize("version", ["0.1.0"])
def test_a_lake_of_an_earlier_version_gets_tables_of_its_answers_and_no_more(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    unpack(version, tmp_path, monkeypatch)
    monkeypatch.setenv("WEIR_LIMITS__CURRENT_ROWS", "0")
    assert weir("run", "--output", "json").code == 0
    monkeypatch.setenv("WEIR_LIMITS__CURRENT_ROWS", "1000000")
    before = sorted(Path("lake").glob("answers/*/_delta_log/*.json"))
    assert weir("run", "--output", "json").code == 0
    assert sorted(Path("lake").glob("answers/*/_delta_log/*.json")) == before != []
    names = {folder.name for folder in Path("lake").glob("current/*")}
    assert names == {folder.name for folder in Path("lake").glob("answers/*")}
    called = weir("run", "--output", "json")
    assert called.code == 0
    assert [stage["stage"] for stage in called.json["stages"]] == ["ingest"]
    status = weir("status", "--output", "json").json["queries"]
    assert {row["state"] for row in status} == {"current"}


@pytest.mark.parametrize("version", ["0.1.0"])
def test_a_lake_of_an_earlier_version_is_maintained_incrementally(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    unpack(version, tmp_path, monkeypatch)
    assert weir("run", "--output", "json").code == 0
    before = Path("data/versions/002.ttl").read_text()
    after = before.replace('mask  :title "Bronze mask"@en', 'mask  :room "3" ; :title "Mask"@en')
    assert after != before
    Path("data/versions/003.ttl").write_text(after)
    called = weir("run", "--output", "json")
    assert (called.code, called.json["errors"]) == (0, [])
    assert modes(weir) == {
        "exhibits": "incremental",
        "labels": "incremental",
        "loans": "incremental",
        "lost": "untouched",
        "rooms": "incremental",
    }
    assert answer(weir, "exhibits") == [("Greek vase", "2"), ("Mask", "3"), ("Roman coin", "2")]
    assert answer(weir, "rooms") == [("2", "1"), ("3", "1")]


@pytest.mark.parametrize("version", ["0.1.0"])
def test_a_killed_run_of_an_earlier_version_is_completed(
    weir: Weir, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    unpack(f"{version}-killed", tmp_path, monkeypatch)
    called = weir("run", "--output", "json")
    assert (called.code, called.json["errors"]) == (0, [])
    epochs = weir("sql", "SELECT max(epoch) AS newest FROM transactions", "--output", "json").json
    assert epochs == [{"newest": KILLED_AT}]
    now = modes(weir)
    assert {query for query, mode in now.items() if mode == "edited"} == AGAIN
    assert {*now.values()} <= {"edited", "incremental", "untouched"}
    assert ("Roman coin", "http://example.org/rome") in answer(weir, "loans")
