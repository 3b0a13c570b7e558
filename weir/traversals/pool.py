"""Fetches documents in a child process, which is kept for all documents of an evaluation.

The child (`pool_worker`) reads them, too, so that no byte of a document is parsed here. What kills
it is a failure of the tasks that it had; another child goes on with the others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self

from weir.remotes.http.outcomes import Failure, FailureKind
from weir.remotes.http.pages import Page
from weir.remotes.http.urls import UrlError, parse_target
from weir.sandbox.child import Child, ChildDied, DeadlinePassed
from weir.sandbox.death import Cause, Death
from weir.sandbox.frames import ProtocolError
from weir.sandbox.limits import ChildLimits
from weir.traversals.messages import (
    Ended,
    FetchTask,
    PoolOptions,
    Reading,
    Ready,
    Usage,
    decode_frame,
    encode_options,
    encode_task,
)
from weir.traversals.turns import OVERTIME, HostRecord, Turns

WORKER = "weir.traversals.pool_worker"
START_SECONDS = 60.0
"""How long the child may take to start."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """How a task ended.

    outcome: a page without its body, which is read in the child (but see `FetchTask.unread`).
    value: what was read of a document of status 200; None else.
    asked_at, answered_at: begin and end; None if no request was made because of other tasks.
    task: with the bytes and seconds that were left for it.
    """

    task: FetchTask
    outcome: Page | Failure
    value: dict[str, Any] | None
    usage: Usage
    asked_at: datetime | None
    answered_at: datetime | None

    @property
    def is_unpaid(self) -> bool:
        """Whether it was not sent since nothing was left for it."""
        failure = self.outcome if isinstance(self.outcome, Failure) else None
        return self.asked_at is None and failure is not None and failure.kind == "too_many_bytes"


@dataclass(frozen=True, slots=True)
class _Started:
    """A task that the child has. began: on the monotonic clock."""

    task: FetchTask
    at: datetime
    began: float

    @property
    def deadline(self) -> float:
        return self.began + self.task.seconds


def utc_now() -> datetime:
    """The time."""
    return datetime.now(UTC)


class Pool:
    """Fetches documents; it has to be closed."""

    def __init__(self, options: PoolOptions, clock: Callable[[], datetime] = utc_now) -> None:
        self._options, self._clock = options, clock
        self._child: Child | None = None
        self._started: dict[int, _Started] = {}
        self._reading: int | None = None
        self._ready_by: float | None = None
        self._records: dict[str, HostRecord] = {}

    @property
    def hosts(self) -> int:
        """How many are asked at once, at most."""
        return self._options.hosts

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def fetch(
        self,
        tasks: Sequence[FetchTask],
        most_bytes: int | None = None,
        most_seconds: float | None = None,
    ) -> Generator[Fetched, None, None]:
        """Fetch and read documents, and give each when it is there.

        Each task comes back once. Of a host that asks to be left alone, or where five requests in
        a row failed, the other tasks come back as failures of the same kind, without a request.

        Args:
            tasks: with ids of their own.
            most_bytes: of all of them together, on the wire; None without a limit. A task gets
                what is left of it.
            most_seconds: the same of their seconds, as `Usage` counts them. None is sent later than
                so long after the start, either.
        """
        known: list[tuple[str, FetchTask]] = []
        for task in tasks:
            try:
                known.append((parse_target(task.url, self._options.manner.ports).host, task))
            except UrlError as error:
                yield _not_asked(task, Failure("url_refused", str(error)))
        turns = Turns(known, self._options.hosts, most_bytes, most_seconds, self._records)
        until = time.monotonic() + (math.inf if most_seconds is None else most_seconds)
        try:
            while not turns.is_over:
                yield from self._step(turns, until)
        finally:
            if self._started:
                self.close()  # nobody waits for what it is doing

    def close(self) -> None:
        """Kill the child, if there is one."""
        self._started.clear()
        self._reading = None
        if self._child is not None:
            self._child.close()
            self._child = None

    def _step(self, turns: Turns, until: float) -> Iterator[Fetched]:
        """Start what can be started, and wait for one event; `until` is the last start."""
        now = time.monotonic()
        while task := turns.take(now):
            self._start(task, now)
        next_at = turns.next_at(now)
        is_late = not self._started and next_at is not None and next_at > until
        if turns.is_spent or is_late:
            what = Failure("too_many_bytes", "no bytes or seconds are left for the request")
            yield from (_not_asked(task, what) for task in turns.drop_all())
            return
        if not self._started:
            assert next_at is not None, "a task waits, and no other one is in flight"
            time.sleep(next_at - now)
            return
        for ended in self._wait(next_at):
            yield from self._end(turns, ended)

    def _start(self, task: FetchTask, now: float) -> None:
        if self._child is None:
            # Nobody sees its errors: a traceback may show a secret.
            self._child = Child(WORKER, ChildLimits(self._options.memory, error_bytes=0))
            self._child.send(encode_options(self._options))
            self._ready_by = now + START_SECONDS
        self._started[task.id] = _Started(task, self._clock(), now)
        self._child.send(encode_task(task))

    def _wait(self, next_at: float | None) -> Sequence[Ended]:
        """The next tasks that ended; none if `next_at` comes first."""
        assert self._child is not None
        overdue_at = self._ready_by or self._first_deadline() + OVERTIME
        until = overdue_at if next_at is None else min(next_at, overdue_at)
        try:
            return self._child.receive(self._heard, until)
        except DeadlinePassed:
            if time.monotonic() < overdue_at:
                return ()
            return self._give_up("deadline_passed", "the document was not read in time")
        except ChildDied as error:
            return self._give_up(*_reason(error.death, self._options.memory))

    def _heard(self, content: bytes) -> Sequence[Ended]:
        """Take a message; the tasks that ended with it.

        Raises:
            ProtocolError: it is none, or about what the child does not have or may not do.
        """
        frame = decode_frame(content)
        match frame:
            case Ready():
                self._begin()
            case Reading(id):
                self._reading = self._checked(id).task.id
            case Ended(id, usage=usage):
                if usage.sent + usage.received > self._checked(id).task.most_bytes:
                    raise ProtocolError("it took more than it may")
                if id == self._reading:
                    self._reading = None
                return (frame,)
        return ()

    def _first_deadline(self) -> float:
        return min(started.deadline for started in self._started.values())

    def _begin(self) -> None:
        """The seconds of tasks begin when the child has started."""
        self._ready_by, now = None, time.monotonic()
        self._started = {id: replace(started, began=now) for id, started in self._started.items()}

    def _checked(self, id: int) -> _Started:
        started = self._started.get(id)
        if started is None:
            raise ProtocolError("of a task that it does not have")
        return started

    def _give_up(self, kind: FailureKind, reason: str) -> Sequence[Ended]:
        """The ends of all tasks that the child has, which is killed.

        The reason is that of the document that it was reading, or that is overdue; the others
        failed because of that one.
        """
        now = time.monotonic()
        reading = self._reading
        ends = []
        for id, started in self._started.items():
            overdue = reading is None and now >= started.deadline
            blamed = id == reading or overdue or (reading is None and kind != "deadline_passed")
            failure = (
                Failure(kind, reason)
                if blamed
                else Failure("interrupted", "the child process was ended by another document")
            )
            usage = Usage(False, 0, started.task.most_bytes, now - started.began, "")
            ends.append(Ended(id, failure, None, usage))
        if self._child is not None:
            self._child.close()
            self._child = None
        self._reading = None
        return ends

    def _end(self, turns: Turns, ended: Ended) -> Iterator[Fetched]:
        started = self._started.pop(ended.id)
        # A busy machine may notice the end later; no more is paid for than was given out.
        most = started.task.seconds + OVERTIME
        usage = replace(ended.usage, seconds=min(ended.usage.seconds, most))
        failure = ended.outcome if isinstance(ended.outcome, Failure) else None
        used = usage.sent + usage.received
        left = turns.ended(ended.id, used, usage.seconds, failure, time.monotonic())
        yield Fetched(started.task, ended.outcome, ended.value, usage, started.at, self._clock())
        if failure is not None:
            why = Failure(
                failure.kind, f"not asked, since: {failure.reason}", None, failure.retry_after
            )
            yield from (_not_asked(task, why) for task in left)


def _not_asked(task: FetchTask, failure: Failure) -> Fetched:
    return Fetched(task, failure, None, Usage(True, 0, 0, 0.0, ""), None, None)


def _reason(death: Death, memory: int) -> tuple[FailureKind, str]:
    if death.cause is Cause.MEMORY:
        return "too_much_memory", f"to read it needs more than {memory >> 20} MiB of memory"
    return "worker_failed", f"the child process {death.how}"
