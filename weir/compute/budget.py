"""What computing one query may take, and how statements that take more are ended.

The engine knows the budget of the query that it computes. Time counts while a statement runs, not
while it waits for those of other queries. A statement that goes on beyond it is interrupted; so the
others continue, and nothing of it is committed.
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
"""Seconds after which what is interrupted and goes on is interrupted again."""


class QueryLimitError(WeirError):
    """Computing a query takes more than it may."""

    def __init__(self, what: str) -> None:
        super().__init__(what, "", "Change the query, or raise the limit.")


@dataclass(slots=True)
class Budget:
    """What is left of the time of one query; used by one thread.

    Attributes:
        seconds: that all its statements may take together.
        used: that they have taken.
        on_spark: whether Spark ran one, maybe beside those of other queries.
    """

    seconds: float
    used: float = 0.0
    on_spark: bool = False
    _deadline: float | None = None

    @contextmanager
    def spent(self) -> Iterator[float]:
        """Count the time that passes; gives the deadline, by `time.monotonic`.

        Raises:
            QueryLimitError: nothing is left.
        """
        if self._deadline is not None:
            # A part of what is counted.
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
        """The error of a query that takes more time."""
        return QueryLimitError(f"{OUT_OF_TIME} = {self.seconds:g}")


def limit_of(
    error: Exception, budget: Budget | None, *, was_interrupted: bool
) -> QueryLimitError | None:
    """The limit that an error of a statement is about; None if it is about none.

    Args:
        error: of DuckDB, of Spark, or of what reads from them.
        budget: of the query, if there is one.
        was_interrupted: whether the statement was, at the deadline.
    """
    found = LimitExceeded.within(f"{type(error).__name__}: {error}")
    if budget is not None and (was_interrupted or (found and str(found) == OUT_OF_TIME)):
        return budget.exceeded()
    return None if found is None else QueryLimitError(str(found))


@dataclass(slots=True)
class Watched:
    """Something that is interrupted at a deadline: whether it was."""

    deadline: float
    interrupt: Callable[[], None]
    was_interrupted: bool = False


@dataclass(slots=True)
class Watch:
    """A thread that interrupts what goes on beyond its deadline, until it ends.

    The thread starts when it is first needed and ends with `close`.
    """

    _changed: threading.Condition = field(default_factory=threading.Condition)
    _watched: list[Watched] = field(default_factory=list)
    _next: float = 0.0
    _thread: threading.Thread | None = None
    _is_closed: bool = False

    @contextmanager
    def until(self, deadline: float | None, interrupt: Callable[[], None]) -> Iterator[Watched]:
        """Interrupt what is done meanwhile if it goes on beyond `deadline`, if there is one."""
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
                late = [each for each in self._watched if each.deadline <= now]
                for each in late:
                    each.was_interrupted = True
                    each.interrupt()
                deadlines = [each.deadline for each in self._watched if each.deadline > now]
                self._next = min(
                    [*deadlines, *([now + _AGAIN] if late else [])], default=float("inf")
                )
                wait = None if self._next == float("inf") else self._next - now
                self._changed.wait(wait)
