"""When a remote may be asked again: pure functions over attempts, and over what it asked for.

Nothing here sleeps or sends. The caller reserves the budget of an attempt, makes it, and then asks
`after_failure` what comes next; attempts of earlier runs come from its table of requests.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate
from itertools import takewhile
from typing import assert_never

from weir.remotes.http.outcomes import REFUSALS, Failure, FailureKind

LONGEST_PAUSE = timedelta(hours=1)
LONGEST_SECONDS = 3600.0
"""A server that asks for more gets one hour: a mistake there must not stop a remote for years."""
_MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_TIME = "[0-9]{2}:[0-9]{2}:[0-9]{2}"
_WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_HTTP_DATE = re.compile(
    rf"{_WEEKDAY}, [0-9]{{2}} {_MONTH} [0-9]{{4}} {_TIME} GMT"
    rf"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, [0-9]{{2}}-{_MONTH}-(?P<short>[0-9]{{2}})"
    rf" {_TIME} GMT"
    rf"|{_WEEKDAY} {_MONTH} (?:[0-9]{{2}}| [0-9]) {_TIME} [0-9]{{4}}"
)
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
    """No further request: it would fail again, or it was tried often enough."""


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
            | "interrupted"
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
    sent = [attempt for attempt in attempts if attempt.failure not in REFUSALS]
    failed = takewhile(lambda attempt: attempt.failure not in ANSWERS, sent[::-1])
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


def next_polite(last: datetime | None, pause: timedelta, now: datetime) -> datetime:
    """When the next request may be sent, a pause after the last one and not before `now`.

    A clock that stepped back delays by at most one pause.
    """
    return now if last is None else max(now, min(last, now) + pause)


def retry_after(value: str, now: datetime) -> float | None:
    """Seconds that a `Retry-After` header asks for, at most 3,600; None if it says nothing usable.

    https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
    """
    value = value.strip(" \t")
    if re.fullmatch(r"[0-9]+", value):
        return LONGEST_SECONDS if len(value) > 6 else min(float(value), LONGEST_SECONDS)
    moment = http_date(value, now)
    if moment is None:
        return None
    return min(max((moment - now).total_seconds(), 0.0), LONGEST_SECONDS)


def http_date(value: str, now: datetime) -> datetime | None:
    """A date in one of HTTP's three forms, in UTC; two digits of a year are at most 50 years ahead.

    `email.utils` reads more than these forms, and two digits by another rule.
    """
    form = _HTTP_DATE.fullmatch(value)
    parsed = parsedate(value) if form else None
    if form is None or parsed is None:
        return None
    year, month, day, hour, minute, second, *_ = parsed
    if form["short"]:
        year = now.year - now.year % 100 + year % 100
        year -= 100 if year > now.year + 50 else 0
    try:
        # 60 is a leap second.
        return datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except ValueError:
        return None
