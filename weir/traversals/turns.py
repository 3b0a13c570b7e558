"""Whose turn it is: one request at a time for each host, of a few hosts, within a budget.

Pure: times are given, nothing is sent and nothing waits.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from weir.remotes.http.outcomes import Failure
from weir.traversals.hosts import OF_THE_HOST, RULES
from weir.traversals.messages import FetchTask

OVERTIME = 0.35
"""Seconds after its deadline for which a task may go on until it has ended."""
LEAST_SECONDS = 0.1
"""With less time no task is sent."""


@dataclass(slots=True)
class HostRecord:
    """How a host has answered so far.

    free_at: when its last request ended, on the monotonic clock. failed: requests in a row.
    """

    free_at: float = -math.inf
    failed: int = 0


@dataclass(slots=True)
class _Queue:
    record: HostRecord
    waiting: deque[FetchTask] = field(default_factory=deque)

    @property
    def ready_at(self) -> float:
        return self.record.free_at + self.waiting[0].pause


@dataclass(frozen=True, slots=True)
class _Given:
    """A task that was given out. is_short: with less than it wanted."""

    queue: _Queue
    task: FetchTask
    is_short: bool

    def is_failure_of_host(self, failure: Failure | None) -> bool:
        if failure is None or failure.kind not in OF_THE_HOST:
            return False
        return not (self.is_short and failure.kind == "deadline_passed")


class Turns:
    """The tasks of one `fetch` that are still to be sent.

    Args:
        tasks: each with its host; those of a host are sent in this order.
        hosts: that are asked at once, at most.
        most_bytes: of all tasks; None without a limit.
        most_seconds: of all tasks, each from its start to its end; None without a limit.
        records: of the hosts that were asked before, by name; others are added.
    """

    def __init__(
        self,
        tasks: Sequence[tuple[str, FetchTask]],
        hosts: int,
        most_bytes: int | None = None,
        most_seconds: float | None = None,
        records: dict[str, HostRecord] | None = None,
    ) -> None:
        self._most_hosts = hosts
        self._bytes_left = most_bytes
        self._seconds_left = math.inf if most_seconds is None else most_seconds
        records = {} if records is None else records
        by_name: dict[str, _Queue] = {}
        for name, task in tasks:
            record = records.setdefault(name, HostRecord())
            by_name.setdefault(name, _Queue(record)).waiting.append(task)
        self._waiting = deque(by_name.values())
        self._asked: dict[int, _Given] = {}

    @property
    def in_flight(self) -> Sequence[FetchTask]:
        """Tasks that were given out and have not ended."""
        return [given.task for given in self._asked.values()]

    @property
    def is_over(self) -> bool:
        """Whether all tasks have ended."""
        return not self._waiting and not self._asked

    @property
    def is_spent(self) -> bool:
        """Whether no task can be sent, now or later."""
        return self._has_nothing and not self._asked

    @property
    def _has_nothing(self) -> bool:
        return self._bytes_left == 0 or self._seconds_left < OVERTIME + LEAST_SECONDS

    def take(self, now: float) -> FetchTask | None:
        """The next task to send; None if there is none before a task ends, or `next_at`.

        It may take what the budget has left, if that is less than its own most: but only if no
        other one, which may leave more, is in flight.
        """
        if len(self._asked) >= self._most_hosts or self._has_nothing:
            return None
        for _ in range(len(self._waiting)):
            queue = self._waiting[0]
            if queue.ready_at <= now:
                return self._give_out(queue)
            self._waiting.rotate(-1)
        return None

    def next_at(self, now: float) -> float | None:
        """When the next task can be sent, if that is a matter of time alone.

        None if a task has to end first, or none waits.
        """
        times = [queue.ready_at for queue in self._waiting]
        return min(times, default=None) if all(time > now for time in times) else None

    def ended(
        self, id: int, bytes: int, seconds: float, failure: Failure | None, now: float
    ) -> Sequence[FetchTask]:
        """Take note that a task ended; the tasks of its host that are not to be sent any more.

        These are all of them where the host asks to be left alone, or several requests in a row
        failed because of the host.
        """
        given = self._asked.pop(id)
        queue, task = given.queue, given.task
        if self._bytes_left is not None:
            self._bytes_left += task.most_bytes - bytes
        self._seconds_left += task.seconds + OVERTIME - seconds
        host = queue.record
        host.free_at = now
        host.failed = host.failed + 1 if given.is_failure_of_host(failure) else 0
        throttled = failure is not None and failure.kind == "throttled"
        left: Sequence[FetchTask] = ()
        if throttled or host.failed >= RULES.failures:
            left = tuple(queue.waiting)
        elif queue.waiting:
            self._waiting.append(queue)
        return left

    def drop_all(self) -> Sequence[FetchTask]:
        """Give up the tasks that were not sent, and return them."""
        left = [task for queue in self._waiting for task in queue.waiting]
        self._waiting.clear()
        return left

    def _give_out(self, queue: _Queue) -> FetchTask | None:
        task = self._afforded(queue.waiting[0])
        is_short = task != queue.waiting[0]
        if is_short and self._asked:
            return None
        if self._bytes_left is not None:
            self._bytes_left -= task.most_bytes
        self._seconds_left -= task.seconds + OVERTIME
        queue.waiting.popleft()
        self._waiting.popleft()
        self._asked[task.id] = _Given(queue, task, is_short)
        return task

    def _afforded(self, task: FetchTask) -> FetchTask:
        """The task with no more than is left."""
        most_bytes = task.most_bytes
        if self._bytes_left is not None:
            most_bytes = min(most_bytes, self._bytes_left)
        seconds = min(task.seconds, self._seconds_left - OVERTIME)
        return replace(task, most_bytes=most_bytes, seconds=seconds)
