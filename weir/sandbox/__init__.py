"""Child processes that read what others wrote: started here alone, with nothing that they can lose.

The environment of a child has no variable of its parent, in which Airflow keeps connections and
stores their keys; it imports no module of the folder in which it starts.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

OUT_OF_MEMORY = 77
"""Exit code of a child to which memory was refused, and that could still report it."""


def start(
    module: str, *arguments: str, variables: Mapping[str, str] | None = None, **pipes: Any
) -> subprocess.Popen[bytes]:
    """Start a module in a child process.

    Args:
        module: its name.
        arguments: of the command line, which everybody on the machine can read.
        variables: of its environment, beside those that all have.
        pipes: stdin, stdout and further arguments of `Popen`.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-s", "-m", module, *arguments],
        env={**environment(), **(variables or {})},
        **pipes,
    )


def environment() -> dict[str, str]:
    """The environment of every child.

    Python's own allocator retries for minutes where memory is refused.
    """
    return {
        "PYTHONPATH": os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path),
        "PYTHONMALLOC": "malloc",
        "MALLOC_ARENA_MAX": "1",
        "LC_ALL": "C.UTF-8",
    }


def limit_memory(size: int) -> None:
    """Allow this process `size` bytes more of address space than it has now (only on Linux)."""
    sizes = Path("/proc/self/statm")
    if sizes.exists():
        now = int(sizes.read_text().split()[0]) * resource.getpagesize()
        _limit(resource.RLIMIT_AS, now + size)


def limit_seconds(seconds: int) -> None:
    """Allow this process `seconds` more of processor time than it has used."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    _limit(resource.RLIMIT_CPU, int(usage.ru_utime + usage.ru_stime) + seconds + 1)


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    resource.setrlimit(which, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
