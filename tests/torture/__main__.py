"""Torture: random faults over the random lives of projects; nothing may be lost or wrong.

    python -m tests.torture --kills 500 --seed 1

Each life is that of two projects with the same inputs: change sets of three or four sources,
queries that are edited, broken, removed and brought back, `weir drop`, compaction. The runs of one
are killed by SIGKILL at random moments and between commits, interrupted, doubled, run beside
compaction, with a clock that is set, on a full disk, without file descriptors, several times one
after the other; then one run is left in peace. After it, both have the same epochs and the same
logs of answers, and the answers are those of pyoxigraph on the state of the inputs.

Exits with 1 if anything was lost or wrong. Inputs and faults follow from the seed and the number of
a life (`--life`); moments also depend on the speed of the machine.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.torture.torture import Torture, run

_DISK = "256m"
"""Size of the file system that is filled."""
_ENTERED = "WEIR_TORTURE_ENTERED"
_UNSHARE = (["unshare", "-m"], ["unshare", "-U", "-r", "-m"])
"""How to get a mount namespace: as root, and as another user."""


def main() -> int:
    """Run lives until so many processes were killed, or so many seconds are over."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.torture",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--kills", type=int, default=500, help="so many processes (%(default)s)")
    parser.add_argument("--seconds", type=float, default=7200, help="at most (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random (%(default)s)")
    parser.add_argument("--life", type=int, default=0, help="the first life (%(default)s)")
    parser.add_argument("--no-spark", action="store_true", help="no life that needs Spark")
    parser.add_argument("--quiet", action="store_true", help="print lives only, not each fault")
    parser.add_argument("--keep", type=Path, help="where what failed is kept (default: nowhere)")
    options = parser.parse_args()
    _enter_namespace()
    started = time.monotonic()

    def report(line: str) -> None:
        if not (options.quiet and line.startswith("  ")):
            print(f"{time.monotonic() - started:6.0f} s  {line}", flush=True)

    with _disk() as (folder, is_small):
        if not is_small:
            report("no file system can be mounted here: no disk is filled")
        torture = Torture(folder, options.seed, report, is_small, not options.no_spark)
        good = run(torture, options.kills, options.seconds, options.life)
        if options.keep is not None:
            for failed in folder.glob("failed-*"):
                shutil.copytree(failed, options.keep / failed.name)
    tally = torture.tally
    print(f"\n{tally.kills} processes killed in {time.monotonic() - started:.0f} s", end="")
    print(f" (seed {options.seed}); at {tally.places()}\n\n{tally.table()}")
    return 0 if good else 1


def _enter_namespace() -> None:
    """Replace this process by one in which a file system can be mounted, if that is possible.

    What is mounted in it is gone when its last process ends.
    """
    if _ENTERED in os.environ:
        return
    os.environ[_ENTERED] = "no"
    for command in _UNSHARE if shutil.which("unshare") else ():
        mount = f"mount -t tmpfs -o size=1m none {tempfile.gettempdir()}"
        if subprocess.run([*command, "sh", "-c", mount], capture_output=True).returncode == 0:
            os.environ[_ENTERED] = "yes"
            arguments = [sys.executable, "-m", "tests.torture", *sys.argv[1:]]
            os.execvp(command[0], [*command, *arguments])


@contextmanager
def _disk() -> Iterator[tuple[Path, bool]]:
    """A folder that is gone at the end, and whether it is a file system of its own."""
    with tempfile.TemporaryDirectory(prefix="weir-torture-") as name:
        is_small = os.environ[_ENTERED] == "yes"
        if is_small:
            mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "none", name]
            subprocess.run(mount, check=True)
        try:
            yield Path(name), is_small
        finally:
            if is_small:
                subprocess.run(["umount", "-l", name], check=True)


if __name__ == "__main__":
    sys.exit(main())
