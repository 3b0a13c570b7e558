"""A process whose memory is limited: where memory is refused, it ends with a sentence."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from weir.expected_errors import as_user_error
from weir.process.address_space import EXIT_REFUSED

ROOT = Path(__file__).parents[1]
MIB = 1 << 20
_WEIR = "import sys; from weir.cli import main; sys.exit(main())"


def limited(mebibytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (mebibytes * MIB, mebibytes * MIB))


def run(
    code: str, *arguments: str, mebibytes: int = 2_500, folder: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        preexec_fn=lambda: limited(mebibytes),
    )


def watching(body: str) -> str:
    """A process whose main function has a body."""
    return (
        "import os, signal, sys, time\nfrom weir.process.address_space import watched\n"
        f"def main():\n    {body}\n    return 0\nsys.exit(watched(main))"
    )


@pytest.mark.parametrize(
    ("body", "how"),
    [
        ("os.abort()", "SIGABRT"),
        ("os._exit(127)", "exit code 127"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    ],
)
def test_an_end_by_a_library_is_reported(body: str, how: str) -> None:
    done = run(watching(body))
    assert done.returncode == EXIT_REFUSED
    error, hint = done.stderr.splitlines()[-2:]
    assert error == (
        "error: no memory is left: the address space of the process is limited to 2,500 MiB;"
        f" a library ended it ({how})"
    )
    assert hint.startswith("next: Raise the limit (`ulimit -v`)")


@pytest.mark.parametrize("kind", ["BaseException", "Exception"])
def test_an_unexpected_error_is_reported_with_the_limit(kind: str) -> None:
    """A panic of Rust is no `Exception`."""
    done = run(watching(f"class Panic({kind}): pass\n    raise Panic('a wrong reason')"))
    assert (done.returncode, done.stderr.splitlines()[-2]) == (
        EXIT_REFUSED,
        "error: the address space of the process is limited to 2,500 MiB, which may be why it"
        " failed",
    )
    assert "a wrong reason" in done.stderr


@pytest.mark.parametrize("code", [0, 1, 3, 130])
def test_every_other_exit_code_is_that_of_the_process(code: int) -> None:
    assert run(watching(f"return {code}")).returncode == code
    assert run(watching(f"sys.exit({code})")).returncode == code


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_work(sent: signal.Signals) -> None:
    handling = f"signal.signal({int(sent)}, lambda *_: os._exit(7)); print('up', flush=True)"
    process = subprocess.Popen(
        [sys.executable, "-c", watching(f"{handling}; time.sleep(60)")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: limited(2_500),
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.send_signal(sent)
        assert process.wait(30) == 7


def test_a_signal_that_ends_the_work_ends_the_process() -> None:
    done = run(watching("os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)"))
    assert done.returncode == -signal.SIGTERM


def test_the_work_ends_with_its_process() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", watching("print(os.getpid(), flush=True); time.sleep(60)")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: limited(2_500),
    )
    with process:
        assert process.stdout is not None
        int(process.stdout.readline())
        process.kill()
        # The end of the pipe: nobody has it open any more.
        assert process.stdout.read() == b""


def test_without_a_limit_there_is_one_process() -> None:
    code = watching("print(os.getppid())")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == os.getpid()


@pytest.mark.parametrize("error", [MemoryError(), OSError(12, "Cannot allocate memory")])
def test_an_error_of_python_about_memory_is_a_sentence(error: Exception) -> None:
    known = as_user_error(error)
    assert known is not None
    assert known.what.startswith("no memory is left")


@pytest.mark.parametrize("mebibytes", [400, 850, 2_047])
def test_a_limit_that_is_too_low_is_refused(mebibytes: int) -> None:
    """Between, a library may wait without end for a thread that was not started."""
    done = run(watching("print('at work')"), mebibytes=mebibytes)
    assert (done.returncode, done.stdout) == (EXIT_REFUSED, "")
    error, hint = done.stderr.splitlines()
    assert error == (
        f"error: the address space of the process is limited to {mebibytes:,} MiB; at least"
        " 2,048 MiB are needed"
    )
    assert hint.startswith("next: Raise the limit (`ulimit -v`)")


def test_a_run_under_the_lowest_limit_gives_its_answers(tmp_path: Path, slow: None) -> None:
    del slow
    folder = tmp_path / "museum"
    assert run(_WEIR, "init", str(folder), mebibytes=2_048).returncode == 0
    done = run(_WEIR, "run", mebibytes=2_048, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "exhibits" in done.stdout


def test_memory_that_is_refused_is_a_sentence() -> None:
    done = run(watching("bytearray(4 << 30)"))
    assert done.returncode == EXIT_REFUSED
    error, hint = done.stderr.splitlines()
    assert error == (
        "error: no memory is left: the address space of the process is limited to 2,500 MiB"
    )
    assert hint.startswith("next: Raise the limit (`ulimit -v`)")
