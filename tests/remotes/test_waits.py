"""Until when a remote is left alone, and why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from weir.lake.instants import microseconds
from weir.remotes.declarations import Remote
from weir.remotes.http.outcomes import FailureKind
from weir.remotes.replica_inbox import PastAttempt, RoundMark
from weir.remotes.schedule import allowed_from, following
from weir.remotes.waits import Wait, not_before_of, wait_of

NOW = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def remote(**settings: Any) -> Remote:
    known = {"name": "wd", "iri": "http://remote.example/", "contact": "a@example.org"}
    return Remote.model_validate({**known, **settings})


def attempts(kind: FailureKind | None, count: int) -> list[PastAttempt]:
    return [PastAttempt(microseconds(NOW), kind) for _ in range(count)]


def test_a_wait_that_the_remote_asked_for_says_so() -> None:
    until = NOW + 7 * MINUTE
    expected = Wait(until, "the remote asked to wait until 12:07:00 UTC")
    assert wait_of(until, [], "", NOW) == expected


def test_a_wait_after_failures_says_how_many_and_the_last_reason() -> None:
    wait = wait_of(None, attempts("server_error", 6), "the server answered 500", NOW)
    assert wait == Wait(
        NOW + 10 * MINUTE,
        "6 requests in a row failed (last: the server answered 500);"
        " it is left alone until 12:10:00 UTC",
    )


def test_failures_beyond_those_remembered_are_counted_as_at_least_so_many() -> None:
    wait = wait_of(None, attempts("server_error", 32), "500", NOW)
    assert wait is not None
    assert wait.reason.startswith("at least 32 requests in a row failed")


def test_of_two_waits_the_longer_one_counts() -> None:
    failed = attempts("server_error", 5)
    for wait, expected in ((MINUTE, 5 * MINUTE), (9 * MINUTE, 9 * MINUTE)):
        longer = wait_of(NOW + wait, failed, "500", NOW)
        assert longer is not None
        assert longer.until == NOW + expected


def test_a_wait_that_is_over_is_none() -> None:
    assert wait_of(NOW - MINUTE, attempts("server_error", 5), "", NOW + 5 * MINUTE) is None


def test_what_the_project_refused_is_no_reason_to_wait() -> None:
    assert wait_of(None, attempts("url_refused", 20), "port 3030", NOW) is None


@pytest.mark.parametrize("change", [{"url": "http://other.example/"}, {"connection": "login"}])
def test_a_wait_ends_when_the_url_or_the_connection_is_edited(change: dict[str, Any]) -> None:
    row = {"not_before": microseconds(NOW), "address": remote().address}
    rows = RoundMark(1, 0, 0, 0, 0, freshness=(row,)).rows
    assert not_before_of(remote(warn_after="PT1H"), rows) == NOW
    assert not_before_of(remote(**change), rows) is None


def test_a_remote_is_asked_by_the_first_evaluation_after_a_wait() -> None:
    every_10_minutes = remote(every="PT10M")
    first = following(every_10_minutes, NOW)
    assert first == NOW + 10 * MINUTE
    assert allowed_from(every_10_minutes, first, None) == first
    assert allowed_from(every_10_minutes, first, NOW + 3 * MINUTE) == first
    assert allowed_from(every_10_minutes, first, NOW + 20 * MINUTE) == NOW + 20 * MINUTE
    assert allowed_from(every_10_minutes, first, NOW + 21 * MINUTE) == NOW + 30 * MINUTE
