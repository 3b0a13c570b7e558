"""A child process: what it may take, and of what it died."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from weir.sandbox.child import Child, ChildDied, DeadlinePassed
from weir.sandbox.death import Cause, Death, death
from weir.sandbox.frames import decode_json
from weir.sandbox.limits import ChildLimits

START = "import os, signal, time\nfrom weir.sandbox.serving import serve\n"
ROOMY = ChildLimits(1 << 30)
Start = Callable[..., Child]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    """Start a child whose answer is the given statements."""
    popen = subprocess.Popen

    def started(statements: str, limits: ChildLimits = ROOMY) -> Child:
        lines = "".join(f"    {line}\n" for line in statements.splitlines())
        code = f"{START}def answer(message, output):\n{lines}serve(answer)"

        def python(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
            return popen([*command[:-2], "-c", code], **options)

        monkeypatch.setattr(subprocess, "Popen", python)
        child = Child("none", limits)
        child.send(b"x")
        return child

    return started


ECHO = "from weir.sandbox.frames import write_frame\nwrite_frame(output, message)"
NO_END = "from weir.sandbox.limits import limit_seconds\nlimit_seconds(0)\nwhile True: pass"


@pytest.mark.parametrize(
    ("statements", "limits", "cause"),
    [
        ("bytearray(1 << 30)", ChildLimits(200 << 20), Cause.MEMORY),
        ("bytearray(1 << 30)", ChildLimits(100 << 20, "more"), Cause.MEMORY),
        ("os.write(2, b'memory allocation of 9 bytes failed'); os.abort()", ROOMY, Cause.MEMORY),
        ("os.abort()", ROOMY, Cause.ITSELF),
        ("1 / 0", ROOMY, Cause.ITSELF),
        ("os.kill(os.getpid(), signal.SIGKILL)", ROOMY, Cause.OUTSIDE),
        (NO_END, ROOMY, Cause.SECONDS),
        ("os.close(1); os.close(output.fileno()); time.sleep(20)", ROOMY, Cause.OUTPUT_CLOSED),
    ],
)
def test_a_child_died_of_what_ended_it(
    start: Start, statements: str, limits: ChildLimits, cause: Cause
) -> None:
    with start(statements, limits) as child, pytest.raises(ChildDied) as error:
        child.receive(bytes, time.monotonic() + 4)
    assert error.value.death.cause is cause


def test_a_child_that_does_not_start_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise BlockingIOError("no room for another process")

    file = tempfile.TemporaryFile()  # noqa: SIM115 - the child closes it
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda: file)
    monkeypatch.setattr(subprocess, "Popen", refused)
    with pytest.raises(BlockingIOError):
        Child("none", ROOMY)
    assert file.closed


def test_a_child_ends_after_its_deadline_also_if_nobody_waits_for_it(start: Start) -> None:
    limits = ChildLimits(1 << 30, deadline=time.monotonic())
    with start("time.sleep(20)", limits) as child, pytest.raises(ChildDied) as error:
        child.receive(bytes)
    assert error.value.death.cause is Cause.DEADLINE


def test_a_child_that_does_not_answer_in_time_is_killed_when_it_is_closed(start: Start) -> None:
    child = start("time.sleep(20)")
    with child, pytest.raises(DeadlinePassed):
        child.receive(bytes, time.monotonic() + 0.5)
    assert child._process.returncode == -signal.SIGKILL


def test_a_child_answers_one_message_after_the_other_however_long(start: Start) -> None:
    with start(ECHO) as child:
        assert child.receive(bytes) == b"x"
        for message in (b"", b"y" * 1_000_000, b"z"):
            child.send(message)
            assert child.receive(bytes) == message


def test_a_child_that_sends_more_than_it_may_is_an_error(start: Start) -> None:
    with start(ECHO, ChildLimits(1 << 30, output_bytes=100)) as child:
        assert child.receive(bytes) == b"x"
        child.send(b"y" * 1000)
        with pytest.raises(ChildDied) as error:
            child.receive(bytes)
    assert error.value.death == Death(Cause.PROTOCOL, 0, "too many bytes")


def test_a_message_that_cannot_be_decoded_is_no_proper_answer(start: Start) -> None:
    with start(ECHO) as child, pytest.raises(ChildDied) as error:
        child.receive(decode_json)
    assert error.value.death.how == "sent no proper answer: a frame is not JSON"


def test_a_child_writes_no_more_errors_than_it_may(start: Start) -> None:
    many = "try:\n    os.write(2, b'e' * 99)\n    os.write(2, b'e' * 99)\nfinally: os._exit(3)"
    with (
        start(many, ChildLimits(1 << 30, error_bytes=100)) as child,
        pytest.raises(ChildDied) as error,
    ):
        child.receive(bytes)
    assert error.value.death == death(3, "e" * 100)
    assert error.value.death.how == "ended with exit code 3"


def test_what_a_child_prints_is_no_message(start: Start) -> None:
    with start(f"print('no message', flush=True)\n{ECHO}") as child:
        assert child.receive(bytes) == b"x"


PARENT = """
from pathlib import Path
from weir.sandbox.child import Child, ChildDied
from weir.sandbox.limits import ChildLimits
# After its own imports: they may come from there.
for folder in (Path("."), Path("../program")):
    (folder / "json.py").write_text("open('executed', 'w')")
with Child("weir.sparql.functions.matching_worker", ChildLimits(1 << 30)) as child:
    child.send(b"no request")
    try:
        child.receive(bytes)
    except ChildDied as error:
        print(error.death.errors)
"""


@pytest.mark.parametrize("command", [["-c", PARENT], ["../program/parent.py"], ["-m", "parent"]])
def test_a_child_imports_nothing_of_the_folders_of_its_parent(
    tmp_path: Path, command: list[str]
) -> None:
    """Neither of the one in which it runs nor of that of its program."""
    for folder in ("program", "work"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "parent.py").write_text(PARENT)
    env = {"PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path / "work",
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "JSONDecodeError" in parent.stdout
    assert not (tmp_path / "work" / "executed").exists()


def test_a_child_ends_with_its_parent() -> None:
    code = (
        "import os\nfrom weir.sandbox.child import Child\n"
        "from weir.sandbox.limits import ChildLimits\n"
        "child = Child('weir.sparql.functions.matching_worker', ChildLimits(1 << 30))\n"
        "print(child._process.pid, flush=True)\nos._exit(0)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    status = Path(f"/proc/{int(parent.stdout)}/status")
    until = time.monotonic() + 10
    while time.monotonic() < until and _runs(status):
        time.sleep(0.05)
    assert not _runs(status)


def _runs(status: Path) -> bool:
    """Whether a process runs, and does not only wait for somebody to ask how it ended."""
    return status.exists() and "State:\tZ" not in status.read_text()
