"""When a remote may be asked again: pure functions over the attempts that were made.

Nothing here sleeps or sends. The caller reserves the budget of an attempt, makes it, and then asks
`after_failure` what comes next; attempts of earlier runs come from its table of requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import assert_never

from weir.remotes.http.outcomes import REFUSALS, Failure, FailureKind

LONGEST_PAUSE = timedelta(hours=1)
ANSWERS: frozenset[FailureKind | None] = frozenset({None, "too_many_bindings", "incomplete"})
"""How the requests end that a remote which works has answered."""


@dataclass(frozen=True, slots=True)
class RetryRules:
    """tries: of one request, the first included. first_wait: doubles with each try.

    failures: in a row, open the circuit. pause: of the circuit, doubles with each further failure
    up to an hour.
    """

    tries: int = 3
    first_wait: timedelta = timedelta(seconds=1)
    failures: int = 5
    pause: timedelta = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that was sent; failure None: it was answered."""

    at: datetime
    failure: FailureKind | None


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again after `wait`, if the budget has room for both."""

    wait: timedelta


@dataclass(frozen=True, slots=True)
class NotBefore:
    """The server asked to be left alone: nothing is sent to this remote before `at`."""

    at: datetime


@dataclass(frozen=True, slots=True)
class GiveUp:
    """The same request would fail again, or was tried often enough."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The project allows no request to this server, for `reason`: that holds for all of them."""

    reason: str


Decision = Retry | NotBefore | GiveUp | Refused


def after_failure(
    failure: Failure, tried: int, now: datetime, rules: RetryRules | None = None
) -> Decision:
    """What follows the failure of the `tried`-th try of a request (from 1)."""
    rules = rules or RetryRules()
    if failure.kind in REFUSALS:
        return Refused(failure.reason)
    if failure.retry_after is not None:
        return NotBefore(now + timedelta(seconds=failure.retry_after))
    if tried >= rules.tries or not is_transient(failure.kind):
        return GiveUp()
    return Retry(rules.first_wait * 2 ** (tried - 1))


def is_transient(kind: FailureKind) -> bool:
    """Whether the same request may succeed a moment later."""
    match kind:
        case (
            "name_unresolved"
            | "not_connected"
            | "connection_lost"
            | "deadline_passed"
            | "server_error"
            | "worker_failed"
        ):
            return True
        case (
            "url_refused"
            | "address_refused"
            | "secret_refused"
            | "tls_failed"
            | "too_many_bytes"
            | "head_too_large"
            | "too_much_decoded"
            | "too_many_bindings"
            | "too_much_memory"
            | "malformed_http"
            | "malformed_encoding"
            | "redirected"
            | "throttled"
            | "client_error"
            | "unusable_status"
            | "not_results"
            | "incomplete"
        ):
            return False
        case _:
            assert_never(kind)


def failed_in_a_row(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """The newest attempts, back to the last answer.

    attempts: oldest first. Those that the project refused do not count: they were not sent.
    An answer that is too long, or a part, is one of a remote that works.
    """
    sent = [each for each in attempts if each.failure not in REFUSALS]
    failed = takewhile(lambda each: each.failure not in ANSWERS, sent[::-1])
    return (*failed,)[::-1]


def open_until(attempts: Sequence[Attempt], rules: RetryRules | None = None) -> datetime | None:
    """Until when the circuit of a remote is open, None if it is closed.

    attempts: oldest first. After this time one attempt is made: its answer closes the circuit, its
    failure opens it for twice as long.
    """
    rules = rules or RetryRules()
    failed = failed_in_a_row(attempts)
    if len(failed) < rules.failures:
        return None
    doublings = min(len(failed) - rules.failures, 16)
    pause: timedelta = rules.pause * 2**doublings
    return failed[-1].at + min(pause, LONGEST_PAUSE)


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """Politeness: `burst` requests at once, then one per `interval`."""

    interval: timedelta
    burst: int = 1

    def __post_init__(self) -> None:
        if self.interval < timedelta() or self.burst < 1:
            raise ValueError(f"not a token bucket: {self}")

    def next_allowed(self, sent: Sequence[datetime], now: datetime) -> datetime:
        """When the next request may be sent, not before `now`.

        sent: times of earlier requests, in any order; a clock that stepped back delays by at most
        one refill of the bucket.
        """
        # The time at which the bucket is full again; a request takes one interval of it.
        full: datetime | None = None
        for moment in sorted(min(each, now) for each in sent):
            full = (moment if full is None else max(full, moment)) + self.interval
        return now if full is None else max(now, full - self.interval * (self.burst - 1))
