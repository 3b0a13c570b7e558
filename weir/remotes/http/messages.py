"""What passes between a fetch and its child process: a task to the child, and frames back.

A frame is JSON: `{"solutions": [...]}` or `{"body": base64}` any number of times, then one
`{"end": ...}`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from weir.remotes.http.decoding import DecodingLimits
from weir.remotes.http.outcomes import FAILURE_KINDS, Failure
from weir.remotes.http.request import FetchLimits, FetchRequest, Secret
from weir.remotes.http.sparql_results import Solution
from weir.sandbox.frames import ProtocolError, decode_json

Want = Literal["solutions", "body"]
"""What is read from the answer: SPARQL results, or the decoded bytes."""


@dataclass(frozen=True, slots=True)
class Task:
    """A fetch for the child. deadline: on the monotonic clock."""

    request: FetchRequest
    want: Want
    deadline: float


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
    message = {"want": task.want, "deadline": task.deadline}
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
        "limits": FetchLimits(**limits),
        "allow": tuple(request["allow"]),
        "ports": tuple(request["ports"]),
        "authorization": Secret(secret) if secret is not None else None,
        "conditions": tuple((name, value) for name, value in request["conditions"]),
    }
    return Task(FetchRequest(**request), message["want"], message["deadline"])


def encode_frame(frame: Frame) -> bytes:
    """The content of one frame."""
    match frame:
        case Solutions(solutions):
            message: dict[str, Any] = {"solutions": solutions}
        case Part(content):
            message = {"body": base64.b64encode(content).decode()}
        case End():
            message = {"end": asdict(frame)}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def decode_frame(content: bytes) -> Frame:
    """The message of a frame.

    Raises:
        ProtocolError: it is none of this protocol.
    """
    match decode_json(content):
        case {"solutions": list(solutions), **rest} if not rest:
            if not all(_is_solution(solution) for solution in solutions):
                raise ProtocolError("a solution is none")
            return Solutions(solutions)
        case {"body": str(text), **rest} if not rest:
            try:
                return Part(base64.b64decode(text, validate=True))
            except ValueError:
                raise ProtocolError("a part of the body is not base64") from None
        case {"end": dict(end), **rest} if not rest:
            return _end(end)
        case _:
            raise ProtocolError("an unknown frame")


def _is_solution(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(term, str) and term.startswith(("<", '"', "_:")) for term in value.values()
    )


_END: Mapping[str, type] = {
    "content_type": str,
    "variables": list,
    "sent": int,
    "received": int,
    "seconds": float,
    "peer": str,
    "peak_memory": int,
}


def _end(end: dict[str, Any]) -> End:
    failure = end.pop("failure", "")
    is_typed = end.keys() == _END.keys() and all(
        isinstance(value, _END[name]) for name, value in end.items()
    )
    if not is_typed or not all(isinstance(name, str) for name in end["variables"]):
        raise ProtocolError("an unknown end")
    if min(end["sent"], end["received"]) < 0:
        raise ProtocolError("an unknown end")
    variables = tuple(end.pop("variables"))
    return End(None if failure is None else failure_of(failure), variables=variables, **end)


def failure_of(value: Any) -> Failure:
    """The failure in a frame.

    Raises:
        ProtocolError: it is none.
    """
    match value:
        case {
            "kind": kind,
            "reason": str(),
            "status": None | int(),
            "retry_after": None | float(),
            **rest,
        } if kind in FAILURE_KINDS and not rest:
            return Failure(**value)
        case _:
            raise ProtocolError("an unknown failure")
