"""The short form of the torture; `python -m tests.torture` is the long one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def test_killed_runs_lose_nothing_and_publish_nothing_wrong() -> None:
    """With other inputs than the figures of docs/reliability.md, which are of seed 33."""
    options = ["--kills", "6", "--seconds", "600", "--seed", "7", "--no-spark", "--life", "5"]
    tortured = subprocess.run(
        [sys.executable, "-m", "tests.torture", *options],
        cwd=PROJECT,
        check=False,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert tortured.returncode == 0, tortured.stdout + tortured.stderr
