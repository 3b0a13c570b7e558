"""What channels were notified of, and what could not be delivered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Self

from weir.lake.lake import Lake
from weir.lake.tables import NOTIFICATIONS

BEGUN: Final = "begun"
"""The status of a row that says from where on a channel is notified of an answer."""
DUE: Final = "due"
"""The status of a row of a message that is to be delivered: an answer that it is about."""
DELIVERED: Final = "delivered"
FAILED: Final = "failed"
_FIRST_WAIT, _LONGEST_WAIT = timedelta(seconds=10), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Message:
    """A message that was recorded.

    Attributes:
        id: the same at each attempt.
        channel: to which it goes.
        spans: query, table_id, after, until: the commits of answer tables that it is about.
        recorded_at: when it was recorded.
    """

    id: str
    channel: str
    spans: tuple[tuple[str, str, int, int], ...]
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A message that could not be delivered.

    Attributes:
        channel: to which it goes.
        since: when it was first recorded.
        attempts: how often its delivery failed.
        reason: why it failed last; None before the first attempt.
    """

    channel: str
    since: datetime
    attempts: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class Notifications:
    """What is known of notifications.

    Attributes:
        notified: by channel and query, the id and version of the answer table up to which a message
            exists.
        waiting: the messages that are not delivered, oldest first.
        failures: by message id, the attempts that failed: when, why.
    """

    notified: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    waiting: tuple[Message, ...] = ()
    failures: dict[str, list[tuple[datetime, str]]] = field(default_factory=dict)

    @classmethod
    def read(cls, lake: Lake) -> Self:
        """What the table of a lake says; nothing if there is none."""
        if not lake.exists(NOTIFICATIONS.name):
            return cls()
        columns = [column.name for column in NOTIFICATIONS.columns if column.name != "run_id"]
        rows = lake.rows(NOTIFICATIONS.name, columns).sort_by("recorded_at").to_pylist()
        notified: dict[tuple[str, str], tuple[str, int]] = {}
        spans: defaultdict[str, list[tuple[str, str, int, int]]] = defaultdict(list)
        about: dict[str, tuple[str, datetime]] = {}
        failures: defaultdict[str, list[tuple[datetime, str]]] = defaultdict(list)
        delivered: set[str] = set()
        for row in rows:
            match row["status"]:
                case "begun" | "due":
                    key = row["channel"], row["query"]
                    notified[key] = row["table_id"], row["to_version"]
                    if row["status"] == DUE:
                        span = row["query"], row["table_id"], row["from_version"], row["to_version"]
                        spans[row["message"]].append(span)
                        about[row["message"]] = row["channel"], row["recorded_at"]
                case "delivered":
                    delivered.add(row["message"])
                case _:
                    failures[row["message"]].append((row["recorded_at"], row["reason"] or ""))
        waiting = tuple(
            Message(message, channel, tuple(spans[message]), at)
            for message, (channel, at) in about.items()
            if message not in delivered
        )
        return cls(notified, waiting, dict(failures))

    def is_due(self, message: Message, now: datetime) -> bool:
        """Whether a process that runs again and again delivers a message now.

        After each failure it waits twice as long, up to an hour.
        """
        failed = self.failures.get(message.id, [])
        if not failed:
            return True
        wait = min(_FIRST_WAIT * 2 ** min(len(failed) - 1, 10), _LONGEST_WAIT)
        ready: bool = now >= failed[-1][0] + wait
        return ready

    def undelivered(self) -> Iterator[Undelivered]:
        """The messages that wait for delivery."""
        for message in self.waiting:
            failed = self.failures.get(message.id, [])
            reason = failed[-1][1] if failed else None
            yield Undelivered(message.channel, message.recorded_at, len(failed), reason)
