"""Why a child process ended before it had answered."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from enum import Enum, auto

OUT_OF_MEMORY = 77
"""Exit code of a child to which memory was refused, and that could still report it."""
_REFUSED_BY_LIBRARY = re.compile("memory allocation|bad_?alloc")
"""What Rust and C++ print before they end the process for want of memory."""
_EXTERNAL_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""Signals that no input causes: the kernel needs memory, or the machine shuts down."""


class Cause(Enum):
    """What ended a child."""

    MEMORY = auto()
    """It asked for more memory than it may have."""
    SECONDS = auto()
    """It used its processor time."""
    DEADLINE = auto()
    """The kernel ended it after its deadline."""
    OUTSIDE = auto()
    """Somebody else ended it."""
    OUTPUT_CLOSED = auto()
    """Nothing ended it before its deadline, but it closed its output."""
    ITSELF = auto()
    """It exited, or crashed."""


@dataclass(frozen=True, slots=True)
class Death:
    """How a child ended.

    Attributes:
        cause: what ended it.
        code: its exit code, or minus the number of the signal that ended it.
        errors: the end of what it wrote to standard error, if that was kept.
    """

    cause: Cause
    code: int
    errors: str

    @property
    def how(self) -> str:
        """The signal's name, or the exit code."""
        return signal.Signals(-self.code).name if self.code < 0 else f"exit code {self.code}"


def death(code: int, errors: str) -> Death:
    """What the exit code and standard error of a child say."""
    if code == OUT_OF_MEMORY or _REFUSED_BY_LIBRARY.search(errors):
        cause = Cause.MEMORY
    elif code == -signal.SIGXCPU:
        cause = Cause.SECONDS
    elif code == -signal.SIGALRM:
        cause = Cause.DEADLINE
    elif -code in _EXTERNAL_SIGNALS:
        cause = Cause.OUTSIDE
    else:
        cause = Cause.ITSELF
    return Death(cause, code, errors[-2000:])
