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
    PROTOCOL = auto()
    """It sent what is no message, or more than it may: its parent does not hear it to the end."""
    ITSELF = auto()
    """It exited, or crashed."""


@dataclass(frozen=True, slots=True)
class Death:
    """How a child ended.

    Attributes:
        cause: what ended it.
        code: its exit code, or minus the number of the signal that ended it; 0 if it may still run.
        errors: the end of what it wrote to standard error, if that was kept; or what is wrong with
            what it sent.
    """

    cause: Cause
    code: int
    errors: str

    @property
    def how(self) -> str:
        """What became of it, to come after its name: `died of SIGSEGV`."""
        if self.cause is Cause.OUTPUT_CLOSED:
            return "closed its output"
        if self.cause is Cause.PROTOCOL:
            return f"sent no proper answer: {self.errors}"
        if self.code < 0:
            return f"died of {signal.Signals(-self.code).name}"
        return f"ended with exit code {self.code}"


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
