"""`make lock`: recreate the lock files of packages and of jars.

The ranges are those of `pyproject.toml`. Pinned versions are kept where they still fit; `make lock
ARGS=--upgrade` takes the newest. The lock files contain packages, versions and hashes, but no URL
of an index.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from setup.environment import UV
from setup.fuseki import FUSEKI
from setup.jars import JAR_SETS, spark_submit
from setup.steps import ROOT, call

COMPILE = ("pip", "compile", "--quiet", "--generate-hashes", "--python-version", "3.11")
_NO_URLS = ("--no-header", "--no-emit-index-url", "--no-emit-find-links")
_ALIKE = ("--constraint", "requirements/weir.txt")
_SOURCES = {
    # What Weir runs on, in the image and in a checkout. Java is the machine's, or that of `setup`.
    "weir": ("pyproject.toml", "--extra", "airflow", "--group", "image"),
    "setup": ("--group", "setup", *_ALIKE),
    "dev": ("--group", "dev", *_ALIKE),
    # For its data alone.
    "demo": ("--group", "demo", "--no-deps"),
}
"""What each lock file is made from; the second and third come after the first."""


def write_locks(options: Sequence[str]) -> None:
    """Write `requirements/*.txt` and `*.lock`.

    Args:
        options: further options of `uv pip compile`.
    """
    for name, source in _SOURCES.items():
        lock = f"requirements/{name}.txt"
        call(
            [UV, *COMPILE, *_NO_URLS, *options, *source, "-o", lock],
            f"Can all requirements in pyproject.toml for {lock} be satisfied together?",
        )
        print(f"lock: {lock}")
    for artifact in (*JAR_SETS, FUSEKI):
        artifact.write_lock(spark_submit())
        print(f"lock: {Path(str(artifact.lock)).relative_to(ROOT)}")


if __name__ == "__main__":
    write_locks(sys.argv[1:])
