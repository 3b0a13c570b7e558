"""A program that ends with the process that started it, and after some time at the latest.

Between the two runs a guard, which is this file. It kills the program if the starting process is
gone, however that ended, or if the time is over; if the guard itself is killed, the kernel kills
the program.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_GRACE = 10.0
_PAUSE = 0.2
_PR_SET_PDEATHSIG = 1


@contextmanager
def bounded_process(
    command: Sequence[str | Path],
    seconds: float,
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the block is left; gives its guard, whose exit code is the program's.

    Args:
        command: the program and its arguments.
        seconds: after which it is killed.
        log: the file that gets its output.
        environment: its variables; None for those of this process.
    """
    guard = [sys.executable, "-I", "-S", __file__, str(os.getpid()), str(seconds)]
    with log.open("wb") as output:
        # In its own session: Ctrl-C reaches only this process, which then leaves the block.
        process = subprocess.Popen(
            [*guard, *map(str, command)],
            env=environment,
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _guard(parent: int, seconds: float, command: Sequence[str]) -> int:
    """Run the program; its exit code, or 1 if it was killed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    until = time.monotonic() + seconds
    # The guard has one thread, so that nothing can hang between fork and exec.
    program = subprocess.Popen(command, preexec_fn=_die_with(os.getpid()))
    try:
        while os.getppid() == parent and time.monotonic() < until:
            with suppress(subprocess.TimeoutExpired):
                return program.wait(_PAUSE)
        return 1
    finally:
        program.kill()
        program.wait()


def _die_with(guard: int) -> Callable[[], None]:
    prctl = ctypes.CDLL(None).prctl

    def ask_kernel() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:  # it died before the kernel was asked
            os._exit(1)

    return ask_kernel


if __name__ == "__main__":
    sys.exit(_guard(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
