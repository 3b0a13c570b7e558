"""A session of Spark that ended is followed by another."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("own_jvm")

SCRIPT = """
import os, signal
from pathlib import Path
from weir.compute.session import late_session
from weir.settings import Settings

take = late_session(Settings.load())
first = take()
assert take() is first
first.sparkContext._jsc.sc().stop()
second = take()
assert second.range(3).count() == 3
java = int(second._jvm.java.lang.ProcessHandle.current().pid())
os.kill(java, signal.SIGKILL)
third = take()
assert third.range(3).count() == 3
third.stop()
assert take().range(3).count() == 3
print("done")
"""


def ended(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A script that ended, in a folder of which Spark has one core and little memory."""
    (folder / "weir.toml").write_text("[spark]\nmaster = 'local[1]'\ndriver_memory = '600m'\n")
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def test_a_session_whose_context_or_jvm_is_gone_is_replaced(tmp_path: Path) -> None:
    """By its cluster, by the kernel, and by this process."""
    done = ended(SCRIPT, tmp_path)
    assert done.stdout.endswith("done\n"), done.stderr[-4000:]


DIES = """
import os, signal, sys
from weir.compute.session import late_session
from weir.compute.spark import SparkEngine
from weir.errors import WeirError
from weir.process.leaving import leaving_at_once
from weir.settings import Settings

def main():
    engine = SparkEngine(late_session(Settings.load())(), 1_000, job="maintain")
    java = int(engine.spark._jvm.java.lang.ProcessHandle.current().pid())
    try:
        with engine.cancellable():
            os.kill(java, signal.SIGKILL)
            engine.spark.range(3).count()
    except WeirError as error:
        print(error.what, error.hint, sep="; ", flush=True)
    engine.release()
    return 3

sys.exit(leaving_at_once(main)())
"""


def test_it_is_said_that_spark_ended_and_what_is_next(tmp_path: Path) -> None:
    done = ended(DIES, tmp_path)
    assert done.stdout.startswith("Spark ended during maintain; "), done.stderr[-4000:]
    assert "`driver_memory` under `[spark]`" in done.stdout
    assert (done.returncode, "atexit" in done.stderr) == (3, False), done.stderr[-4000:]
