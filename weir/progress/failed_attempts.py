"""Queries that exceeded a limit: what was tried, and when they are tried again.

If every run tried such a query, each would take as long as the limit allows. So it is tried again
only when there are new epochs and a minute has passed, then two, four, ... up to a day; but at once
if the query was edited or a limit changed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Self

_FIRST, _LONGEST = timedelta(minutes=1), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt to compute a query.

    Attributes:
        fingerprint: of the query.
        limits: the values of the limits of each query, by name.
        to_epoch: the newest epoch.
        at: when.
    """

    fingerprint: str
    limits: dict[str, Any]
    to_epoch: int
    at: datetime


@dataclass(frozen=True, slots=True)
class FailedAttempts:
    """A query that exceeded a limit whenever it was tried.

    Attributes:
        last: the last attempt.
        attempts: the number of attempts at the same text with the same limits.
        reason: which limit it was.
    """

    last: Attempt
    attempts: int
    reason: str

    @classmethod
    def after(cls, attempt: Attempt, reason: str, before: FailedAttempts | None) -> Self:
        """The query after one more attempt."""
        repeated = before is not None and before.is_of(attempt)
        return cls(attempt, before.attempts + 1 if before and repeated else 1, reason)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The inverse of `to_json`."""
        read = json.loads(text)
        at = datetime.fromisoformat(str(read["at"]))
        attempt = Attempt(read["fingerprint"], read["limits"], read["to_epoch"], at)
        return cls(attempt, read["attempts"], read["reason"])

    def to_json(self) -> str:
        """The attempts as a text for the ledger."""
        last = self.last
        return json.dumps(
            {
                "attempts": self.attempts,
                "at": last.at.isoformat(),
                "fingerprint": last.fingerprint,
                "limits": last.limits,
                "reason": self.reason,
                "to_epoch": last.to_epoch,
            }
        )

    @property
    def due(self) -> datetime:
        """When it is tried again, if there are new epochs."""
        doublings = min(self.attempts - 1, 20)
        interval: timedelta = min(_FIRST * (1 << doublings), _LONGEST)
        return self.last.at + interval

    def is_of(self, attempt: Attempt) -> bool:
        """Whether an attempt is at the same text with the same limits."""
        same = replace(attempt, at=self.last.at, to_epoch=self.last.to_epoch)
        return same == self.last

    def is_tried(self, attempt: Attempt) -> bool:
        """Whether an attempt is made now, not put off."""
        if not self.is_of(attempt):
            return True
        return attempt.to_epoch > self.last.to_epoch and attempt.at >= self.due

    def explained(self, name: str) -> str:
        """The reason, and when the query `name` is tried again."""
        due = self.due.astimezone(UTC)
        return (
            f"{self.reason.rstrip('.')}. It is tried again with new changes after"
            f" {due:%Y-%m-%d %H:%M} UTC, or by `weir run --retry {name}`."
        )
