"""The result of a check says what is wrong, as much of it as can be read."""

from __future__ import annotations

from jobs.audit.checked import SHOWN, CheckOf

CHECK = CheckOf("is_right", "It is right.")


def test_what_is_wrong_is_said_in_lines() -> None:
    assert CHECK.result("quads", ["a", "b"]).found == "a\nb"


def test_of_much_that_is_wrong_the_first_is_said_and_how_much_more_there_is() -> None:
    wrong = [f"file {number}" for number in range(SHOWN + 3)]
    assert CHECK.result("quads", wrong).found.splitlines() == [*wrong[:SHOWN], "and 3 more"]


def test_examples_of_more_rows_say_how_many_more_there_are() -> None:
    assert CHECK.result("quads", ["a", "b"], 1002).found == "a\nb\nand 1,000 more"


def test_nothing_is_said_if_nothing_is_wrong() -> None:
    result = CHECK.result("quads", [])
    assert (result.success, result.found) == (True, "")
