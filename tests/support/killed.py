"""Processes that die at a commit, as `WEIR_KILL_AT` asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

from lake.commit import KILL_AT

_CODE = Path(__file__).parents[2]
_FORKED = get_context("forkserver")
# Importing takes longer than a run over a few rows.
_FORKED.set_forkserver_preload(["tests.support.stages", "great_expectations"])


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


def call_killed(function: Callable[..., None], *arguments: object, at: str) -> None:
    """Call a function of a module in a process, which has to die at the checkpoint `at`.

    The process is forked from one that has imported the stages, but has not run them.
    """
    process = _FORKED.Process(target=_call, args=(function, arguments, at))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL, f"{at} was not reached: {process.exitcode}"


def _call(function: Callable[..., None], arguments: tuple[object, ...], at: str) -> None:
    os.environ[KILL_AT] = at
    function(*arguments)
