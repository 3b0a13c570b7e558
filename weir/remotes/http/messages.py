"""What passes between a fetch and its child process: JSON, to the child as a whole, back in frames.

A frame is its length (4 bytes, big-endian) and JSON: `{"solutions": [...]}` or `{"body": base64}`
any number of times, then one `{"end": ...}`.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from weir.remotes.http.decoding import DecodingLimits
from weir.remotes.http.outcomes import FAILURE_KINDS, Failure
from weir.remotes.http.request import FetchRequest, Limits, Secret
from weir.remotes.http.sparql_results import Solution

Want = Literal["solutions", "body"]
"""What is read from the answer: SPARQL results, or the decoded bytes."""
LARGEST_FRAME = 24 << 20
LENGTH = struct.Struct(">I")


class MessageError(ValueError):
    """Not a message of this protocol."""


@dataclass(frozen=True, slots=True)
class Task:
    """A fetch for the child. deadline: on the monotonic clock. memory: bytes of address space."""

    request: FetchRequest
    want: Want
    deadline: float
    memory: int


@dataclass(frozen=True, slots=True)
class Solutions:
    """The next solutions."""

    solutions: list[Solution]


@dataclass(frozen=True, slots=True)
class Part:
    """The next bytes of the body."""

    content: bytes


@dataclass(frozen=True, slots=True)
class End:
    """How the fetch ended and what it took.

    variables: of the results. peak_memory: resident bytes of the child, at most.
    """

    failure: Failure | None
    content_type: str
    variables: tuple[str, ...]
    sent: int
    received: int
    seconds: float
    peer: str
    peak_memory: int


Frame = Solutions | Part | End


def encode_task(task: Task) -> bytes:
    """The task with its secret in clear: for a pipe, and for nothing else."""
    request = {name: getattr(task.request, name) for name in FetchRequest.__dataclass_fields__}
    secret = task.request.authorization
    request |= {
        "body": base64.b64encode(task.request.body).decode(),
        "limits": asdict(task.request.limits),
        "authorization": secret.reveal() if secret else None,
    }
    message = {"want": task.want, "deadline": task.deadline, "memory": task.memory}
    return json.dumps({**message, "request": request}).encode()


def decode_task(content: bytes) -> Task:
    """The task again; it is trusted, since the parent wrote it."""
    message = json.loads(content)
    request = message["request"]
    limits = request["limits"]
    limits["decoding"] = DecodingLimits(**limits["decoding"])
    secret = request["authorization"]
    request |= {
        "body": base64.b64decode(request["body"]),
        "limits": Limits(**limits),
        "allow": tuple(request["allow"]),
        "ports": tuple(request["ports"]),
        "authorization": Secret(secret) if secret is not None else None,
    }
    return Task(FetchRequest(**request), message["want"], message["deadline"], message["memory"])


def encode_frame(frame: Frame) -> bytes:
    """One frame with its length."""
    match frame:
        case Solutions(solutions):
            message: dict[str, Any] = {"solutions": solutions}
        case Part(content):
            message = {"body": base64.b64encode(content).decode()}
        case End():
            message = {"end": asdict(frame)}
    content = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    return LENGTH.pack(len(content)) + content


class FrameReader:
    """Frames out of bytes that arrive in pieces, `most` bytes altogether."""

    def __init__(self, most: int) -> None:
        self._buffer = bytearray()
        self._left = most

    def frames(self, arrived: bytes) -> Iterator[Frame]:
        """The frames that `arrived` completes.

        Raises:
            MessageError: a frame that is too large or not of this protocol, or too many of them.
        """
        self._left -= len(arrived)
        if self._left < 0:
            raise MessageError("too many bytes")
        self._buffer += arrived
        while len(self._buffer) >= LENGTH.size:
            (size,) = LENGTH.unpack_from(self._buffer)
            if size > LARGEST_FRAME:
                raise MessageError("a frame is too large")
            if len(self._buffer) < LENGTH.size + size:
                return
            content = bytes(self._buffer[LENGTH.size : LENGTH.size + size])
            del self._buffer[: LENGTH.size + size]
            yield _decoded(content)


def _decoded(content: bytes) -> Frame:
    try:
        message = json.loads(content)
    except (ValueError, RecursionError):
        raise MessageError("a frame is not JSON") from None
    match message:
        case {"solutions": list(solutions), **rest} if not rest:
            if not all(_is_solution(solution) for solution in solutions):
                raise MessageError("a solution is none")
            return Solutions(solutions)
        case {"body": str(text), **rest} if not rest:
            try:
                return Part(base64.b64decode(text, validate=True))
            except ValueError:
                raise MessageError("a part of the body is not base64") from None
        case {"end": dict(end), **rest} if not rest:
            return _end(end)
        case _:
            raise MessageError("an unknown frame")


def _is_solution(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(term, str) and term.startswith(("<", '"', "_:")) for term in value.values()
    )


def _end(end: dict[str, Any]) -> End:
    match end:
        case {
            "failure": None | dict() as failure,
            "content_type": str(content_type),
            "variables": list(variables),
            "sent": int(sent),
            "received": int(received),
            "seconds": float(seconds),
            "peer": str(peer),
            "peak_memory": int(peak_memory),
        } if all(isinstance(name, str) for name in variables) and min(sent, received) >= 0:
            return End(
                _failure(failure) if failure is not None else None,
                content_type,
                tuple(variables),
                sent,
                received,
                seconds,
                peer,
                peak_memory,
            )
        case _:
            raise MessageError("an unknown end")


def _failure(value: dict[str, Any]) -> Failure:
    match value:
        case {
            "kind": str(kind),
            "reason": str(reason),
            "status": None | int() as status,
            "retry_after": None | float() as wait,
        } if kind in FAILURE_KINDS:
            return Failure(
                next(each for each in FAILURE_KINDS if each == kind), reason, status, wait
            )
        case _:
            raise MessageError("an unknown failure")
