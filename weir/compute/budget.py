"""The time that computing one query may take, and a thread that interrupts what takes more.

Time counts while a statement of the query runs, not while it waits for statements of other queries.
A statement that exceeds the budget is interrupted: other queries go on, and nothing of this query
is committed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from weir.errors import WeirError
from weir.sparql.functions.evaluation_limits import OUT_OF_TIME, LimitExceeded

_AGAIN = 0.2
"""Seconds after which a statement that goes on is interrupted again."""


class QueryLimitError(WeirError):
    """Computing a query exceeds a limit."""

    def __init__(self, what: str) -> None:
        super().__init__(what, "", "Change the query, or raise the limit.")


@dataclass(slots=True)
class Budget:
    """The time budget of one query; used by one thread.

    Attributes:
        seconds: how long all statements of the query may take together.
        used: how many seconds they have taken.
        on_spark: whether Spark ran a statement, maybe at the same time as those of other queries.
    """

    seconds: float
    used: float = 0.0
    on_spark: bool = False
    _deadline: float | None = None

    @contextmanager
    def spent(self) -> Iterator[float]:
        """A context whose time counts; its value is the deadline, by `time.monotonic`.

        Raises:
            QueryLimitError: no time is left.
        """
        if self._deadline is not None:
            # An outer context counts this time.
            yield self._deadline
            return
        if self.used >= self.seconds:
            raise self.exceeded()
        started = time.monotonic()
        self._deadline = started + self.seconds - self.used
        try:
            yield self._deadline
        finally:
            self._deadline = None
            self.used += time.monotonic() - started

    def exceeded(self) -> QueryLimitError:
        """The error of a query that has used its time."""
        return QueryLimitError(f"{OUT_OF_TIME} = {self.seconds:g}")


def limit_of(
    error: Exception, budget: Budget | None, *, was_interrupted: bool
) -> QueryLimitError | None:
    """The error about an exceeded limit, if an error of a statement means this; else None.

    Args:
        error: of DuckDB, of Spark, or of a library that reads from them.
        budget: of the query, if it has one.
        was_interrupted: whether the statement was interrupted at the deadline.
    """
    limit = LimitExceeded.within(f"{type(error).__name__}: {error}")
    if budget is not None and (was_interrupted or (limit and str(limit) == OUT_OF_TIME)):
        return budget.exceeded()
    return None if limit is None else QueryLimitError(str(limit))


@dataclass(slots=True)
class Watched:
    """Work that is interrupted at a deadline, and whether it was."""

    deadline: float
    interrupt: Callable[[], None]
    was_interrupted: bool = False


@dataclass(slots=True)
class Watch:
    """A thread that interrupts work at its deadline, again and again until the work ends.

    The thread starts when it is first needed and ends with `close`.
    """

    _changed: threading.Condition = field(default_factory=threading.Condition)
    _watched: list[Watched] = field(default_factory=list)
    _next: float = 0.0
    _thread: threading.Thread | None = None
    _is_closed: bool = False

    @contextmanager
    def until(self, deadline: float | None, interrupt: Callable[[], None]) -> Iterator[Watched]:
        """A context for work that is interrupted if it goes on beyond `deadline`, if not None."""
        if deadline is None:
            yield Watched(float("inf"), interrupt)
            return
        watched = Watched(deadline, interrupt)
        with self._changed:
            self._watched.append(watched)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
                self._thread.start()
            elif deadline < self._next:
                self._changed.notify()
        try:
            yield watched
        finally:
            with self._changed:
                self._watched.remove(watched)

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        with self._changed:
            while not self._is_closed:
                now = time.monotonic()
                late = [watched for watched in self._watched if watched.deadline <= now]
                for watched in late:
                    watched.was_interrupted = True
                    watched.interrupt()
                deadlines = [w.deadline for w in self._watched if w.deadline > now]
                self._next = min(
                    [*deadlines, *([now + _AGAIN] if late else [])], default=float("inf")
                )
                wait = None if self._next == float("inf") else self._next - now
                self._changed.wait(wait)
