"""Whether a process of this machine is still the one that wrote something down."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

_CLOCK_SLACK = timedelta(seconds=2)
"""Process start times are known to the second only."""


def lives(pid: int, seen_at: datetime) -> bool:
    """Whether the process that had `pid` at `seen_at` still runs, and not a later one."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    started = _started(pid)
    return started is None or started <= seen_at + _CLOCK_SLACK


def _started(pid: int) -> datetime | None:
    """When the process started; None where the system does not tell (no /proc)."""
    try:
        # The name, in parentheses, may itself hold spaces and parentheses.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        since_boot = float(Path("/proc/uptime").read_text().split()[0])
    except OSError:
        return None
    age = since_boot - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return datetime.fromtimestamp(time.time() - age, UTC)
