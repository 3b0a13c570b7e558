"""Runs in a process of their own, so that what they measure is theirs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from bench.places import ROOT, Project

_SAMPLED = 0.2
"""Seconds between looks at a process."""


class RunFailed(Exception):  # noqa: N818  (named after what is wrong)
    """A run that was measured did not succeed."""


class LineProcess:
    """A module in a process of its own, which answers lines by lines of JSON; `end` it.

    Args:
        module: of this package, which reads its standard input.
        arguments: of it.
        settings: further variables of the environment.
    """

    def __init__(
        self, module: str, *arguments: object, settings: Mapping[str, str] | None = None
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *map(str, arguments)],
            cwd=ROOT,
            env=os.environ | dict(settings or {}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, line: object) -> Any:
        """Send a line; returns the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self.answer()

    def answer(self) -> Any:
        """The next line."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def end(self, *, kill: bool = False) -> None:
        """End it, by the end of its input or by force."""
        if kill:
            self._process.kill()
        self._process.communicate()


def resident(pid: int) -> int:
    """Bytes that a process and all that it started have in memory; 0 of one that ended."""
    try:
        lines = (Path("/proc") / str(pid) / "status").read_text().splitlines()
        started = _started_by(pid)
    except OSError:
        return 0
    sizes = (int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS"))
    return sum(sizes) + sum(map(resident, started))


def processor_seconds(pid: int) -> float:
    """Seconds of the processor, user and system, of a process and all that it started.

    Zero of one that ended.
    """
    try:
        # The name of the program, which comes first, may have spaces.
        fields = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
        started = _started_by(pid)
    except OSError:
        return 0.0
    # Its own, and those of its children that have ended.
    ticks = sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK") + sum(map(processor_seconds, started))


def _started_by(pid: int) -> list[int]:
    """The children of a process, whichever of its threads started them."""
    children: list[int] = []
    for thread in (Path("/proc") / str(pid) / "task").iterdir():
        with suppress(OSError):  # a thread that has ended meanwhile
            children += map(int, (thread / "children").read_text().split())
    return children


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that ended, with all that it started.

    Attributes:
        seconds: of the clock.
        processor: seconds of the processor, user and system.
        peak: of the memory (RSS), in MiB.
        printed: on the standard output.
    """

    seconds: float
    processor: float
    peak: int
    printed: str


def measured(
    arguments: Sequence[object],
    *,
    folder: Path = ROOT,
    settings: Mapping[str, str] | None = None,
    code: int = 0,
) -> Ended:
    """Run a process to its end, and look at what it takes.

    Args:
        arguments: the program first.
        folder: that it works in.
        settings: further variables of the environment.
        code: that it has to end with.

    Raises:
        RunFailed: with the last lines that were printed.
    """
    words = [*map(str, arguments)]
    before = _of_ended_children()
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        began = time.monotonic()
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=os.environ | dict(settings or {}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
        )
        sampled = peak = 0.0
        while not _ends_within(process, _SAMPLED):
            sampled = max(sampled, processor_seconds(process.pid))
            peak = max(peak, resident(process.pid))
        seconds = time.monotonic() - began
        output.seek(0)
        errors.seek(0)
        printed, said = output.read(), errors.read()
    if process.returncode != code:
        last = "\n".join((printed + said).splitlines()[-30:])
        raise RunFailed(f"{' '.join(words)}: exit code {process.returncode}\n{last}")
    # A JVM is not waited for: its seconds are among those that were sampled.
    processor = max(sampled, _of_ended_children() - before)
    return Ended(seconds, processor, round(peak / (1 << 20)), printed)


def _ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for the end of a process; gives whether it has ended."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.returncode is not None


def _of_ended_children() -> float:
    """Seconds of the processor of all processes that this one has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_process(
    arguments: Sequence[str | Path],
    project: Project,
    *,
    settings: Mapping[str, str] | None = None,
    result: Path | None = None,
) -> None:
    """Run a process to its end.

    Args:
        arguments: the program first.
        project: whose run it is, for the error.
        settings: further variables of the environment.
        result: the file that it has to leave.

    Raises:
        RunFailed: with the last lines that were printed.
    """
    done = subprocess.run(
        [*map(str, arguments)],
        cwd=ROOT,
        env=os.environ | dict(settings or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode or (result is not None and not result.exists()):
        last = "\n".join(done.stdout.splitlines()[-30:])
        raise RunFailed(f"{project.config}: exit code {done.returncode}\n{last}")
