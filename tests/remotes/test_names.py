"""What scheduling reads of remotes.yml."""

from __future__ import annotations

from pathlib import Path

import pytest

from weir.errors import ConfigurationError
from weir.remotes.declarations import load_remotes
from weir.remotes.names import DeclaredRemote, cron_of, declared_remotes
from weir.text.durations import parse_duration

REMOTES = """remotes:
  - name: wd
    iri: http://remote.example/sparql
    connection: wd_login
    contact: tests@example.org
  - name: geo
    iri: http://geo.example/sparql
    every: 90s
    contact: tests@example.org
"""


def file(folder: Path, text: str) -> Path:
    declaration = folder / "remotes.yml"
    declaration.write_text(text)
    return declaration


def test_names_and_times_are_those_of_the_whole_declaration(tmp_path: Path) -> None:
    declared = file(tmp_path, REMOTES)
    whole = load_remotes(declared).values()
    assert declared_remotes(declared) == tuple(
        DeclaredRemote(remote.name, remote.inbox, remote.every_us, remote.connection)
        for remote in whole
    )
    assert [remote.pool for remote in declared_remotes(declared)] == ["weir_wd", "weir_geo"]


def test_without_a_file_there_are_no_remotes(tmp_path: Path) -> None:
    assert declared_remotes(tmp_path / "remotes.yml") == ()


def test_what_scheduling_does_not_need_is_not_looked_at(tmp_path: Path) -> None:
    declared = file(tmp_path, REMOTES.replace("iri:", "colour:"))
    assert [remote.name for remote in declared_remotes(declared)] == ["wd", "geo"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("90s", None),
        ("soon", "8:5: remotes.1.every: it is not a duration such as PT10M or 10m"),
        ("PT0S", "8:5: remotes.1.every: `every` must be longer than 0"),
    ],
)
def test_a_wrong_time_is_an_error_with_its_place(
    tmp_path: Path, wrong: str, message: str | None
) -> None:
    declared = file(tmp_path, REMOTES.replace("90s", wrong))
    if message is None:
        assert declared_remotes(declared)[1].every_us == 90_000_000
        return
    for read in (declared_remotes, load_remotes):
        with pytest.raises(ConfigurationError) as error:
            read(declared)
        assert str(error.value) == f"{declared}:{message}"


def test_two_remotes_of_one_name_are_an_error_with_its_place(tmp_path: Path) -> None:
    declared = file(tmp_path, REMOTES.replace("geo", "wd"))
    with pytest.raises(ConfigurationError, match=r"remotes.yml:6:5: two remotes are named wd"):
        declared_remotes(declared)


@pytest.mark.parametrize(
    ("every", "cron"),
    [
        ("PT1S", "*/1 * * * *"),
        ("90s", "*/1 * * * *"),
        ("PT7M", "*/6 * * * *"),
        ("PT45M", "*/30 * * * *"),
        ("PT1H", "0 */1 * * *"),
        ("PT5H", "0 */4 * * *"),
        ("P2D", "0 0 * * *"),
    ],
)
def test_the_clock_comes_at_least_as_often_as_an_evaluation(every: str, cron: str) -> None:
    assert cron_of(parse_duration(every)) == cron
