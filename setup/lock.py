"""`make lock`: recreate the lock files of packages and of jars.

Pinned versions are kept where they still fit; `make lock ARGS=--upgrade` takes the newest. The
lock files contain packages, versions and hashes, but no URL of an index.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from setup.environment import UV
from setup.fuseki import FUSEKI
from setup.jars import DELTA
from setup.steps import call

_COMPILE = ("pip", "compile", "--quiet", "--generate-hashes", "--python-version", "3.11")
_NO_URLS = ("--no-header", "--no-emit-index-url", "--no-emit-find-links")


def write_locks(options: Sequence[str]) -> None:
    """Write `requirements/*.txt` and `setup/*.lock`.

    Args:
        options: further options of `uv pip compile`.
    """
    # `setup` and `dev` are constrained by `weir`. The demo's package is installed for its data
    # alone, without its dependencies.
    for name, own in (("weir", ()), ("setup", ()), ("dev", ()), ("demo", ("--no-deps",))):
        source, lock = f"requirements/{name}.in", f"requirements/{name}.txt"
        call(
            [UV, *_COMPILE, *_NO_URLS, *own, *options, source, "-o", lock],
            f"Can all requirements in {source} be satisfied together?",
        )
        print(f"lock: {lock}")
    for artifact in (DELTA, FUSEKI):
        artifact.write_lock()
        print(f"lock: {artifact.lock}")


if __name__ == "__main__":
    write_locks(sys.argv[1:])
