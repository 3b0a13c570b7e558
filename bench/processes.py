"""Runs in a process of their own, so that what they measure is theirs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.places import ROOT, Project


class RunFailed(Exception):  # noqa: N818  (named after what is wrong)
    """A run that was measured did not succeed."""


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
