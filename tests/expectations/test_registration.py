"""Great Expectations has a result per expectation, all of them from one statement per frame."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from tests.expectations.conftest import Held
from tests.support.checks import quick_checks
from tests.support.generators.suite_rows import table
from weir.expectations.answers import ANSWERS_SUITE
from weir.expectations.embeddings import EMBEDDINGS_SUITE
from weir.expectations.run import Check, library, run_checks, validations
from weir.expectations.statement import unexpected_rows
from weir.expectations.suite import Expectation, Suite

SUITES = (EMBEDDINGS_SUITE, ANSWERS_SUITE)


def change(**changes: Any) -> dict[str, Any]:
    """A row with the columns of both suites that meets every expectation."""
    return {
        "scope": "q",
        "node": "answer",
        "terms": ["<http://a/s>"],
        "epoch": 5,
        "weight": 1,
        "at_epoch": 1,
        "multiplicity": 1,
        "from_epoch": 4,
        "to_epoch": 6,
        "form": "select",
        "is_set": False,
        "max_rows": None,
        "min_rows": None,
        "max_change": None,
        "rows_at": None,
        "rows_published": 0,
        "rows_deleted": None,
        "is_total": False,
    } | changes


def results(held: Held, rows: Sequence[dict[str, Any]]) -> list[Any]:
    """The results of the validation, as dictionaries."""
    (validation,) = validations([Check(SUITES, held(table(SUITES, rows)), ("q", "r"))])
    return [result.to_json_dict() for result in validation.results]


def test_a_validation_has_a_result_per_expectation_under_its_name(held: Held) -> None:
    validated = results(held, [change()])
    expected = {(s.name, e.name, e.sentence) for s in SUITES for e in s.expectations}
    listed = [
        (config["kwargs"]["suite"], config["type"], config["description"])
        for config in (result["expectation_config"] for result in validated)
    ]
    assert len(listed) == len(expected)
    assert set(listed) == expected
    assert all(result["success"] for result in validated)


def test_a_failed_expectation_has_its_count_examples_and_scopes(held: Held) -> None:
    validated = results(
        held,
        [
            change(weight=0, epoch=5),
            change(weight=0, epoch=6),
            change(weight=0, scope="r"),
            change(),
        ],
    )
    (failed,) = (result for result in validated if not result["success"])
    assert failed["expectation_config"]["type"] == "weight_is_not_zero"
    assert failed["result"]["unexpected_count"] == 3
    assert ['"epoch":5' in text for text in failed["result"]["partial_unexpected_list"]] == [
        True,
        False,
    ]
    scopes = {
        (row["scope"], row["unexpected_rows"]) for row in failed["result"]["details"]["scopes"]
    }
    assert scopes == {("q", 2), ("r", 1)}


def test_all_expectations_of_a_frame_are_one_statement(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    library()
    statements = []

    def counted(*arguments: Any) -> str:
        statements.append(arguments)
        return unexpected_rows(*arguments)

    monkeypatch.setattr("weir.expectations.registration.unexpected_rows", counted)
    assert len(results(held, [change(), change(weight=0)])) > 1
    assert len(statements) == 1


def test_a_check_by_its_statement_alone_gives_the_results_of_the_library() -> None:
    wrong = [change(weight=0, epoch=5), change(weight=0, epoch=6), change(weight=0, scope="r")]
    rows = table(SUITES, [*wrong, change(epoch=9, scope="r"), change()])
    check = Check(SUITES, rows, ("q", "r"))
    expected = run_checks([check])
    with quick_checks():
        assert run_checks([check]) == expected
    assert {result.success for result in expected} == {True, False}


def test_a_check_that_fails_by_its_statement_alone_has_the_message_of_the_library() -> None:
    never = Suite("never", ("a",), ("a",), (Expectation("fails", "B.", "b = 1"),))
    check = Check((never,), pa.table({"scope": [""], "a": [1]}))
    with pytest.raises(RuntimeError) as expected:
        run_checks([check])
    with quick_checks(), pytest.raises(RuntimeError, match=re.escape(str(expected.value))):
        run_checks([check])


def test_two_suites_of_the_same_name_are_refused() -> None:
    library()
    from weir.expectations.registration import register

    one, other = (
        Suite("one", ("a",), ("a",), (Expectation("a", "A.", holds),))
        for holds in ("a = 1", "a = 2")
    )
    register([one])
    with pytest.raises(ValueError, match="two suites have the same name: one"):
        register([other])


def test_a_row_of_which_it_is_not_known_whether_it_is_checked_is_checked(held: Held) -> None:
    rows = held(table([EMBEDDINGS_SUITE], [change(is_total=None, epoch=9)]))
    (validation,) = validations([Check((EMBEDDINGS_SUITE,), rows, ("q",))])
    assert not validation.success
