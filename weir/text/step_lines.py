"""Progress lines of a stage: at least one every few seconds, however long a step takes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SILENCE_SECONDS = 10.0
"""After so long without a line, a line about the running step is written."""
_LOOK_SECONDS = 1.0


class StepLines:
    """Writes lines about the steps of a stage.

    Args:
        stage: its name, for the first line.
        write: takes a line; it is called by one thread at a time.
        every_step: whether each step gets a line; else only steps that last for long.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        stage: str,
        write: Callable[[str], None],
        *,
        every_step: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stage, self._write, self._every_step, self._clock = stage, write, every_step, clock
        self._lock = threading.Lock()
        self._step = ""
        self._began = self._written = clock()

    def announce(self) -> None:
        """Write the first line."""
        with self._lock:
            self._line(f"{self._stage} ...")

    def begin(self, step: str) -> None:
        """Note that a step begins, and the one before it has ended."""
        with self._lock:
            self._step, self._began = step, self._clock()
            if self._every_step:
                self._line(f"{self._stage}: {step}")

    def remind(self) -> None:
        """Write a line if none was written for `SILENCE_SECONDS`."""
        with self._lock:
            now = self._clock()
            if now - self._written >= SILENCE_SECONDS:
                step = f'"{self._step}"' if self._step else "its start"
                self._line(f"{self._stage}: still at work, {now - self._began:.0f} s after {step}")

    def _line(self, text: str) -> None:
        self._written = self._clock()
        self._write(text)


@contextmanager
def reminding(lines: StepLines) -> Iterator[None]:
    """In this block, a thread calls `remind` every second."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_LOOK_SECONDS):
            lines.remind()

    thread = threading.Thread(target=watch, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
