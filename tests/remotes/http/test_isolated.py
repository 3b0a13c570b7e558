"""The child process: little memory, no secrets where others look, and any end is an outcome."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.counting_server import CountingServer, answer_of
from tests.support.hostile_server import GOOD, results
from weir.remotes.http import isolated
from weir.remotes.http.isolated import Usage, fetch_body, fetch_solutions
from weir.remotes.http.messages import (
    End,
    Frame,
    Part,
    Solutions,
    Task,
    decode_frame,
    decode_task,
    encode_frame,
    encode_task,
)
from weir.remotes.http.outcomes import FAILURE_KINDS, Failure, Response
from weir.remotes.http.request import FetchLimits, FetchRequest, Secret
from weir.sandbox.frames import LENGTH, ProtocolError
from weir.sandbox.limits import ChildLimits

TYPE = "Content-Type: application/sparql-results+json"
MEMORY = 300 << 20
CANARY = "c4n4ry-pass"
BASIC = "Basic " + base64.b64encode(f"user:{CANARY}".encode()).decode()
VARIABLES = {
    "PYTHONPATH",
    "PYTHONMALLOC",
    "MALLOC_ARENA_MAX",
    "ARROW_DEFAULT_MEMORY_POOL",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "LC_ALL",
}
LIMITS = FetchLimits(bytes=96 << 20, seconds=60.0, bindings=2_000_000)


def request_to(server: CountingServer, **changes: Any) -> FetchRequest:
    plain = FetchRequest(
        server.url,
        "application/sparql-results+json",
        "tests@example.org",
        LIMITS,
        allow=("127.0.0.1/32",),
        ports=(server.port,),
    )
    return replace(plain, **changes)


def children() -> Iterator[Path]:
    """Folders in /proc of the running children of this process."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"PPid:\t{os.getpid()}\n" in (folder / "status").read_text():
                yield folder


@contextlib.contextmanager
def waiting_child(
    request: FetchRequest, asked: Event
) -> Iterator[tuple[Path, Future[tuple[Response[Any] | Failure, Usage]]]]:
    """A child whose request has arrived at the server, which does not answer yet."""
    before = set(children())
    with ThreadPoolExecutor(1) as beside:
        future = beside.submit(fetch_solutions, request)
        assert asked.wait(20)
        (child,) = set(children()) - before
        yield child, future


@contextlib.contextmanager
def stalling_server() -> Iterator[tuple[CountingServer, Event, Event]]:
    """A server that answers when it may; (server, a request has come, it may answer)."""
    asked, answer = Event(), Event()

    def wait(_: bytes) -> bytes:
        asked.set()
        answer.wait(20)
        return answer_of(results(2), TYPE)

    with CountingServer(wait) as server:
        yield server, asked, answer
        answer.set()


JSON_BOMBS = {
    "10^6 solutions": lambda: results(10**6),
    "deep nesting": lambda: b'{"head":' + b"[" * (60 << 20),
    "one long literal": lambda: results(1, "http://e/" + "x" * (60 << 20)),
    "long text beyond the BMP": lambda: results(1)[:-4] + '"😀'.encode() * (15 << 20),
    "a solution of many objects": lambda: (
        b'{"head":{"vars":[]},"results":{"bindings":[[' + b"[]," * (20 << 20)
    ),
    "a long number": lambda: b'{"head":' + b"1" * (60 << 20),
    "spaces": lambda: b" " * (60 << 20),
    "many members": lambda: b"{" + b",".join(b'"%d":0' % n for n in range(4_000_000)) + b"}",
}


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("bomb", JSON_BOMBS)
@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gzip"])
def test_a_child_stays_within_300_mib(bomb: str, zipped: bool) -> None:
    body = JSON_BOMBS[bomb]()
    sent = answer_of(gzip.compress(body, 1), TYPE, "Content-Encoding: gzip") if zipped else b""
    with CountingServer(lambda _: sent or answer_of(body, TYPE)) as server:
        answer, usage = fetch_solutions(request_to(server, limits=replace(LIMITS, bindings=1000)))
    assert isinstance(answer, Failure)
    wrong = {"too_many_bindings", "not_results", "too_much_decoded"}
    assert answer.kind in wrong, answer
    assert usage.measured
    assert 0 < usage.peak_memory <= MEMORY


@pytest.mark.usefixtures("slow")
def test_a_million_solutions_that_are_wanted_are_read_within_300_mib() -> None:
    with CountingServer(lambda _: answer_of(results(10**6, "u:a"), TYPE)) as server:
        answer, usage = fetch_solutions(request_to(server))
    assert isinstance(answer, Response), answer
    assert len(answer.value.solutions) == 10**6
    assert usage.peak_memory <= MEMORY


def test_a_child_without_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "MEMORY", 40 << 20)
    body = b'{"head":{"vars":[]},"results":{"bindings":[[' + b"[]," * (1 << 19)
    with CountingServer(lambda _: answer_of(body, TYPE)) as server:
        answer, usage = fetch_solutions(request_to(server))
    assert answer == Failure("too_much_memory", "it needs more than 40 MiB of memory")
    assert usage.measured


def test_a_secret_is_in_no_argument_and_no_variable_of_the_child(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_WD", f"http://user:{CANARY}@example.org")
    with stalling_server() as (server, asked, answer):
        request = request_to(server, authorization=Secret(BASIC))
        with waiting_child(request, asked) as (child, future):
            arguments = (child / "cmdline").read_bytes()
            variables = (child / "environ").read_bytes()
            answer.set()
            assert isinstance(future.result()[0], Response)
    assert b"weir.remotes.http.worker" in arguments
    for text in (arguments, variables):
        for secret in (CANARY, BASIC, BASIC.split()[1]):
            assert secret.encode() not in text
    names = {line.split(b"=")[0].decode() for line in variables.split(b"\0") if line}
    assert names == VARIABLES
    assert BASIC.encode() in server.requests[0]


ECHOES: dict[str, Callable[[bytes], bytes]] = {
    "body of an error": lambda sent: answer_of(sent, status="401 No"),
    "decoded in an error": lambda _: answer_of(f"user:{CANARY}".encode(), status="500 No"),
    "end of a long error": lambda sent: answer_of(b"x" * 460 + sent, status="500 No"),
    "location": lambda _: answer_of(b"", f"Location: http://e/{BASIC}", status="302 No"),
    "type": lambda _: answer_of(b"", f"Content-Type: {BASIC}"),
    "body of another type": lambda sent: answer_of(sent, "Content-Type: text/plain"),
    "status line": lambda _: f"HTTP/1.1 {BASIC}\r\n\r\n".encode(),
    "no HTTP": lambda sent: sent,
    "header": lambda _: f"HTTP/1.1 200 OK\r\n{BASIC}\r\n\r\n".encode(),
    "length": lambda _: f"HTTP/1.1 200 OK\r\nContent-Length: {BASIC}\r\n\r\n".encode(),
    "IRI": lambda _: answer_of(results(1, f"no iri {BASIC}"), TYPE),
    "JSON": lambda _: answer_of(f'{{"{CANARY}'.encode(), TYPE),
}


@pytest.mark.parametrize("echo", ECHOES)
@pytest.mark.parametrize("cut", [0, 5])
def test_a_secret_that_a_server_repeats_is_in_no_outcome(echo: str, cut: int) -> None:
    def answer(sent: bytes) -> bytes:
        echoed = ECHOES[echo](sent)
        return echoed[: len(echoed) - cut]

    with CountingServer(answer) as server:
        failure, _ = fetch_solutions(request_to(server, authorization=Secret(BASIC)))
    assert isinstance(failure, Failure)
    for secret in (CANARY, BASIC, BASIC.split()[1]):
        for size in range(6, len(secret) + 1):
            assert secret[:size] not in failure.reason.replace("Basic [secret]", "")


def test_a_secret_is_in_no_text_of_a_request_and_of_its_errors() -> None:
    limits = FetchLimits(bytes=1, seconds=1.0)
    request = FetchRequest("http://e/", "*/*", "c", limits, authorization=Secret(BASIC))
    texts = [repr(request), str(request), repr(request.authorization), f"{request.authorization}"]
    for wrong in (f"{CANARY}\r\nX: y", f"é{CANARY}", f" {CANARY}"):
        with pytest.raises(ValueError, match="authorization") as error:
            replace(request, authorization=Secret(wrong))
        texts += traceback.format_exception(error.value)
    assert not [text for text in texts if CANARY in text and "replace(" not in text]


def frames(*messages: Any) -> str:
    """Python that writes these frames."""
    content = b"".join(
        LENGTH.pack(len(frame)) + frame for frame in (json.dumps(m).encode() for m in messages)
    )
    return f"import sys; sys.stdout.buffer.write({content!r})"


GOOD_END: dict[str, Any] = {
    "failure": None,
    "content_type": "",
    "variables": [],
    "sent": 1,
    "received": 1,
    "seconds": 0.5,
    "peer": "",
    "peak_memory": 0,
}
BROKEN_CHILDREN = {
    "silent death": "pass",
    "exit code": "import os; os._exit(3)",
    "signal": "import os; os.kill(os.getpid(), 11)",
    "unread task": "import os; os.close(0); print('x' * 10)",
    "text": "print('Traceback (most recent call last):' * 1000)",
    "closed output": "import os, time; os.close(1); time.sleep(20)",
    "cut frame": "import sys; sys.stdout.buffer.write(b'\\0\\0\\0\\0\\0\\0\\1\\0{')",
    "huge frame": "import sys; sys.stdout.buffer.write(b'\\xff' * 8 + b'x' * 100)",
    "endless frames": (
        "import sys\nwhile True: sys.stdout.buffer.write(b'\\0\\0\\0\\0\\0\\0\\0\\2{}' * 999)"
    ),
    "endless solutions": (
        "import sys\nwhile True: "
        "sys.stdout.buffer.write(b'\\0\\0\\0\\0\\0\\0\\0\\x18{\"solutions\":[{},{},{}]}')"
    ),
    "no end": frames({"solutions": [{"a": "<u:a>"}]}),
    "no solution": frames({"solutions": [{"a": 5}]}, {"end": GOOD_END}),
    "no term": frames({"solutions": [{"a": "b"}]}, {"end": GOOD_END}),
    "undeclared variable": frames({"solutions": [{"a": "<u:a>"}]}, {"end": GOOD_END}),
    "unknown failure": frames({"end": {**GOOD_END, "failure": {"kind": "x"}}}),
    "negative bytes": frames({"end": {**GOOD_END, "sent": -1}}),
    "impossible bytes": frames({"end": {**GOOD_END, "sent": 1 << 60}}),
    "array": frames([1]),
}


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("broken", BROKEN_CHILDREN)
def test_a_child_that_breaks_the_protocol_is_a_failure_that_costs_all_its_bytes(
    monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    started = replace_child(monkeypatch, BROKEN_CHILDREN[broken])
    limits = FetchLimits(bytes=1000, seconds=3.0, bindings=100)
    body = b"x" * (1 << 20)  # more than a pipe holds
    request = FetchRequest("http://e/", "*/*", "c", limits, body=body)
    began = time.monotonic()
    answer, usage = fetch_solutions(request)
    assert time.monotonic() - began <= 3.5
    assert isinstance(answer, Failure)
    assert answer.kind == "worker_failed"
    assert (usage.measured, usage.bytes) == (False, 1000)
    assert started[0].returncode is not None


def test_a_child_that_does_not_end_is_killed_at_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = "import signal, time; [signal.signal(n, 1) for n in (2, 14, 15)]; time.sleep(20)"
    started = replace_child(monkeypatch, code)
    request = FetchRequest("http://e/", "*/*", "c", FetchLimits(bytes=1000, seconds=0.5))
    began = time.monotonic()
    answer, usage = fetch_solutions(request)
    assert time.monotonic() - began <= 1.0
    assert isinstance(answer, Failure)
    assert (answer.kind, usage.bytes) == ("deadline_passed", 1000)
    assert started[0].returncode == -signal.SIGKILL


def replace_child(monkeypatch: pytest.MonkeyPatch, code: str) -> list[subprocess.Popen[bytes]]:
    """Start this Python in place of the worker."""
    started = []
    popen = subprocess.Popen

    def start(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        assert command[-1] == "weir.remotes.http.worker"
        started.append(popen([sys.executable, "-I", "-S", "-c", code], **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    return started


def test_a_child_that_somebody_kills_is_a_failure() -> None:
    with (
        stalling_server() as (server, asked, _),
        waiting_child(request_to(server), asked) as (child, future),
    ):
        os.kill(int(child.name), signal.SIGKILL)
        answer, usage = future.result()
    assert isinstance(answer, Failure)
    assert answer == Failure("worker_failed", "the child process died of SIGKILL")
    assert usage.bytes == LIMITS.bytes


@pytest.mark.usefixtures("slow")
def test_a_child_does_not_outlive_its_parent_by_much() -> None:
    with stalling_server() as (server, asked, _):
        code = (
            "from weir.remotes.http.isolated import *; from weir.remotes.http.request import *;"
            f"fetch_body(FetchRequest({server.url!r}, '*/*', 'c', FetchLimits(1000, 2.0),"
            f" allow=('127.0.0.1/32',), ports=({server.port},)))"
        )
        path = os.pathsep.join(sys.path)
        parent = subprocess.Popen(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}
        )
        assert asked.wait(20)
        (child,) = (
            folder for folder in Path("/proc").glob("[0-9]*") if _is_child_of(folder, parent.pid)
        )
        parent.kill()
        parent.wait()
        until = time.monotonic() + 10
        while child.exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert not child.exists()


def test_a_child_that_hangs_ends_by_itself_without_a_parent() -> None:
    code = (
        "from weir.remotes.http import worker\n"
        "def hang(*_):\n    while True: pass\n"
        "worker.fetch = hang\n"
        "worker.main()"
    )
    now = time.monotonic()
    limits = json.dumps(asdict(ChildLimits(isolated.MEMORY, deadline=now))).encode()
    task = encode_task(Task(FetchRequest("http://e/", "*/*", "c", LIMITS), "body", now))
    child = subprocess.run(
        [sys.executable, "-c", code],
        input=b"".join(LENGTH.pack(len(message)) + message for message in (limits, task)),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=30,
        check=False,
    )
    assert child.returncode == -signal.SIGALRM


def _is_child_of(folder: Path, parent: int) -> bool:
    with contextlib.suppress(OSError):
        return f"PPid:\t{parent}\n" in (folder / "status").read_text()
    return False


@given(st.binary(max_size=200))
def test_bytes_that_are_no_message_are_refused(content: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_frame(content)


TERMS = st.sampled_from(["<u:a>", '"é\\n"@en', "_:b"])
FAILURES = st.builds(
    Failure,
    st.sampled_from(FAILURE_KINDS),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.none() | st.integers(100, 599),
    st.none() | st.floats(0, 3600),
)
FRAMES = st.one_of(
    st.builds(Solutions, st.lists(st.dictionaries(st.sampled_from("abé"), TERMS))),
    st.builds(Part, st.binary()),
    st.builds(
        End,
        st.none() | FAILURES,
        st.just("a/b"),
        st.just(("a", "é")),
        st.integers(0, 10),
        st.integers(0, 10),
        st.floats(0, 10),
        st.just("127.0.0.1"),
        st.integers(0, 10),
    ),
)


@given(FRAMES)
def test_a_message_is_read_as_it_was_written(sent: Frame) -> None:
    assert decode_frame(encode_frame(sent)) == sent


def test_a_task_is_read_as_it_was_written() -> None:
    request = FetchRequest(
        "http://e/",
        "*/*",
        "c",
        FetchLimits(bytes=1, seconds=2.5),
        "POST",
        b"\xff",
        "a/b",
        ("127.0.0.1/32",),
        (1, 2),
        Secret("s"),
        (("If-None-Match", '"1"'),),
        "ca",
    )
    for asked in (request, replace(request, authorization=None)):
        task = Task(asked, "body", 1.5)
        assert decode_task(encode_task(task)) == task


def test_a_body_comes_back_whole() -> None:
    body = os.urandom(300_000)
    with CountingServer(lambda _: answer_of(body, "Content-Type: text/turtle")) as server:
        answer, usage = fetch_body(request_to(server))
    assert answer == Response(body, "text/turtle")
    assert usage.bytes == server.sent + server.received
    assert usage.peer == "127.0.0.1"


def test_every_kind_of_failure_has_a_plain_name() -> None:
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", kind) for kind in FAILURE_KINDS)
    assert len(set(FAILURE_KINDS)) == len(FAILURE_KINDS)
    assert GOOD.expected not in FAILURE_KINDS
