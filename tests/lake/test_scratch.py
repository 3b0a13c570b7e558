"""Files of no use after the end of a process do not stay."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from weir.compute.connection import connect
from weir.lake.damage.storage_errors import StorageError
from weir.lake.scratch import private_folder, scratch_folder, sweep
from weir.settings import DuckDbSettings, Settings

_IN_ANOTHER = (
    "import os, signal, sys; from pathlib import Path;"
    " from weir.lake.scratch import scratch_folder;"
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


def test_a_folder_that_is_not_this_users_alone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, linked, loose = tmp_path / "theirs", tmp_path / "linked", tmp_path / "loose"
    target.mkdir(mode=0o700)
    linked.symlink_to(target)
    loose.mkdir()
    loose.chmod(0o755)
    (tmp_path / "file").write_text("")
    for name, reason in (("linked", "a link"), ("loose", "mode 755"), ("file", "or a file")):
        with pytest.raises(StorageError, match=reason):
            private_folder(tmp_path / name)
    assert private_folder(target) == target
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    with pytest.raises(StorageError, match="another user"):
        private_folder(target)


def test_a_link_in_place_of_the_users_folder_of_temporary_files_stops_the_process(
    tmp_path: Path,
) -> None:
    (tmp_path / "theirs").mkdir(mode=0o700)
    (tmp_path / f"weir-{os.getuid()}").symlink_to(tmp_path / "theirs")
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", "from weir.lake.scratch import scratch_folder; scratch_folder()"],
        env=os.environ | {"PYTHONPATH": root, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "it is a link or a file" in done.stderr
    assert [*(tmp_path / "theirs").iterdir()] == []


def test_what_others_put_beside_scratch_folders_is_neither_followed_nor_removed(
    tmp_path: Path,
) -> None:
    host, kept = socket.gethostname(), tmp_path / "kept"
    kept.mkdir()
    (kept / "rows").write_text("rows")
    (tmp_path / f"{host}~999999999~x").symlink_to(kept)
    for name in (f"{host}~x~y", f"{host}~1~2~3", f"{host}~~"):
        (tmp_path / name).mkdir()
    sweep(tmp_path)
    assert (kept / "rows").exists()
    assert len([*tmp_path.iterdir()]) == 5
