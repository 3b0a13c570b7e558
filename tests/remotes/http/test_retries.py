"""When a remote is asked again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weir.remotes.http.outcomes import FAILURE_KINDS, REFUSALS, Failure, FailureKind
from weir.remotes.http.retries import (
    Attempt,
    GiveUp,
    NotBefore,
    Refused,
    Retry,
    RetryRules,
    after_failure,
    is_transient,
    next_polite,
    open_until,
)

NOW = datetime(2026, 11, 23, 12, 0, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
TRANSIENT: tuple[FailureKind, ...] = tuple(kind for kind in FAILURE_KINDS if is_transient(kind))
HISTORIES = st.lists(st.none() | st.sampled_from(FAILURE_KINDS), max_size=20)


def attempts(kinds: list[FailureKind | None]) -> list[Attempt]:
    return [Attempt(NOW + number * SECOND, kind) for number, kind in enumerate(kinds)]


@pytest.mark.parametrize("kind", TRANSIENT)
def test_a_transient_failure_is_tried_three_times_with_growing_waits(kind: FailureKind) -> None:
    decisions = [after_failure(Failure(kind, ""), tried, NOW) for tried in (1, 2, 3)]
    assert decisions == [Retry(SECOND), Retry(2 * SECOND), GiveUp()]


@pytest.mark.parametrize("kind", sorted({*FAILURE_KINDS} - {*TRANSIENT} - REFUSALS))
def test_a_failure_that_is_not_transient_is_not_tried_again(kind: FailureKind) -> None:
    assert after_failure(Failure(kind, ""), 1, NOW) == GiveUp()


@pytest.mark.parametrize("kind", sorted(REFUSALS))
def test_what_the_project_does_not_allow_ends_the_evaluation(kind: FailureKind) -> None:
    assert after_failure(Failure(kind, "no"), 1, NOW) == Refused("no")


def test_statuses_of_4xx_are_never_tried_again() -> None:
    assert not {"client_error", "throttled", "redirected"} & set(TRANSIENT)


@given(st.floats(0, 3600), st.integers(1, 5))
def test_retry_after_moves_the_remote_and_is_no_retry(seconds: float, tried: int) -> None:
    failure = Failure("throttled", "", 503, seconds)
    assert after_failure(failure, tried, NOW) == NotBefore(NOW + timedelta(seconds=seconds))


@given(HISTORIES)
def test_the_circuit_is_open_exactly_after_five_failures_in_a_row(
    kinds: list[FailureKind | None],
) -> None:
    last = [kind for kind in kinds if kind not in REFUSALS][-5:]
    broken = len(last) == 5 and not {None, "too_many_bindings", "incomplete"} & set(last)
    assert (open_until(attempts(kinds)) is not None) == broken


@given(HISTORIES, st.lists(st.sampled_from(sorted(REFUSALS)), max_size=8))
def test_requests_that_were_not_sent_do_not_count_as_failures(
    kinds: list[FailureKind | None], refused: list[FailureKind]
) -> None:
    assert open_until(attempts([*kinds, *refused])) == open_until(attempts(kinds))


@given(HISTORIES)
def test_an_answer_closes_the_circuit(kinds: list[FailureKind | None]) -> None:
    assert open_until(attempts([*kinds, None])) is None


def test_each_further_failure_doubles_the_pause_up_to_an_hour() -> None:
    pauses = []
    for count in range(5, 30):
        history = attempts(["not_connected"] * count)
        until = open_until(history)
        assert until is not None
        pauses.append((until - history[-1].at) / timedelta(minutes=1))
    assert pauses == [5, 10, 20, 40] + [60] * 21


def test_stricter_rules_give_up_and_open_the_circuit_sooner() -> None:
    rules = RetryRules(tries=1, failures=1)
    assert after_failure(Failure("not_connected", ""), 1, NOW, rules) == GiveUp()
    assert open_until(attempts(["server_error"]), rules)


@given(st.lists(st.integers(0, 60_000), min_size=1, max_size=40), st.integers(1, 5_000))
def test_polite_requests_are_a_pause_apart(wished: list[int], pause: int) -> None:
    sent: list[datetime] = []
    clock = NOW
    for wish in sorted(wished):
        clock = max(clock, NOW + timedelta(milliseconds=wish))
        clock = next_polite(sent[-1] if sent else None, timedelta(milliseconds=pause), clock)
        sent.append(clock)
    assert all(after - before >= timedelta(milliseconds=pause) for before, after in pairwise(sent))


@given(st.integers(-100, 100), st.integers(1, 20))
def test_a_request_goes_at_once_when_the_pause_is_over(seconds: int, pause: int) -> None:
    last = NOW + seconds * SECOND
    later = max(NOW, last) + pause * SECOND
    assert next_polite(last, pause * SECOND, later) == later


def test_a_clock_that_stepped_back_delays_by_one_pause() -> None:
    assert next_polite(NOW + timedelta(days=1), 10 * SECOND, NOW) == NOW + 10 * SECOND


def test_a_remote_without_a_pause_is_asked_at_once() -> None:
    assert next_polite(NOW, timedelta(), NOW) == NOW
