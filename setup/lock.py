"""`make lock`: the lock files anew from `requirements/*.in` and from what Delta asks for.

Versions stay as they are where they can; `make lock ARGS=--upgrade` takes the newest. The lock
files name packages, versions and hashes, and no place to load them from.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from setup import jars
from setup.environment import UV
from setup.steps import call

_COMPILE = ("pip", "compile", "--quiet", "--generate-hashes", "--python-version", "3.11")
_NO_PLACES = ("--no-header", "--no-emit-index-url", "--no-emit-find-links")


def write_locks(options: Sequence[str]) -> None:
    """Write requirements/weir.txt, requirements/demo.txt and setup/jars.lock.

    Args:
        options: further options of `uv pip compile`.
    """
    # The demo's package is installed without the packages that it asks for.
    for name, own in (("weir", ()), ("demo", ("--no-deps",))):
        source, lock = f"requirements/{name}.in", f"requirements/{name}.txt"
        call(
            [UV, *_COMPILE, *_NO_PLACES, *own, *options, source, "-o", lock],
            f"Do the requirements in {source} fit together?",
        )
        print(f"lock: {lock}")
    jars.write_lock()
    print(f"lock: {jars.LOCK}")


if __name__ == "__main__":
    write_locks(sys.argv[1:])
