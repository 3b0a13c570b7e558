"""Commands of a set-up, which are silent unless they fail."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


class SetupError(Exception):
    """A step of a set-up failed; the message says what to do next."""


def call(
    command: Sequence[str | Path],
    advice: str,
    environment: Mapping[str, str],
    folder: Path | None = None,
) -> None:
    """Run a command; show its output only if it fails.

    Args:
        command: the program and its arguments.
        advice: what to do if it fails.
        environment: all its variables.
        folder: where it is run; default: where this process is.

    Raises:
        SetupError: with `advice`.
    """
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout)
        shown = " ".join(str(word) for word in command[:4])
        raise SetupError(f"`{shown} ...` exited with {done.returncode}. {advice}")
