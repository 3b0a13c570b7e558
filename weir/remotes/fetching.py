"""Requests to a remote: politely, within what was reserved, in a child process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from weir.remotes.asking import Fetched
from weir.remotes.budget import Amount
from weir.remotes.declarations import Remote
from weir.remotes.http.isolated import GRACE_SECONDS, fetch_solutions
from weir.remotes.http.outcomes import Failure
from weir.remotes.http.request import FetchLimits, Secret, query_request
from weir.remotes.http.retries import next_polite
from weir.text.durations import parse_duration

_OVERHEAD = GRACE_SECONDS + 0.15
"""Seconds of a request that are not its child's: it may report a little after its deadline."""


def utc_now() -> datetime:
    """The time."""
    return datetime.now(UTC)


def sleep_for(wait: timedelta) -> None:
    """Wait."""
    time.sleep(max(wait.total_seconds(), 0.0))


def manner_of(remote: Remote, authorization: Secret | None, ca_file: str) -> dict[str, Any]:
    """How all requests to a remote are made: fields of `FetchRequest`."""
    return {
        "contact": remote.contact,
        "allow": remote.allow,
        "ports": remote.ports,
        "authorization": authorization,
        "ca_file": ca_file,
    }


@dataclass(slots=True)
class Fetcher:
    """Sends the requests of an evaluation (`weir.remotes.asking.Fetch`).

    Attributes:
        remote: who is asked.
        authorization: the header, None without one.
        sent: when earlier requests were sent.
        clock: the time.
        sleep: waits.
        ca_file: certificates of the authorities to trust in place of the public ones.
    """

    remote: Remote
    authorization: Secret | None = None
    sent: list[datetime] = field(default_factory=list)
    clock: Callable[[], datetime] = utc_now
    sleep: Callable[[timedelta], None] = sleep_for
    ca_file: str = ""

    def __call__(self, text: str, most: Amount, bindings: int) -> Fetched:
        """Send a query when the remote may be asked."""
        self._wait()
        request = query_request(
            self.remote.url or self.remote.iri,
            text,
            limits=FetchLimits(
                bytes=most.bytes,
                seconds=max(most.seconds - _OVERHEAD, 0.1),
                bindings=bindings,
            ),
            **manner_of(self.remote, self.authorization, self.ca_file),
        )
        started_at = self.clock()
        self.sent.append(started_at)
        outcome, usage = fetch_solutions(request)
        result: Sequence[dict[str, str]] | Failure
        result = outcome if isinstance(outcome, Failure) else outcome.value.solutions
        took = Amount(1, most.keys, usage.bytes, usage.seconds)
        return Fetched(result, took, started_at, request.method, usage.peer)

    def _wait(self) -> None:
        pause = timedelta(microseconds=parse_duration(self.remote.pause))
        now = self.clock()
        last = self.sent[-1] if self.sent else None
        self.sleep(next_polite(last, pause, now) - now)
