"""Whether a recorded process of this machine still runs; a later one with its id does not count."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

_CLOCK_SLACK = timedelta(seconds=2)
"""Process start times are known to the second only."""


def identity(pid: int) -> str | None:
    """A text that no other process of the machine ever has: the boot and the time since, in ticks.

    None where there is no /proc, or no such process.
    """
    ticks = _start_ticks(pid)
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return None if ticks is None else f"{boot}/{ticks}"


def lives(pid: int, seen_at: datetime, known_as: str | None = None) -> bool:
    """Whether the process that had `pid` at `seen_at` still runs.

    If its `identity` is known, this alone decides, because clocks may be set.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    if known_as is not None and (now := identity(pid)) is not None:
        return now == known_as
    started = _started(pid)
    return started is None or started <= seen_at + _CLOCK_SLACK


def _started(pid: int) -> datetime | None:
    """When the process started, by the present clock; None if it is not known."""
    ticks = _start_ticks(pid)
    try:
        since_boot = float(Path("/proc/uptime").read_text().split()[0])
    except OSError:
        return None
    if ticks is None:
        return None
    age = since_boot - ticks / os.sysconf("SC_CLK_TCK")
    return datetime.fromtimestamp(time.time() - age, UTC)


def _start_ticks(pid: int) -> int | None:
    """Clock ticks from the boot to the start of the process."""
    try:
        # The name, in parentheses, may itself hold spaces and parentheses.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[19])
