"""The wheel, and environments that it is installed into with the locked versions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from setup.environment import UV
from setup.steps import ROOT

_LOCKED = ("--constraint", "requirements/weir.txt", "--constraint", "requirements/setup.txt")


def built_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into a folder."""
    build = (sys.executable, "-m", "hatchling", "build", "--target", "wheel")
    run([*build, "--directory", folder], ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def new_environment(folder: Path, wheel: Path, *extras: str) -> Path:
    """Install the wheel and what it requires into a new environment; the folder of its programs.

    Args:
        folder: of the environment.
        wheel: the wheel.
        extras: those that are installed with it.
    """
    # In the cache of `make setup`, which has the packages, and not in that of `setup/run`.
    variables = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    run([UV, "venv", "--python", sys.executable, folder], ROOT, variables)
    requirement = f"weir[{','.join(extras)}] @ {wheel.as_uri()}" if extras else str(wheel)
    install: list[str | Path] = [UV, "pip", "install", "--python", folder / "bin" / "python"]
    run([*install, *_LOCKED, requirement], ROOT, variables)
    return folder / "bin"


def clean_variables(programs: Path, home: Path) -> dict[str, str]:
    """The variables of a user who has this environment, and nothing of the checkout's."""
    return {
        "PATH": f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def run(
    command: Sequence[str | Path],
    folder: Path,
    variables: Mapping[str, str] | None = None,
    *,
    expected: int = 0,
) -> str:
    """What a program prints, which must end with the expected exit code.

    Args:
        command: the program and its arguments.
        folder: where it is run.
        variables: its environment, if it is not that of the tests.
        expected: its exit code.
    """
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout
