"""`python3.11 -m setup`: install everything that Weir needs, once.

`python3.11 -m setup java jars` runs only the named steps.
"""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Sequence

from setup import environment, jars, java
from setup.steps import STAMPS, SetupError, run_pending

STEPS = {step.name: step for step in (*environment.steps(), java.step(), jars.step())}


def main(names: Sequence[str]) -> int:
    """Run the named steps, or all of them; one set-up of this folder at a time."""
    if unknown := [name for name in names if name not in STEPS]:
        print(f"set-up: no step {unknown[0]!r}; the steps are {', '.join(STEPS)}", file=sys.stderr)
        return 2
    STAMPS.mkdir(parents=True, exist_ok=True)
    with (STAMPS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            run_pending(step for name, step in STEPS.items() if not names or name in names)
        except SetupError as error:
            print(f"set-up: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
