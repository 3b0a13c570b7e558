"""Processes that die at a commit, as `WEIR_KILL_AT` asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from lake.commit import KILL_AT

_CODE = Path(__file__).parents[2]


def run_killed(code: str, *arguments: str, at: str) -> None:
    """Run Python code in a process, which has to die at the checkpoint `at`."""
    killed = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, KILL_AT: at, "PYTHONPATH": str(_CODE)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
