"""Notify the channels of a project of what changed in its answers.

    of a channel   notifications (due), delivery, notifications (delivered or failed)

A message exists once its rows are committed with the status `due`: which answers it is about, from
which version of their tables to which. It is made from these again at each attempt, so that a
message has the same id and the same content by which run it is delivered.

* died before the commit: the next run makes the message, perhaps of later changes, too.
* died after it: the message is delivered by the next run; if it had arrived, it arrives twice, with
  the same id.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from weir.definitions.catalog import Catalog
from weir.definitions.definition import Definition
from weir.lake.counted import counted
from weir.lake.delta.commit import write
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.tables import ANSWERS, NOTIFICATIONS
from weir.notify.delivery import NotDelivered, deliver
from weir.notify.messages import AnswerNews, Span, news_of
from weir.progress.completion import Completion
from weir.progress.notifications import (
    BEGUN,
    DELIVERED,
    DUE,
    FAILED,
    Message,
    Notifications,
)
from weir.project import Project
from weir.selection import candidates, selected
from weir.settings import Channel, Settings
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
        return ", ".join([*done, *(f"{channel} failed" for channel in self.failed)]) or "no news"

    @property
    def warnings(self) -> list[str]:
        """Why messages were not delivered: a notification fails no run."""
        return [
            f"notify {channel}: {reason}; the next run tries again"
            for channel, reason in self.failed.items()
        ]


def is_notification_due(project: Project, now: datetime | None = None) -> bool:
    """Whether a channel waits for a message, or has not been notified of what is published.

    Args:
        project: whose channels are looked at.
        now: channels whose last delivery failed are left alone for a while before it.
    """
    settings, lake = project.settings, project.open_lake()
    if not settings.notify:
        return False
    known, completion = Notifications.read(lake), Completion.read(lake)
    waiting = {message.channel: message for message in reversed(known.waiting)}
    for name, queries in _selected(project).items():
        if name in waiting:
            if now is None or known.is_due(waiting[name], now):
                return True
        elif any(_is_news(known, completion, name, query) for query in queries):
            return True
    return False


def notify_channels(project: Project, run_id: str, progress: Progress = silent) -> NotifyResult:
    """Deliver what waits, then notify each channel of what changed since the last message.

    A channel that has never been notified of an answer is notified of what changes from now on.

    Raises:
        BusyError: another run notifies.
        ConfigurationError: a criterion of a channel cannot be understood, or nothing is like it.
    """
    lake, settings = project.open_lake(), project.settings
    delivered, failed = dict[str, int](), dict[str, str]()
    with claimed(lake, JOB, run_id, settings.limits.lease_seconds):
        known = Notifications.read(lake)
        completion, catalog = Completion.read(lake), Catalog.of(settings)
        chosen, members = _selected(project), {member.name: member for member in catalog.members}
        for name, channel in settings.notify.items():
            for message in _due(lake, known, completion, name, chosen[name], run_id):
                progress(f"a message to {name}")
                reason = _deliver(settings, lake, channel, message, members)
                status = DELIVERED if reason is None else FAILED
                _record(lake, run_id, [_row(message.id, name, status, run_id, reason=reason)])
                if reason is not None:
                    # Messages of a channel arrive in their order.
                    failed[name] = reason
                    break
                delivered[name] = delivered.get(name, 0) + 1
    return NotifyResult(delivered, failed)


def _selected(project: Project) -> dict[str, list[str]]:
    """By channel, the queries that it is notified of.

    Raises:
        ConfigurationError: a criterion cannot be understood, or nothing is like it.
    """
    catalog = Catalog.of(project.settings)
    listed = candidates(catalog, dict.fromkeys(catalog.names, ()))
    return {
        name: selected(listed, channel.select) for name, channel in project.settings.notify.items()
    }


def _is_news(known: Notifications, completion: Completion, channel: str, query: str) -> bool:
    published = completion.published(query)
    if published is None:
        return False
    notified = known.notified.get((channel, query))
    return notified is None or notified[1] != published.version


def _new_rows(
    lake: Lake,
    known: Notifications,
    completion: Completion,
    channel: str,
    queries: list[str],
    run_id: str,
) -> Iterator[dict[str, Any]]:
    """The rows of the next message of a channel, and of answers that it is now notified of."""
    message = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{uuid.uuid4().hex[:12]}"
    for query in queries:
        if not _is_news(known, completion, channel, query):
            continue
        published = completion.published(query)
        assert published is not None, "it is news"
        table_id = str(lake.existing(ANSWERS.name(query)).metadata().id)
        to = {"query": query, "table_id": table_id, "to_version": published.version}
        notified = known.notified.get((channel, query))
        if notified is None:
            yield _row("", channel, BEGUN, run_id, **to)
            continue
        after = notified[1] if notified[0] == table_id else -1
        yield _row(message, channel, DUE, run_id, from_version=after, **to)


def _due(
    lake: Lake,
    known: Notifications,
    completion: Completion,
    channel: str,
    queries: list[str],
    run_id: str,
) -> Iterator[Message]:
    """The messages of a channel: those that wait, then one of what is new, which is recorded."""
    yield from (message for message in known.waiting if message.channel == channel)
    rows = [*_new_rows(lake, known, completion, channel, queries, run_id)]
    if rows:
        _record(lake, run_id, rows)
        yield from _messages(rows)


def _record(lake: Lake, run_id: str, rows: list[dict[str, Any]]) -> None:
    write(lake, NOTIFICATIONS, rows, Metadata(run_id, JOB, 0))


def _messages(rows: list[dict[str, Any]]) -> Iterator[Message]:
    """The message that the rows record; none if they only begin."""
    due = [row for row in rows if row["status"] == DUE]
    if due:
        names = ("query", "table_id", "from_version", "to_version")
        spans = tuple(tuple(row[name] for name in names) for row in due)
        yield Message(due[0]["message"], due[0]["channel"], spans, due[0]["recorded_at"])


def _row(message: str, channel: str, status: str, run_id: str, **values: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(column.name for column in NOTIFICATIONS.columns)
    own = {"message": message, "channel": channel, "status": status, "run_id": run_id}
    return {**nothing, **own, "recorded_at": datetime.now(UTC), **values}


def _deliver(
    settings: Settings,
    lake: Lake,
    channel: Channel,
    message: Message,
    members: Mapping[str, Definition],
) -> str | None:
    """Deliver a message; why it could not be delivered, or None."""
    news = [news_of(settings, lake, Span(*span), channel.rows) for span in message.spans]
    notified = [answer for answer in news if answer.is_any]
    if not notified:
        return None
    body = {
        "id": message.id,
        "channel": message.channel,
        "recorded_at": message.recorded_at.isoformat(),
        "answers": [_said(answer, members.get(answer.query)) for answer in notified],
    }
    text = json.dumps(body, ensure_ascii=False, indent=1).encode()
    try:
        deliver(channel, message.id, text, settings.project)
    except NotDelivered as error:
        return str(error)
    return None


def _said(news: AnswerNews, definition: Definition | None) -> dict[str, Any]:
    if definition is None:
        return news.to_json()
    return {**news.to_json(), "description": definition.description, "owner": definition.owner}
