"""What a child process may take, and how it sets these limits on itself."""

from __future__ import annotations

import resource
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from weir.sandbox.offline import go_offline

_GRACE_SECONDS = 1.0
"""After so long beyond the deadline the kernel ends a child whose parent has not."""


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What a child may take.

    Attributes:
        memory: bytes of address space; so it never has as much resident.
        memory_counts: all of its memory, or what it takes beyond that with which it starts.
        output_bytes: of all messages that it sends; None without a limit. No single one is longer
            than `memory`.
        error_bytes: of what it writes to standard error, which are kept for its `Death`, and to any
            other file. With 0 nobody sees them.
        deadline: on the monotonic clock, which all processes of a machine share; None if its
            parent sets one for each message, or processor time is its limit (`limit_seconds`).
        offline: whether the kernel refuses it connections and other programs, where it can.
    """

    memory: int
    memory_counts: Literal["all", "more"] = "all"
    output_bytes: int | None = None
    error_bytes: int = 1 << 20
    deadline: float | None = None
    offline: bool = False


def set_limits(limits: ChildLimits) -> None:
    """Set them on this process; it writes no memory to a file when it dies."""
    if limits.deadline is not None:
        left = max(limits.deadline - time.monotonic(), 0.0)
        signal.setitimer(signal.ITIMER_REAL, left + _GRACE_SECONDS)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, limits.error_bytes)
    now = 0 if limits.memory_counts == "all" else _address_space()
    if now is not None:
        _limit(resource.RLIMIT_AS, now + limits.memory)
    if limits.offline:
        go_offline()


def limit_seconds(seconds: int) -> None:
    """Allow this process `seconds` more of processor time than it has used."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime) + seconds + 1)


def _address_space() -> int | None:
    """Bytes of address space that this process has; None where it is not known (not on Linux)."""
    sizes = Path("/proc/self/statm")
    return int(sizes.read_text().split()[0]) * resource.getpagesize() if sizes.exists() else None


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    resource.setrlimit(which, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
