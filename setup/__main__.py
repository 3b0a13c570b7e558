"""`python3.11 -m setup`: install everything that Weir needs, once.

`python3.11 -m setup java jars` runs only the named steps; `fuseki` and `ldes-client`, for
tests, only if they are named.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from setup import environment, fuseki, jars, java, javascript_files
from setup.steps import one_at_a_time, run_pending
from weir.spark_setup.commands import SetupError

_STEPS = (*environment.steps(), java.step(), jars.step(), javascript_files.step())
USUAL = {step.name: step for step in _STEPS}
STEPS = {**USUAL, "fuseki": fuseki.step(), "ldes-client": javascript_files.client_step()}


def main(names: Sequence[str]) -> int:
    """Run the named steps, or the usual ones; one set-up of this folder at a time."""
    if unknown := [name for name in names if name not in STEPS]:
        print(f"set-up: no step {unknown[0]!r}; the steps are {', '.join(STEPS)}", file=sys.stderr)
        return 2
    with one_at_a_time():
        try:
            run_pending(step for name, step in STEPS.items() if name in (names or USUAL))
        except SetupError as error:
            print(f"set-up: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
