"""Ending a process by a signal: after the present stage, or at once by a second signal."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType
from typing import Any, Self

from weir.process.interrupts import leave_signals

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopRequest:
    """Within the block, the first SIGTERM or SIGINT is only noted; a second one acts as usual.

    To be used in the main thread only.
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
        # Not an event: the handler would block on its lock if this thread held it.
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
