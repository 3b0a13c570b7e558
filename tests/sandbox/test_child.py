"""A child process: what it may take, and of what it died."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from weir.sandbox.child import Child, ChildDied, DeadlinePassed
from weir.sandbox.death import Cause, death
from weir.sandbox.frames import ProtocolError
from weir.sandbox.limits import Limits

START = "import os, signal, time\nfrom weir.sandbox.serving import serve\n"
ROOMY = Limits(1 << 30)
Start = Callable[..., Child]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    """Start a child whose answer is the given statements."""
    popen = subprocess.Popen

    def started(statements: str, limits: Limits = ROOMY) -> Child:
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
        ("bytearray(1 << 30)", Limits(200 << 20), Cause.MEMORY),
        ("bytearray(1 << 30)", Limits(100 << 20, "more"), Cause.MEMORY),
        ("os.write(2, b'memory allocation of 9 bytes failed'); os.abort()", ROOMY, Cause.MEMORY),
        ("os.abort()", ROOMY, Cause.ITSELF),
        ("1 / 0", ROOMY, Cause.ITSELF),
        ("os.kill(os.getpid(), signal.SIGKILL)", ROOMY, Cause.OUTSIDE),
        (NO_END, ROOMY, Cause.SECONDS),
        ("os.close(1); os.close(output.fileno()); time.sleep(20)", ROOMY, Cause.OUTPUT_CLOSED),
    ],
)
def test_a_child_died_of_what_ended_it(
    start: Start, statements: str, limits: Limits, cause: Cause
) -> None:
    with start(statements, limits) as child, pytest.raises(ChildDied) as error:
        child.receive(time.monotonic() + 4)
    assert error.value.death.cause is cause


def test_a_child_ends_after_its_deadline_also_if_nobody_waits_for_it(start: Start) -> None:
    limits = Limits(1 << 30, deadline=time.monotonic())
    with start("time.sleep(20)", limits) as child, pytest.raises(ChildDied) as error:
        child.receive()
    assert error.value.death.cause is Cause.DEADLINE


def test_a_child_that_does_not_answer_in_time_is_killed_when_it_is_closed(start: Start) -> None:
    child = start("time.sleep(20)")
    with child, pytest.raises(DeadlinePassed):
        child.receive(time.monotonic() + 0.5)
    assert child._process.returncode == -signal.SIGKILL


def test_a_child_answers_one_message_after_the_other_however_long(start: Start) -> None:
    with start(ECHO) as child:
        assert child.receive() == b"x"
        for message in (b"", b"y" * 1_000_000, b"z"):
            child.send(message)
            assert child.receive() == message


def test_a_child_that_sends_more_than_it_may_is_an_error(start: Start) -> None:
    with start(ECHO, Limits(1 << 30, output_bytes=100)) as child:
        assert child.receive() == b"x"
        child.send(b"y" * 1000)
        with pytest.raises(ProtocolError):
            child.receive()


def test_a_child_writes_no_more_errors_than_it_may(start: Start) -> None:
    many = "try:\n    os.write(2, b'e' * 99)\n    os.write(2, b'e' * 99)\nfinally: os._exit(3)"
    with start(many, Limits(1 << 30, error_bytes=100)) as child, pytest.raises(ChildDied) as error:
        child.receive()
    assert error.value.death == death(3, "e" * 100)
    assert error.value.death.how == "exit code 3"


def test_what_a_child_prints_is_no_message(start: Start) -> None:
    with start(f"print('no message', flush=True)\n{ECHO}") as child:
        assert child.receive() == b"x"


def test_a_child_ends_with_its_parent() -> None:
    code = (
        "import os\nfrom weir.sandbox.child import Child\nfrom weir.sandbox.limits import Limits\n"
        "child = Child('weir.sparql.functions.matching_worker', Limits(1 << 30))\n"
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
