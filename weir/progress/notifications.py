"""What channels were notified of, and what could not be delivered."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Self

from weir.lake.lake import Lake
from weir.lake.tables import NOTIFICATIONS
from weir.progress.answer_commits import AnswerCommits
from weir.progress.watermarks import Watermark

BEGUN: Final = "begun"
"""The status of a row that says from where on a channel is notified of an answer."""
DUE: Final = "due"
"""The status of a row of a message that is to be delivered: an answer that it is about."""
DELIVERED: Final = "delivered"
FAILED: Final = "failed"
_FIRST_WAIT, _LONGEST_WAIT = timedelta(seconds=10), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Notified:
    """Up to which commit of an answer a channel was notified, or a message waits.

    Attributes:
        table_id: of the answer table.
        version: of the commit.
        published_by: the run that made it.
    """

    table_id: str
    version: int
    published_by: str

    def is_of(self, published: Watermark) -> bool:
        """Whether it is the newest commit that was published."""
        now = published.version, published.metadata.run_id
        return (self.version, self.published_by) == now


@dataclass(frozen=True, slots=True)
class Message:
    """A message that was recorded.

    Attributes:
        id: the same at each attempt.
        channel: to which it goes.
        about: the commits of answers that it is about.
        recorded_at: when it was recorded.
    """

    id: str
    channel: str
    about: tuple[AnswerCommits, ...]
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
        notified: by channel and query.
        waiting: the messages that are not delivered, oldest first.
        failures: by message id, the attempts that failed: when, why.
    """

    notified: dict[tuple[str, str], Notified] = field(default_factory=dict)
    waiting: tuple[Message, ...] = ()
    failures: dict[str, list[tuple[datetime, str]]] = field(default_factory=dict)

    @classmethod
    def read(cls, lake: Lake) -> Self:
        """What the table of a lake says; nothing if there is none."""
        version = lake.version(NOTIFICATIONS.name)
        if version is None:
            return cls()
        known: tuple[int, Self] | None = lake.derived(NOTIFICATIONS.name)
        if known is not None and known[0] == version:
            return known[1]
        columns = [column.name for column in NOTIFICATIONS.columns if column.name != "run_id"]
        rows = lake.rows(NOTIFICATIONS.name, columns).sort_by("recorded_at")
        read = cls.of(rows.to_pylist())
        # A run asks whether anything is due, and then notifies.
        lake.derive(NOTIFICATIONS.name, (version, read))
        return read

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Self:
        """What rows of the table say, in the order in which they were recorded."""
        notified: dict[tuple[str, str], Notified] = {}
        about: defaultdict[str, list[AnswerCommits]] = defaultdict(list)
        recorded: dict[str, tuple[str, datetime]] = {}
        failures: defaultdict[str, list[tuple[datetime, str]]] = defaultdict(list)
        delivered: set[str] = set()
        for row in rows:
            match row["status"]:
                case "begun" | "due":
                    key = row["channel"], row["query"]
                    of_row = Notified(row["table_id"], row["to_version"], row["published_by"])
                    before = notified.get(key)
                    # Clocks of machines differ, versions do not.
                    is_older = (
                        before is not None
                        and before.table_id == of_row.table_id
                        and before.version >= of_row.version
                    )
                    if not is_older:
                        notified[key] = of_row
                    if row["status"] == DUE:
                        about[row["message"]].append(commits_of(row))
                        recorded[row["message"]] = row["channel"], row["recorded_at"]
                case "delivered":
                    delivered.add(row["message"])
                case _:
                    failures[row["message"]].append((row["recorded_at"], row["reason"] or ""))
        waiting = tuple(
            Message(message, channel, tuple(about[message]), at)
            for message, (channel, at) in recorded.items()
            if message not in delivered
        )
        return cls(notified, waiting, dict(failures))

    def seconds_until_due(self, message: Message, now: datetime) -> float:
        """The seconds until a process that runs again and again delivers a message.

        After each failure it waits twice as long, up to an hour.
        """
        failed = self.failures.get(message.id, [])
        if not failed:
            return 0.0
        wait = min(_FIRST_WAIT * 2 ** min(len(failed) - 1, 10), _LONGEST_WAIT)
        left: timedelta = failed[-1][0] + wait - now
        return max(left.total_seconds(), 0.0)

    def is_due(self, message: Message, now: datetime) -> bool:
        """Whether such a process delivers a message now."""
        return self.seconds_until_due(message, now) == 0

    def undelivered(self) -> Iterator[Undelivered]:
        """The messages that wait for delivery."""
        for message in self.waiting:
            failed = self.failures.get(message.id, [])
            reason = failed[-1][1] if failed else None
            yield Undelivered(message.channel, message.recorded_at, len(failed), reason)


def commits_of(row: Mapping[str, Any]) -> AnswerCommits:
    """The commits that a row with the status `due` is about."""
    return AnswerCommits(row["query"], row["table_id"], row["from_version"], row["to_version"])
