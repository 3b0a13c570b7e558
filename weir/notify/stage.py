"""Notify the channels of a project of what changed in its answers.

    of a channel   notifications (begun), notifications (due), delivery, notifications (outcome)

A message exists once its rows are committed with the status `due`: which answers it is about, from
which version of their tables to which. It is made from these versions at each attempt, under the
same id.

* died before the commit: the next run makes the message, perhaps of later changes, too.
* died after it: the message is delivered by the next run; if it had arrived, it arrives twice, with
  the same id.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from weir.answers.appended import Appended, appended
from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.errors import ConfigurationError
from weir.expected_errors import as_user_error
from weir.lake.counted import counted
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import ANSWERS, NOTIFICATIONS
from weir.notify.delivery import NotDelivered, deliver
from weir.notify.message import body_of, new_id
from weir.progress.completion import Completion
from weir.progress.notifications import (
    BEGUN,
    DELIVERED,
    DUE,
    FAILED,
    Message,
    Notifications,
    commits_of,
)
from weir.project import Project
from weir.selection import queries_of
from weir.settings import Channel
from weir.stage import Progress, StageResult, claimed, silent

JOB: Final = "notify"


@dataclass(frozen=True, slots=True)
class NotifyResult(StageResult):
    """What channels were notified of.

    Attributes:
        delivered: by channel, the number of messages.
        failed: by channel, why its next message could not be delivered.
    """

    delivered: Mapping[str, int]
    failed: Mapping[str, str]

    @property
    def did_something(self) -> bool:
        """Whether a message was delivered."""
        return bool(self.delivered)

    @property
    def summary(self) -> str:
        """What it did, in a few words."""
        done = [f"{counted(n, 'message')} to {channel}" for channel, n in self.delivered.items()]
        return (
            ", ".join([*done, *(f"{channel} failed" for channel in self.failed)]) or "nothing new"
        )

    @property
    def warnings(self) -> list[str]:
        """Why messages were not delivered: a notification fails no run."""
        return [
            f"notify {channel}: {reason}; the next run tries again"
            for channel, reason in self.failed.items()
        ]


def notify_channels(
    project: Project, run_id: str, progress: Progress = silent, *, is_patient: bool = False
) -> NotifyResult:
    """Deliver what waits, then notify each channel of what changed since its last message.

    A channel is notified of what changes in an answer after it first saw that.

    Args:
        project: has the channels.
        run_id: of this run in the ledger.
        progress: receives a line per message.
        is_patient: whether a channel whose last delivery failed is left alone for a while.

    Raises:
        BusyError: another run notifies.
    """
    delivered, failed = dict[str, int](), dict[str, str]()
    lake, settings = project.open_lake(), project.settings
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds):
        run = _Run.of(project, run_id, progress, is_patient=is_patient)
        for name, channel in settings.notify.items():
            number, reason = run.notify(name, channel)
            if number:
                delivered[name] = number
            if reason is not None:
                failed[name] = reason
    return NotifyResult(delivered, failed)


def is_notification_due(project: Project, *, is_patient: bool = False) -> bool:
    """Whether `notify_channels` would do anything; no table of an answer is opened."""
    return bool(project.settings.notify) and _seconds_until_due(project, is_patient) <= 0


def seconds_until_due(project: Project) -> float:
    """The seconds until a patient `notify_channels` would do anything; infinite if never."""
    return _seconds_until_due(project, True) if project.settings.notify else math.inf


def _seconds_until_due(project: Project, is_patient: bool) -> float:
    project.open_lake()
    run = _Run.of(project, "", silent, is_patient=is_patient)
    return min(map(run.seconds_until_due, project.settings.notify), default=math.inf)


@dataclass(frozen=True, slots=True)
class _Run:
    """What a run knows of a project, its answers and its channels."""

    project: Project
    run_id: str
    progress: Progress
    is_patient: bool
    known: Notifications
    completion: Completion
    catalog: Catalog

    @classmethod
    def of(cls, project: Project, run_id: str, progress: Progress, *, is_patient: bool) -> _Run:
        lake, catalog = project.lake, Catalog.of(project.settings)
        known, completion = Notifications.read(lake), Completion.read(lake)
        return cls(project, run_id, progress, is_patient, known, completion, catalog)

    def notify(self, name: str, channel: Channel) -> tuple[int, str | None]:
        """Deliver the messages of a channel; their number, and why one was not delivered."""
        try:
            changed = self._changed(name)
        except ConfigurationError as error:
            return 0, str(error)
        # Before the messages that wait, one of which may fail again and again.
        self._record([row for row in changed if row["status"] == BEGUN])
        due = [row for row in changed if row["status"] == DUE]
        delivered = 0
        for message in self._messages(name, due):
            if self.is_patient and not self.known.is_due(message, datetime.now(UTC)):
                break
            self.progress(f"a message to {name}")
            try:
                is_sent = self._deliver(channel, message)
            except NotDelivered as error:
                # Messages of a channel arrive in their order.
                self._record([self._row(message.id, name, FAILED, reason=str(error))])
                return delivered, str(error)
            self._record([self._row(message.id, name, DELIVERED)])
            delivered += is_sent
        return delivered, None

    def seconds_until_due(self, name: str) -> float:
        """The seconds until there is anything to do for a channel; infinite if nothing waits."""
        first = next(self._messages(name, []), None)
        if first is not None:
            now = datetime.now(UTC)
            return self.known.seconds_until_due(first, now) if self.is_patient else 0.0
        try:
            queries = self._queries(name)
        except ConfigurationError:
            # A run reports it; a patient one does nothing until a file changes.
            return math.inf if self.is_patient else 0.0
        has_changed = any(self._has_changed(name, query) for query in queries)
        return 0.0 if has_changed else math.inf

    def _queries(self, channel: str) -> list[str]:
        """The queries that a channel is notified of.

        Raises:
            ConfigurationError: a criterion cannot be understood, or nothing is like it.
        """
        return queries_of(channel, self.project.settings, self.catalog)

    def _has_changed(self, channel: str, query: str) -> bool:
        published = self.completion.published(query)
        if published is None:
            return False
        known = self.known.notified.get((channel, query))
        return known is None or not known.is_of(published)

    def _changed(self, channel: str) -> list[dict[str, Any]]:
        """The rows of the next message of a channel, and of answers that it sees first.

        Raises:
            ConfigurationError: as `_queries`.
        """
        message = new_id(datetime.now(UTC))
        rows = []
        for query in self._queries(channel):
            if not self._has_changed(channel, query):
                continue
            published = self.completion.published(query)
            assert published is not None, "it has changed"
            table = self.project.lake.existing(ANSWERS.name(query))
            to = {
                "query": query,
                "table_id": str(table.metadata().id),
                "to_version": published.version,
                "published_by": published.metadata.run_id,
            }
            known = self.known.notified.get((channel, query))
            if known is None or known.table_id != to["table_id"]:
                # Of an answer that was dropped and computed again nobody knows what changed.
                rows.append(self._row("", channel, BEGUN, **to))
            else:
                rows.append(self._row(message, channel, DUE, from_version=known.version, **to))
        return rows

    def _messages(self, channel: str, due: Sequence[dict[str, Any]]) -> Iterator[Message]:
        """The messages of a channel: those that wait, then a new one, which is recorded."""
        yield from (message for message in self.known.waiting if message.channel == channel)
        if due:
            self._record(due)
            about = tuple(map(commits_of, due))
            yield Message(due[0]["message"], channel, about, due[0]["recorded_at"])

    def _deliver(self, channel: Channel, message: Message) -> bool:
        """Deliver a message; whether it has anything to say.

        Raises:
            NotDelivered: it could not be made or delivered.
        """
        settings, lake = self.project.settings, self.project.lake
        try:
            changes = [appended(settings, lake, commits, channel.rows) for commits in message.about]
        except Exception as error:
            expected = as_user_error(error)
            if expected is None:
                raise
            raise NotDelivered(str(expected)) from error
        changed = [answer for answer in changes if answer.is_any]
        if not changed:
            return False
        members = {member.name: member for member in self.catalog.members}
        answers = [_described(answer, members.get(answer.query)) for answer in changed]
        body = body_of(message.id, message.channel, message.recorded_at, answers)
        deliver(channel, message.id, body, settings.project)
        return True

    def _record(self, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            write(self.project.lake, NOTIFICATIONS, [*rows], Metadata(self.run_id, JOB, 0))

    def _row(self, message: str, channel: str, status: str, **values: Any) -> dict[str, Any]:
        nothing = dict.fromkeys(column.name for column in NOTIFICATIONS.columns)
        own = {"message": message, "channel": channel, "status": status, "run_id": self.run_id}
        return {**nothing, **own, "recorded_at": datetime.now(UTC), **values}


def _described(changes: Appended, definition: Definition | None) -> dict[str, Any]:
    if definition is None:
        return changes.to_json()
    return {**changes.to_json(), "description": definition.description, "owner": definition.owner}
