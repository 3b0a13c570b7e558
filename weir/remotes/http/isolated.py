"""A fetch in a child process, which is killed at the deadline and has little memory.

The child (`worker`) gets its task, secrets included, on its standard input. All but a complete
answer is a `Failure`.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from dataclasses import dataclass, field
from typing import assert_never

from weir import sandbox
from weir.remotes.http.messages import (
    End,
    FrameReader,
    MessageError,
    Part,
    Solutions,
    Task,
    Want,
    encode_task,
)
from weir.remotes.http.outcomes import Failure, Response
from weir.remotes.http.request import FetchRequest
from weir.remotes.http.sparql_results import Solution, SparqlResults

MEMORY = 280 << 20
"""Address space of a child, in bytes; so it never has as much resident."""
GRACE_SECONDS = 0.35
"""How long after the deadline the child may still report, before it is killed."""
_PIPE_BYTES = 65536
_OTHER_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Usage:
    """What a fetch took.

    measured: False if the child could not report: bytes are then the most that it may have taken.
    sent, received: bytes at the socket. seconds: of the whole fetch. peer: address connected to.
    peak_memory: resident bytes of the child, 0 if not measured.
    """

    measured: bool
    sent: int
    received: int
    seconds: float
    peer: str
    peak_memory: int

    @property
    def bytes(self) -> int:
        """Both directions."""
        return self.sent + self.received


def fetch_solutions(request: FetchRequest) -> tuple[Response[SparqlResults] | Failure, Usage]:
    """Fetch SPARQL results in a child process."""
    received, usage = _run(request, "solutions")
    if isinstance(received, Failure):
        return received, usage
    end, solutions, _ = received
    return Response(SparqlResults(end.variables, tuple(solutions)), end.content_type), usage


def fetch_body(request: FetchRequest) -> tuple[Response[bytes] | Failure, Usage]:
    """Fetch a decoded body in a child process."""
    received, usage = _run(request, "body")
    if isinstance(received, Failure):
        return received, usage
    end, _, body = received
    return Response(body, end.content_type), usage


@dataclass(slots=True)
class _Received:
    """What a child has sent so far."""

    solutions: list[Solution] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    end: End | None = None

    def add(self, frame: Solutions | Part | End, request: FetchRequest) -> None:
        match frame:
            case Solutions(solutions):
                self.solutions += solutions
            case Part(content):
                self.body += content
            case End():
                self.end = frame
            case _:
                assert_never(frame)
        too_long = len(self.body) > request.limits.decoding.decoded_bytes
        if too_long or len(self.solutions) > request.limits.bindings:
            raise MessageError("more than was asked for")


_Complete = tuple[End, list[Solution], bytes]


def _run(request: FetchRequest, want: Want) -> tuple[_Complete | Failure, Usage]:
    began = time.monotonic()
    deadline = began + request.limits.seconds
    received = _Received()
    child = _start()
    try:
        failure = _converse(child, Task(request, want, deadline, MEMORY), received)
    except MessageError as error:
        failure = Failure("worker_failed", f"the child process sent no proper answer: {error}")
    finally:
        _end(child)
    seconds = time.monotonic() - began
    end = received.end
    if failure is not None or end is None or not _is_plausible(end, received, request):
        # What it sent is unknown, so all of its bytes count.
        unknown = Failure("worker_failed", "the child process sent no proper end")
        return failure or unknown, Usage(False, 0, request.limits.bytes, seconds, "", 0)
    usage = Usage(True, end.sent, end.received, seconds, end.peer, end.peak_memory)
    return end.failure or (end, received.solutions, bytes(received.body)), usage


def _start() -> subprocess.Popen[bytes]:
    return sandbox.start(
        "weir.remotes.http.worker",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )


def _converse(child: subprocess.Popen[bytes], task: Task, received: _Received) -> Failure | None:
    """Write the task and read frames until the end; a failure if there is no end."""
    assert child.stdin is not None
    assert child.stdout is not None
    payload = memoryview(encode_task(task))
    # DEL becomes `\\u007F`, the longest that a byte of an answer becomes in a frame.
    frames = FrameReader(8 * task.request.limits.decoding.decoded_bytes + _OTHER_BYTES)
    with selectors.DefaultSelector() as ready:
        for pipe, event in (
            (child.stdin, selectors.EVENT_WRITE),
            (child.stdout, selectors.EVENT_READ),
        ):
            os.set_blocking(pipe.fileno(), False)
            ready.register(pipe, event)
        while received.end is None:
            left = task.deadline + GRACE_SECONDS - time.monotonic()
            if left <= 0:
                return Failure("deadline_passed", "the child process was killed at the deadline")
            for key, _ in ready.select(left):
                if key.fileobj is child.stdin:
                    payload = _written(child.stdin.fileno(), payload)
                    if not payload:
                        ready.unregister(child.stdin)
                        child.stdin.close()
                    continue
                arrived = os.read(child.stdout.fileno(), _PIPE_BYTES)
                if not arrived:
                    return _death(child, task)
                for frame in frames.frames(arrived):
                    received.add(frame, task.request)
    return None


def _written(pipe: int, payload: memoryview) -> memoryview:
    """What is left to write; nothing if the child is gone, whose end shows why."""
    try:
        return payload[os.write(pipe, payload[:_PIPE_BYTES]) :]
    except BrokenPipeError:
        return payload[:0]


def _death(child: subprocess.Popen[bytes], task: Task) -> Failure:
    """Why a child ended without a report."""
    try:
        code = child.wait(max(task.deadline + GRACE_SECONDS - time.monotonic(), 0.0))
    except subprocess.TimeoutExpired:
        return Failure("worker_failed", "the child process closed its output")
    if code < 0:
        return Failure("worker_failed", f"the child process died of {signal.Signals(-code).name}")
    return Failure("worker_failed", f"the child process ended with exit code {code}")


def _end(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            pipe.close()
    child.kill()
    child.wait()


def _is_plausible(end: End, received: _Received, request: FetchRequest) -> bool:
    if end.sent + end.received > request.limits.bytes:
        return False
    used = {name for solution in received.solutions for name in solution}
    return end.failure is not None or used <= set(end.variables)
