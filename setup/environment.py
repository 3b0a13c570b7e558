"""The virtual environment `.venv`: exactly the locked packages, and the project itself."""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path

from setup.steps import PYTHON, ROOT, STAMPS, VENV, Step, call, text_of
from weir.spark_setup.commands import SetupError

INSTALLERS = "requirements/setup.txt"
LOCKS = ("requirements/weir.txt", INSTALLERS, "requirements/dev.txt", "requirements/demo.txt")
UV = VENV / "bin" / "uv"
_NETWORK = "Is a package index reachable? Run the same command again; finished downloads are kept."


def steps() -> tuple[Step, ...]:
    """Environment, packages, project: in this order."""
    return (
        Step("venv", "environment .venv", platform.python_version, PYTHON.exists, _create),
        Step("packages", "packages", lambda: text_of(*LOCKS), UV.exists, _install_packages),
        Step(
            "project",
            "Weir itself",
            lambda: text_of("pyproject.toml"),
            (VENV / "bin" / "weir").exists,
            _install_project,
        ),
    )


def locked(package: str, lock: str) -> str:
    """The lines of a lock file that pin one package with its hashes.

    Raises:
        SetupError: the lock file does not pin it.
    """
    requirement = re.search(rf"^{re.escape(package)}==.*(?:\n[ ]+--hash.*)+", lock, re.MULTILINE)
    if requirement is None:
        raise SetupError(f"{package} is not in {INSTALLERS}. Run `make lock`.")
    return requirement.group() + "\n"


def _create() -> None:
    if sys.version_info[:2] != (3, 11):
        raise SetupError(
            f"Python 3.11 is needed, this is {platform.python_version()}. "
            "If it is elsewhere: make PYTHON=/path/to/python3.11"
        )
    call(
        [sys.executable, "-m", "venv", "--clear", VENV],
        "On Debian and Ubuntu, install the package python3.11-venv.",
    )


def _install_packages() -> None:
    # pip installs uv, and uv the rest: seconds instead of minutes.
    STAMPS.mkdir(parents=True, exist_ok=True)
    only_uv = STAMPS / "uv.txt"
    only_uv.write_text(locked("uv", text_of(INSTALLERS)))
    pip: list[str | Path] = [
        PYTHON,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    call([*pip, "--require-hashes", "--no-deps", "-r", only_uv], _NETWORK)
    # `sync` installs exactly the listed packages: it adds no dependency and removes all others.
    # Without compiled bytecode the first run would take seconds longer, and so would every run
    # where Python may not write it.
    sync: list[str | Path] = [UV, "pip", "sync", "--python", PYTHON, "--compile-bytecode"]
    call([*sync, "--require-hashes", *LOCKS], _NETWORK)


def _install_project() -> None:
    call(
        [
            UV,
            "pip",
            "install",
            "--python",
            PYTHON,
            "--no-build-isolation",
            "--no-deps",
            "--editable",
            ROOT,
        ],
        "Do the folders named in pyproject.toml exist?",
    )
