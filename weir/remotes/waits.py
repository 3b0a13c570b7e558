"""Until when a remote must not be asked, and why (pure).

What a remote asked for, and how its requests failed, holds for the URL and the connection by which
it was asked: once one of them is edited, it is asked as if for the first time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from weir.lake.instants import time_at
from weir.remotes.http.retries import Attempt, failed_in_a_row, open_until
from weir.remotes.kept import Kept
from weir.remotes.replica_inbox import ATTEMPTS, PastAttempt


@dataclass(frozen=True, slots=True)
class Wait:
    """until: when the remote may be asked again. reason: why not before."""

    until: datetime
    reason: str


def is_address_of(remote: Kept, address: str | None) -> bool:
    """Whether a remote is asked by the URL and the connection that it was asked by before.

    Args:
        remote: as declared.
        address: what stood for them; null or empty if an earlier version of Weir asked.
    """
    return not address or address == remote.address


def not_before_of(remote: Kept, rows: Iterable[Mapping[str, Any]]) -> datetime | None:
    """When a remote may be asked again after a round; None if it may be at any time.

    Args:
        remote: as declared.
        rows: of `freshness`, of the round.
    """
    times = (row["not_before"] for row in rows if is_address_of(remote, row.get("address")))
    return max((time for time in times if time is not None), default=None)


def wait_of(
    asked_until: datetime | None, attempts: Sequence[PastAttempt], failure: str, now: datetime
) -> Wait | None:
    """Until when a remote must not be asked, and why; None if it may be asked.

    Args:
        asked_until: until when it asked to be left alone, None if it did not.
        attempts: the last requests, the oldest first.
        failure: why the newest of those failed that did.
        now: the time.
    """
    known = [Attempt(time_at(past.at), past.failure) for past in attempts if past.is_known]
    waits = []
    if asked_until is not None:
        waits.append(Wait(asked_until, f"the remote asked to wait until {_clock(asked_until)}"))
    until = open_until(known)
    if until is not None:
        failed = len(failed_in_a_row(known))
        number = f"{failed}" if failed < ATTEMPTS else f"at least {failed}"
        reason = (
            f"{number} requests in a row failed (last: {failure or known[-1].failure});"
            f" it is left alone until {_clock(until)}"
        )
        waits.append(Wait(until, reason))
    later = [wait for wait in waits if wait.until > now]
    return max(later, key=lambda wait: wait.until, default=None)


def _clock(time: datetime) -> str:
    return f"{time:%H:%M:%S} UTC"
