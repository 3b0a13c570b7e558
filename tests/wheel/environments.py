"""The wheel, and environments that it is installed into with the locked versions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from setup.environment import UV
from setup.steps import ROOT


def built_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout into a folder."""
    _run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder])
    (wheel,) = folder.glob("*.whl")
    return wheel


def new_environment(folder: Path, wheel: Path, *extras: str) -> Path:
    """Install the wheel and what it requires into a new environment; the folder of its programs.

    Args:
        folder: of the environment.
        wheel: the wheel.
        extras: those that are installed with it.
    """
    _run([UV, "venv", "--python", sys.executable, folder])
    requirement = f"weir[{','.join(extras)}] @ {wheel.as_uri()}" if extras else str(wheel)
    install: list[str | Path] = [UV, "pip", "install", "--python", folder / "bin" / "python"]
    _run([*install, "--constraint", "requirements/weir.txt", requirement])
    return folder / "bin"


def clean_variables(programs: Path, home: Path) -> dict[str, str]:
    """The variables of a user who has this environment, and nothing of the checkout's."""
    return {
        "PATH": f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def _run(command: list[str | Path]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
