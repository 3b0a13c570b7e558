"""Processes that die at a commit, as `WEIR_KILL_AT` asks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from weir.lake.delta import commit
from weir.lake.delta.commit import KILL_AT

_CODE = Path(__file__).parents[2]
_FORKED = get_context("forkserver")
# Importing takes longer than a run over a few rows.
_FORKED.set_forkserver_preload(["tests.support.stages", "weir.refresh.stage", "great_expectations"])


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


def call_killed(function: Callable[..., object], *arguments: object, at: str) -> None:
    """Call a function of a module in a process, which has to die at the checkpoint `at`.

    The process is forked from one that has imported the stages, but has not run them.
    """
    process = _FORKED.Process(target=_call, args=(function, arguments, at))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL, f"{at} was not reached: {process.exitcode}"


def _call(function: Callable[..., object], arguments: tuple[object, ...], at: str) -> None:
    os.environ[KILL_AT] = at
    function(*arguments)


def killed_after(function: Callable[..., None], *arguments: object, passed: int) -> str | None:
    """Call a function of a module in a process that dies at the next checkpoint after so many.

    Returns:
        The checkpoint; None if the function ended before it.
    """
    reader, writer = _FORKED.Pipe(duplex=False)
    process = _FORKED.Process(target=_call_counting, args=(function, arguments, passed, writer))
    process.start()
    writer.close()
    process.join()
    if process.exitcode == -signal.SIGKILL:
        return str(reader.recv())
    assert process.exitcode == 0, f"the process ended with {process.exitcode}"
    return None


def _call_counting(
    function: Callable[..., None], arguments: tuple[object, ...], passed: int, writer: Connection
) -> None:
    original, left = commit.checkpoint, passed

    def counting(name: str) -> None:
        nonlocal left
        if not left:
            writer.send(name)
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    for module in [*sys.modules.values()]:
        if vars(module).get("checkpoint") is original:
            module.checkpoint = counting  # type: ignore[attr-defined]
    function(*arguments)
