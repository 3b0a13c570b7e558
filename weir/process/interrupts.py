"""Ctrl-C ends a process at its next checkpoint, or after two seconds."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Self

from weir.lake.interrupts import request

INTERRUPTED = 130
"""Exit code of a process that was interrupted."""
_SENTENCE = "interrupted: what was committed stays; the next run goes on from there"
_GRACE = 2.0
"""Seconds in which the process may end cleanly. Then it exits at once, which harms nothing."""
_CLEAN_LINE = "\r\x1b[2K\x1b[?25h"
"""Clears the line of a terminal and shows the cursor, which a progress bar has hidden."""
_left_to_others = 0
"""How many of the next signals other code handles."""


class Watch:
    """Ends this process on SIGINT.

    A separate thread sees the signal, even if the main thread hangs in a library, with any
    handler that a library has installed.
    """

    def __init__(self) -> None:
        self._is_reported = False

    @classmethod
    def start(cls) -> Self:
        """Watch until the end of the process; call it from the main thread."""
        watch = cls()
        read, write = os.pipe()
        os.set_blocking(write, False)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        threading.Thread(target=watch._look, args=(read,), daemon=True).start()
        return watch

    def report(self) -> None:
        """Report that the process was interrupted, and ignore further interrupts."""
        ignore_interrupts()
        self._is_reported = True
        report_interrupt()

    def _look(self, signals: int) -> None:
        global _left_to_others
        is_ending = False
        while number := os.read(signals, 1):
            if number[0] not in (signal.SIGINT, signal.SIGTERM):
                continue
            if _left_to_others:
                _left_to_others -= 1
            elif number[0] == signal.SIGINT and not is_ending:
                is_ending = True
                request()
                threading.Thread(target=self._end, daemon=True).start()

    def _end(self) -> None:
        time.sleep(_GRACE)
        if not self._is_reported:
            # The main thread may hold the lock of `sys.stderr`.
            to = sys.stderr.fileno()
            os.write(to, f"{_CLEAN_LINE if os.isatty(to) else ''}{_SENTENCE}\n".encode())
        os._exit(INTERRUPTED)


def ignore_interrupts() -> None:
    """Ignore SIGINT from now on: the process has done its work and is ending."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def report_interrupt() -> None:
    """Print that this process was interrupted, and what that means."""
    print(_SENTENCE, file=sys.stderr, flush=True)


def leave_signals(number: int) -> None:
    """Leave the next `number` signals SIGINT and SIGTERM to other code."""
    global _left_to_others
    _left_to_others = number
