"""`python3.11 -m setup`: everything that Weir needs, once."""

from __future__ import annotations

import fcntl
import sys

from setup import environment, jars, java
from setup.steps import STAMPS, SetupError, take


def main() -> int:
    """Take the steps; one set-up of this folder at a time."""
    STAMPS.mkdir(parents=True, exist_ok=True)
    with (STAMPS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            take((*environment.steps(), java.step(), jars.step()))
        except SetupError as error:
            print(f"set-up: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
