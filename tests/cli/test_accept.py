"""`--accept` takes in what a guard stopped, and says so if there was nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from weir.errors import EXIT_QUALITY, EXIT_USAGE

pytestmark = pytest.mark.usefixtures("initialised")

NOTHING = "museum: nothing was stopped, so nothing was accepted"


@pytest.mark.parametrize("command", ["run", "ingest"])
def test_nothing_is_accepted_of_a_source_that_is_not_stopped(weir: Weir, command: str) -> None:
    called = weir(command, "--accept", "museum")
    assert called.code == 0
    assert NOTHING in called.out.splitlines()


def test_json_output_warns_that_nothing_was_accepted(weir: Weir) -> None:
    called = weir("ingest", "--accept", "museum", "--output", "json")
    assert called.json["warnings"] == [NOTHING]


def test_accepting_a_stopped_source_ingests_its_change_set(weir: Weir) -> None:
    weir("ingest")
    Path("data/versions/003.ttl").write_text("")
    assert weir("ingest").code == EXIT_QUALITY
    called = weir("ingest", "--accept", "museum")
    assert called.code == 0
    assert "nothing was accepted" not in called.out
    assert "1 epoch" in called.out


def test_accepting_a_stopped_source_that_has_the_name_of_a_query_says_nothing_else(
    weir: Weir,
) -> None:
    Path("queries/exhibits.rq").rename("queries/museum.rq")
    weir("run")
    Path("data/versions/003.ttl").write_text("")
    assert weir("ingest").code == EXIT_QUALITY
    called = weir("run", "--accept", "museum")
    assert "nothing was accepted" not in called.out
    assert "1 epoch" in called.out


def test_accepting_an_undeclared_source_is_an_error_without_the_warning(weir: Weir) -> None:
    called = weir("ingest", "--accept", "nowhere")
    assert called.code == EXIT_USAGE
    assert "nothing was accepted" not in called.out


def test_nothing_is_accepted_of_a_query_whose_answer_is_not_held(weir: Weir) -> None:
    called = weir("run", "--accept", "exhibits")
    assert called.code == 0
    assert "exhibits: nothing was stopped, so nothing was accepted" in called.out.splitlines()


def test_an_answer_that_no_guard_holds_is_said_not_to_be_accepted(weir: Weir) -> None:
    Path("expectations").mkdir(exist_ok=True)
    Path("expectations/exhibits.yml").write_text(
        "answers: exhibits\nexpectations:\n  - type: expect_table_row_count_to_be_between\n"
        "    kwargs: {max_value: 0}\n"
    )
    assert weir("run").code == EXIT_QUALITY
    called = weir("run", "--accept", "exhibits")
    assert called.code == EXIT_QUALITY
    assert "exhibits is not accepted: only what its guards" in called.err + called.out


def test_accepting_the_held_answer_of_a_query_publishes_it(weir: Weir) -> None:
    Path("queries/exhibits.rq").write_text(
        "#+ min_rows: 9\n" + Path("queries/exhibits.rq").read_text()
    )
    held = weir("run")
    assert held.code == EXIT_QUALITY
    assert "min_rows is 9 (queries/exhibits.rq:1)" in held.err
    assert "`weir run --accept exhibits`" in held.err
    called = weir("run", "--accept", "exhibits")
    assert (called.code, called.err) == (0, "")
    assert "1 published" in called.out
