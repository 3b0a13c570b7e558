"""The result of a check says what is wrong, as much of it as can be read."""

from __future__ import annotations

from weir.audit.checked import SHOWN, CheckOf

CHECK = CheckOf("is_right", "It is right.")


def test_a_failed_check_lists_each_finding_on_a_line_of_its_own() -> None:
    assert CHECK.result("quads", ["a", "b"]).detail == "a\nb"


def test_a_long_list_of_findings_is_cut_and_says_how_many_more_there_are() -> None:
    wrong = [f"file {number}" for number in range(SHOWN + 3)]
    assert CHECK.result("quads", wrong).detail.splitlines() == [*wrong[:SHOWN], "and 3 more"]


def test_examples_of_more_rows_say_how_many_more_there_are() -> None:
    assert CHECK.result("quads", ["a", "b"], 1002).detail == "a\nb\nand 1,000 more"


def test_a_check_without_findings_succeeds_and_says_nothing() -> None:
    result = CHECK.result("quads", [])
    assert (result.success, result.detail) == (True, "")
