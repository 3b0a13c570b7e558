"""A program of a test ends with the test, however that ends, and is not endless."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from demo.bounded_process import bounded_process

# It writes its number, ignores what asks it politely to end, and sleeps.
PROGRAM = """
import os, pathlib, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path("number.new").write_text(str(os.getpid()))
os.rename("number.new", "number")
time.sleep(60)
"""
SLEEPER = (sys.executable, "-I", "-S", "-c", PROGRAM)
PARENT = """
import sys, time
from pathlib import Path
from demo.bounded_process import bounded_process
with bounded_process(sys.argv[2:], 60, Path(sys.argv[1])):
    time.sleep(60)
"""


def test_a_program_ends_with_its_block(tmp_path: Path) -> None:
    with bounded_process(SLEEPER, 60, tmp_path / "log"):
        number = number_in(tmp_path)
        assert runs(number)
    assert not runs(number)


def test_a_program_ends_with_a_block_that_fails(tmp_path: Path) -> None:
    numbers = []

    def fail() -> None:
        with bounded_process(SLEEPER, 60, tmp_path / "log"):
            numbers.append(number_in(tmp_path))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert not runs(numbers[0])


def test_a_program_ends_when_its_time_is_over(tmp_path: Path) -> None:
    with bounded_process(SLEEPER, 1.0, tmp_path / "log") as guard:
        number = number_in(tmp_path)
        assert guard.wait(20) == 1
        assert not runs(number)


def test_a_program_ends_when_the_process_that_started_it_is_killed(tmp_path: Path) -> None:
    path = os.pathsep.join(sys.path)
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, tmp_path / "log", *SLEEPER],
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        number = number_in(tmp_path)
        assert runs(number)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert within(10, lambda: not runs(number))


def test_a_program_ends_when_its_guard_is_killed(tmp_path: Path) -> None:
    with bounded_process(SLEEPER, 60, tmp_path / "log") as guard:
        number = number_in(tmp_path)
        guard.kill()
        assert within(10, lambda: not runs(number))


def test_the_exit_code_and_the_output_are_those_of_the_program(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with bounded_process(["sh", "-c", "echo out; echo err >&2; exit 7"], 60, log) as guard:
        assert guard.wait(20) == 7
    assert log.read_text() == "out\nerr\n"


def number_in(folder: Path) -> int:
    """The process that the sleeper is."""
    file = folder / "number"
    assert within(20, file.exists)
    return int(file.read_text())


def runs(number: int) -> bool:
    """Whether a process runs; one that waits to be collected does not."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether something holds in time."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
