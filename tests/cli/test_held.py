"""A query whose rows fail a check is held back by name; the others are published."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.projects.command_line import Weir
from weir.errors import EXIT_FAILED, EXIT_QUALITY, BusyError, QualityError
from weir.pipeline import StageRun, errors_of

pytestmark = pytest.mark.usefixtures("sampled")

FIRST, SECOND = Path("data/versions/001.ttl"), Path("data/versions/002.ttl")
LIMITED = Path("queries/limited.rq")
TITLES = "SELECT ?title { ?exhibit <http://example.org/title> ?title }"
REASON = "3 rows, max_rows is 1 (queries/limited.rq:2)"


@pytest.fixture(autouse=True)
def project(initialised: None) -> None:
    """A project with three queries, one of which has a limit below its rows, and no Spark."""
    del initialised
    Path("queries/titles.rq").write_text(TITLES)
    limit(1)


def limit(rows: int) -> None:
    """Register the query with this limit in its second line."""
    LIMITED.write_text(f"#+ description: Few.\n#+ max_rows: {rows}\n{TITLES}")


def test_a_run_says_how_many_were_published_and_which_one_was_held_back_why(weir: Weir) -> None:
    called = weir("run")
    assert called.code == EXIT_QUALITY
    assert "2 published, 1 held back; 5 rows appended" in called.out
    assert called.err.startswith("error: 1 answer held back:\n")
    assert "  limited: row_count_is_within_max_rows: " + REASON in called.err
    assert called.err.count(REASON) == 1
    assert weir("show", "titles").code == 0


def test_json_output_has_each_query_and_why_it_is_held_back(weir: Weir) -> None:
    by_query = {row["query"]: row for row in weir("run", "--output", "json").json["queries"]}
    assert {name: row["mode"] for name, row in by_query.items()} == {
        "exhibits": "initial",
        "titles": "initial",
        "limited": "held",
    }
    assert REASON in by_query["limited"]["reason"]
    assert by_query["titles"]["reason"] is None


def test_another_failure_decides_on_the_exit_code_and_the_held_query_is_named(weir: Weir) -> None:
    Path("queries/broken.rq").write_text("SELECT")
    called = weir("run")
    assert called.code == EXIT_FAILED
    assert "broken.rq" in called.err
    assert REASON in called.err
    assert "2 published, 1 held back" in called.out


def test_held_rows_are_shown_on_request(weir: Weir) -> None:
    weir("run")
    called = weir("show", "--held", "limited", "--output", "json")
    assert (called.code, {row["title"] for row in called.json}) == (
        0,
        {"Greek vase", "Roman coin", "Bronze mask"},
    )
    assert {row["weight"] for row in called.json} == {1}
    assert REASON in weir("show", "--held", "limited").out


def test_held_rows_without_variables_are_shown(weir: Weir) -> None:
    Path("queries/twice.rq").write_text("#+ max_rows: 1\nSELECT * { {} UNION {} }")
    weir("run")
    assert weir("show", "--held", "twice", "--output", "json").json == [{"weight": 2}]


def test_a_query_without_held_rows_has_none_to_show(weir: Weir) -> None:
    weir("run")
    called = weir("show", "--held", "titles")
    assert (called.code, called.out) == (2, "")
    assert "no rows of titles are held back" in called.err


def test_the_answer_of_a_held_query_is_missing_for_its_reason(weir: Weir) -> None:
    weir("run")
    called = weir("show", "limited")
    assert called.code == EXIT_QUALITY
    assert REASON in called.err
    assert "weir show --held limited" in called.err
    assert "weir run" not in called.err


def test_a_raised_limit_publishes_without_new_changes(weir: Weir) -> None:
    weir("run")
    limit(3)
    called = weir("run")
    assert called.code == 0
    assert "1 published; 3 rows appended" in called.out


def test_a_lowered_limit_is_checked_by_the_next_run_without_new_changes(weir: Weir) -> None:
    limit(3)
    assert weir("run").code == 0
    limit(2)
    for _ in range(2):
        called = weir("run")
        assert called.code == EXIT_QUALITY
        assert "3 rows, max_rows is 2 (queries/limited.rq:2)" in called.err
    (status,) = (
        r for r in weir("status", "--output", "json").json["queries"] if r["query"] == "limited"
    )
    assert status["state"] == "held"
    assert "3 rows, max_rows is 2 (queries/limited.rq:2)" in status["reason"]
    failed = weir("sql", "SELECT * FROM quality WHERE NOT success", "--output", "json").json
    assert [row["query"] for row in failed] == ["limited", "limited"]
    limit(3)
    assert weir("run").code == 0


def test_an_answer_above_a_lowered_limit_is_named_beside_one_that_failed_its_check(
    weir: Weir,
) -> None:
    limit(3)
    assert weir("run").code == 0
    limit(2)
    Path("queries/titles.rq").write_text(f"#+ max_rows: 1\n{TITLES}")
    Path("queries/few.rq").write_text(f"#+ max_rows: 1\n{TITLES}")
    called = weir("run", "--output", "json")
    assert called.code == EXIT_QUALITY
    (error,) = called.json["errors"]
    assert "3 answers held back" in error
    for name, line in (("limited", 2), ("titles", 1), ("few", 1)):
        assert f"(queries/{name}.rq:{line})" in error
    assert {row["query"] for row in called.json["queries"] if row["mode"] == "held"} == {
        "limited",
        "titles",
        "few",
    }


def test_a_failed_check_is_reported_if_publishing_fails_as_a_whole() -> None:
    check, busy = QualityError("checks failed"), BusyError("another run publishes")
    done = [StageRun("validate", 0, None, (check,)), StageRun("publish", 0, None, (busy,))]
    assert errors_of(done) == [check, busy]
