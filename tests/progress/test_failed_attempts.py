"""When a query that took more than a limit is tried again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count, islice

import pytest

from weir.progress.failed_attempts import Attempt, FailedAttempts

START = datetime(2026, 1, 1, tzinfo=UTC)
FIRST = Attempt("f", {"query_seconds": 1}, 1, START)


def attempts_at_every_minute() -> Iterator[int]:
    """The minutes at which a query is tried that always fails; every minute there is an epoch."""
    failed = FailedAttempts.after(FIRST, "it takes long", None)
    for minute in count(1):
        attempt = Attempt("f", FIRST.limits, 1 + minute, START + timedelta(minutes=minute))
        if failed.is_tried(attempt):
            failed = FailedAttempts.after(attempt, "it takes long", failed)
            yield minute


def test_the_intervals_between_attempts_double() -> None:
    assert [*islice(attempts_at_every_minute(), 6)] == [1, 3, 7, 15, 31, 63]


def test_no_interval_is_longer_than_a_day() -> None:
    minutes = [*islice(attempts_at_every_minute(), 14)]
    assert minutes[-1] - minutes[-2] == 24 * 60


def test_a_failed_query_is_not_tried_again_without_new_epochs() -> None:
    failed = FailedAttempts.after(FIRST, "it takes long", None)
    later = Attempt("f", FIRST.limits, 1, START + timedelta(days=9))
    assert not failed.is_tried(later)


@pytest.mark.parametrize(
    "attempt",
    [Attempt("g", FIRST.limits, 1, START), Attempt("f", {"query_seconds": 2}, 1, START)],
    ids=["text", "limit"],
)
def test_an_edited_query_or_limit_is_tried_at_once_and_counts_from_one(attempt: Attempt) -> None:
    failed = FailedAttempts.after(
        FIRST, "it takes long", FailedAttempts.after(FIRST, "it takes long", None)
    )
    assert failed.is_tried(attempt)
    assert FailedAttempts.after(attempt, "it takes long", failed).attempts == 1


def test_failed_attempts_are_read_back_from_json_unchanged() -> None:
    failed = FailedAttempts.after(FIRST, "it takes long", None)
    assert FailedAttempts.from_json(failed.to_json()) == failed
