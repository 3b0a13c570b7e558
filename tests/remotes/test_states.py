"""The state of a pattern, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from weir.remotes.declarations import Remote
from weir.remotes.states import Missed, PatternState, assess, severity

FAILED = Missed(failed=40, failure="the server answered 500: no disk")


def remote(**settings: Any) -> Remote:
    return Remote(name="wd", iri="http://remote.example/", contact="a@example.org", **settings)


def aged(**changes: Any) -> PatternState:
    """Answers of a minute, but for some changes."""
    known: dict[str, Any] = {"candidates": 40, "never_asked": 0, "oldest": 60.0}
    return PatternState("p", **{**known, **changes})


def test_answers_that_are_young_enough_are_fresh() -> None:
    assert assess(remote(), aged()) == ("fresh", "")


def test_a_failure_is_a_warning_with_its_reason() -> None:
    state, reason = assess(remote(), aged(missed=FAILED))
    assert (state, reason) == ("warn", "40 keys failed: the server answered 500: no disk")


def test_a_failure_is_said_beside_keys_that_were_never_answered() -> None:
    _, reason = assess(remote(), aged(never_asked=1, missed=FAILED))
    assert reason.startswith("40 keys failed: ")
    assert reason.endswith("; 1 key was never answered")


def test_keys_that_are_too_large_are_a_warning_that_says_what_to_do() -> None:
    state, reason = assess(remote(max_rows=7), aged(missed=Missed(too_large=1)))
    assert state == "warn"
    assert reason.startswith("1 key had more mappings than `max_rows` (7)")
    assert "raise it" in reason


def test_suspect_keys_are_a_warning_that_says_what_comes_next() -> None:
    state, reason = assess(remote(), aged(missed=Missed(suspect=12)))
    assert state == "warn"
    assert reason.startswith("12 keys came back empty at once")


def test_a_remote_that_waits_says_that_its_answers_are_old_too() -> None:
    limits = remote(warn_after="PT1M")
    state, reason = assess(limits, aged(oldest=120.0), "it must wait")
    assert state == "backing_off"
    assert reason == "it must wait; the oldest answer is 2m old; `warn_after` is PT1M"


def test_an_error_says_why_nothing_is_done_about_it() -> None:
    limits = remote(warn_after="PT1M", error_after="PT2M")
    state, reason = assess(limits, aged(oldest=180.0), "it must wait")
    assert state == "error"
    assert reason == "the oldest answer is 3m old; `error_after` is PT2M; it must wait"


@pytest.mark.parametrize("missed", [Missed(failed=2), Missed(too_large=1, suspect=1)])
def test_of_two_patterns_in_a_state_the_one_with_more_missed_keys_is_shown(missed: Missed) -> None:
    assert severity("warn", missed) > severity("warn", Missed(failed=1))
    assert severity("backing_off", Missed()) > severity("warn", missed)


def test_keys_that_failed_are_counted_beside_those_that_were_not_asked_for() -> None:
    missed = Missed(failed=3, refused=2, failure="port 3030 is not allowed")
    assert [*missed.reasons(remote().words)] == [
        "2 keys not asked for: port 3030 is not allowed",
        "3 keys failed",
    ]
