"""A fetch in a child process, which is killed at the deadline and has little memory.

The child (`worker`) gets its task, secrets included, on its standard input. All but a complete
answer is a `Failure`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from weir.remotes.http.decoding import DecodingLimits
from weir.remotes.http.messages import (
    End,
    Part,
    Solutions,
    Task,
    Want,
    decode_frame,
    encode_task,
)
from weir.remotes.http.outcomes import Failure, Response, Value
from weir.remotes.http.request import FetchRequest
from weir.remotes.http.sparql_results import Solution, SparqlResults
from weir.sandbox.child import Child, ChildDied, DeadlinePassed
from weir.sandbox.frames import ProtocolError
from weir.sandbox.limits import ChildLimits

MEMORY = 280 << 20
"""Address space of a child, in bytes; so it never has as much resident."""
GRACE_SECONDS = 0.35
"""How long after the deadline the child may still report, before it is killed."""
_OTHER_BYTES = 1 << 20


def output_bytes(limits: DecodingLimits) -> int:
    """Bytes that a child may send for an answer that is decoded within the limits.

    DEL becomes `\\u007F`, the longest that a byte of an answer becomes in a frame.
    """
    return 8 * limits.decoded_bytes + _OTHER_BYTES


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
        """The bytes sent and received."""
        return self.sent + self.received


def fetch_solutions(request: FetchRequest) -> tuple[Response[SparqlResults] | Failure, Usage]:
    """Fetch SPARQL results in a child process."""
    return _fetch(request, "solutions", _results)


def fetch_body(request: FetchRequest) -> tuple[Response[bytes] | Failure, Usage]:
    """Fetch a decoded body in a child process."""
    return _fetch(request, "body", lambda _, received: bytes(received.body))


def _results(end: End, received: _Received) -> SparqlResults:
    return SparqlResults(end.variables, tuple(received.solutions))


@dataclass(slots=True)
class _Received:
    """What a child has sent so far."""

    solutions: list[Solution] = field(default_factory=list)
    body: bytearray = field(default_factory=bytearray)
    end: End | None = None

    def add(self, frame: Solutions | Part | End, request: FetchRequest) -> None:
        """Take a message.

        Raises:
            ProtocolError: it is more than was asked for.
        """
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
            raise ProtocolError("more than was asked for")


def _fetch(
    request: FetchRequest, want: Want, value_of: Callable[[End, _Received], Value]
) -> tuple[Response[Value] | Failure, Usage]:
    began = time.monotonic()
    deadline = began + request.limits.seconds
    received = _Received()
    failure = _converse(Task(request, want, deadline), received)
    seconds = time.monotonic() - began
    end = received.end
    if failure is not None or end is None or not _is_plausible(end, received, request):
        # What it sent is unknown, so all of its bytes count.
        unknown = Failure("worker_failed", "the child process sent no proper end")
        return failure or unknown, Usage(False, 0, request.limits.bytes, seconds, "", 0)
    usage = Usage(True, end.sent, end.received, seconds, end.peer, end.peak_memory)
    return end.failure or Response(value_of(end, received), end.content_type), usage


def _converse(task: Task, received: _Received) -> Failure | None:
    """Send the task and receive frames until the end; a failure if there is no end."""
    most = output_bytes(task.request.limits.decoding)
    # Nobody sees its errors: a traceback may show a secret.
    limits = ChildLimits(MEMORY, output_bytes=most, error_bytes=0, deadline=task.deadline)
    with Child("weir.remotes.http.worker", limits) as child:
        child.send(encode_task(task))
        try:
            while received.end is None:
                child.receive(
                    lambda frame: received.add(decode_frame(frame), task.request),
                    task.deadline + GRACE_SECONDS,
                )
        except DeadlinePassed:
            return Failure("deadline_passed", "the child process was killed at the deadline")
        except ChildDied as error:
            return Failure("worker_failed", f"the child process {error.death.how}")
    return None


def _is_plausible(end: End, received: _Received, request: FetchRequest) -> bool:
    if end.sent + end.received > request.limits.bytes:
        return False
    used = {name for solution in received.solutions for name in solution}
    return end.failure is not None or used <= set(end.variables)
