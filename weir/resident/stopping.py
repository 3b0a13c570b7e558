"""Ending a process on a signal: after what it is doing, or at once if it is asked again."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType
from typing import Any, Self

from weir.process.interrupts import leave_signals

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopRequest:
    """Within the block, the first SIGTERM or SIGINT is only noted; a second one acts as always.

    Only in the main thread.
    """

    def __init__(self) -> None:
        self.is_made = False
        self._before: dict[signal.Signals, Any] = {}
        self._read, self._write = os.pipe()

    def __enter__(self) -> Self:
        leave_signals(1)
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        self._restore()
        leave_signals(0)
        os.close(self._read)
        os.close(self._write)

    def wait(self, seconds: float) -> None:
        """Wait so long, or until the request is made."""
        # A pipe and not an event, whose lock the handler could find held by this very thread.
        select.select([self._read], [], [], max(0.0, seconds))

    def _note(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.is_made = True
        self._restore()
        os.write(self._write, b"\n")

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
