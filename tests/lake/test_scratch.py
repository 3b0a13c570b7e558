"""Files of no use after the end of a process do not stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from jobs.compute.connection import connect
from jobs.settings import DuckDbSettings, Settings
from lake.scratch import scratch_folder, sweep

_IN_ANOTHER = (
    "import os, signal, sys; from pathlib import Path; from lake.scratch import scratch_folder;"
    " folder = scratch_folder(Path(sys.argv[1])); (folder / 'rows').write_text('rows');"
    " print(folder, flush=True); exec(sys.argv[2])"
)


def another(parent: Path, then: str) -> Path:
    """The folder of a process that ended."""
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", _IN_ANOTHER, str(parent), then],
        env=os.environ | {"PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return Path(done.stdout.strip())


def test_the_scratch_folder_is_removed_when_its_process_ends(tmp_path: Path) -> None:
    assert not another(tmp_path, "pass").exists()


def test_the_scratch_folder_of_a_killed_process_is_removed_by_the_next(tmp_path: Path) -> None:
    left = another(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    assert left.exists()
    another(tmp_path, "pass")
    assert not left.exists()


def test_a_fork_that_ends_leaves_the_scratch_folder_of_its_parent(tmp_path: Path) -> None:
    kept = another(tmp_path, "os.waitpid(os.fork() or sys.exit(), 0); assert folder.exists()")
    assert not kept.exists()


def test_scratch_folders_of_living_processes_and_other_machines_stay(tmp_path: Path) -> None:
    own = scratch_folder(tmp_path)
    other = tmp_path / "elsewhere~1~boot_1"
    other.mkdir()
    sweep(tmp_path)
    assert own.exists()
    assert other.exists()


def test_duckdb_spills_into_the_scratch_folder(tmp_path: Path) -> None:
    settings = Settings(duckdb=DuckDbSettings(spill=tmp_path))
    with connect(settings) as connection:
        ((folder,),) = connection.execute("SELECT current_setting('temp_directory')").fetchall()
    assert Path(folder).is_relative_to(scratch_folder(tmp_path))
