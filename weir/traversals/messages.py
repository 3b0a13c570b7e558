"""What passes between the pool and its child process: options, then tasks, and frames back.

A frame is JSON: `{"ready": true}` once the child takes tasks, `{"reading": id}` when it begins to
read a document, and for each task one `{"ended": ...}`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from weir.remotes.http.decoding import DecodingLimits
from weir.remotes.http.messages import failure_of
from weir.remotes.http.outcomes import Failure
from weir.remotes.http.pages import Credential, Manner, Page, PageRequest
from weir.remotes.http.request import FetchLimits, Secret
from weir.sandbox.frames import ProtocolError, decode_json

DOCUMENT_BYTES = 2_000_000
"""The longest document, decoded."""


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """How a pool works.

    manner: of all requests.
    reading: options of `weir.traversals.reading.read`, as JSON has them.
    hosts: that are asked at once, at most.
    memory: address space of the child, in bytes.
    """

    manner: Manner
    reading: Mapping[str, Any] = field(default_factory=dict)
    hosts: int = 8
    memory: int = 1 << 30


@dataclass(frozen=True, slots=True)
class FetchTask:
    """A document to fetch and read.

    id: unique among the tasks of one `fetch`. iri: why it is asked for; `url` is what is asked.
    most_bytes: on the wire, in both directions. document_bytes: of the document, decoded.
    seconds: from the start of the request until the document is read.
    conditions: as `caching.conditions` makes them.
    credential: sent to its own origin only.
    pause: seconds that the host is left alone before the request.
    unread: whether the body itself is wanted (robots.txt) in place of what is read of it.
    """

    id: int
    iri: str
    url: str
    accept: str
    most_bytes: int
    seconds: float
    document_bytes: int = DOCUMENT_BYTES
    conditions: tuple[tuple[str, str], ...] = ()
    credential: Credential | None = None
    pause: float = 0.0
    unread: bool = False

    @property
    def request(self) -> PageRequest:
        """The request to send."""
        limits = FetchLimits(
            bytes=self.most_bytes,
            seconds=self.seconds,
            decoding=DecodingLimits(decoded_bytes=self.document_bytes),
        )
        return PageRequest(self.url, self.accept, limits, self.conditions, self.credential)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a task took.

    measured: False if the child could not report: bytes are then the most that it may have taken.
    sent, received: bytes at the socket. seconds: of the whole task. peer: address connected to.
    """

    measured: bool
    sent: int
    received: int
    seconds: float
    peer: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The child has started."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The child begins to read the document of a task."""

    id: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How a task ended.

    value: what was read of the document, if its status is 200 and it is to be read.
    """

    id: int
    outcome: Page | Failure
    value: dict[str, Any] | None
    usage: Usage


Frame = Ready | Reading | Ended


def encode_options(options: PoolOptions) -> bytes:
    """The options for the child."""
    return json.dumps(asdict(options)).encode()


def decode_options(content: bytes) -> PoolOptions:
    """The options again; they are trusted, since the parent wrote them."""
    message = json.loads(content)
    manner = message["manner"]
    manner |= {"allow": tuple(manner["allow"]), "ports": tuple(manner["ports"])}
    return PoolOptions(**{**message, "manner": Manner(**manner)})


def encode_task(task: FetchTask) -> bytes:
    """The task with its secret in clear: for a pipe, and for nothing else."""
    message = {name: getattr(task, name) for name in FetchTask.__dataclass_fields__}
    if task.credential is not None:
        message["credential"] = [task.credential.origin, task.credential.authorization.reveal()]
    return json.dumps(message).encode()


def decode_task(content: bytes) -> FetchTask:
    """The task again; it is trusted, since the parent wrote it."""
    message = json.loads(content)
    message["conditions"] = tuple((name, value) for name, value in message["conditions"])
    if message["credential"] is not None:
        origin, authorization = message["credential"]
        message["credential"] = Credential(origin, Secret(authorization))
    return FetchTask(**message)


def encode_frame(frame: Frame) -> bytes:
    """The content of one frame. Of `Ended.value`, values that are bytes are sent as base64."""
    match frame:
        case Ready():
            return b'{"ready":true}'
        case Reading(id):
            return b'{"reading":%d}' % id
        case Ended(id, outcome, value, usage):
            value = value or {}
            content = {name: _base64(part) for name, part in value.items() if _is_bytes(part)}
            ended: dict[str, Any] = {
                "id": id,
                "usage": [usage.sent, usage.received, usage.seconds, usage.peer],
                "failure": None,
            }
            match outcome:
                case Failure():
                    ended["failure"] = asdict(outcome)
                case Page(status, headers, body):
                    ended |= {"status": status, "headers": headers, "body": _base64(body)}
                    ended["value"] = {k: part for k, part in value.items() if not _is_bytes(part)}
                    ended["bytes"] = content
                    ended["read"] = frame.value is not None
            return json.dumps({"ended": ended}, separators=(",", ":")).encode()


def decode_frame(content: bytes) -> Frame:
    """The message of a frame.

    Raises:
        ProtocolError: it is none of this protocol.
    """
    match decode_json(content):
        case {"ready": True, **rest} if not rest:
            return Ready()
        case {"reading": int(id), **rest} if not rest:
            return Reading(id)
        case {"ended": dict(ended), **rest} if not rest:
            return _ended(ended)
        case _:
            raise ProtocolError("an unknown frame")


def _ended(ended: dict[str, Any]) -> Ended:
    match ended:
        case {"id": int(id), "usage": usage, "failure": dict(failure), **rest} if not rest:
            return Ended(id, failure_of(failure), None, _usage(usage))
        case {
            "id": int(id),
            "usage": usage,
            "failure": None,
            "status": int(status),
            "headers": dict(headers),
            "body": body,
            "value": dict(value),
            "bytes": dict(content),
            "read": bool(read),
            **rest,
        } if not rest and all(isinstance(text, str) for text in headers.values()):
            value |= {name: _decoded(text) for name, text in content.items()}
            page = Page(status, headers, _decoded(body))
            return Ended(id, page, value if read else None, _usage(usage))
        case _:
            raise ProtocolError("an unknown end")


def _usage(usage: Any) -> Usage:
    match usage:
        case [int(sent), int(received), float(seconds), str(peer)] if min(sent, received) >= 0:
            return Usage(True, sent, received, seconds, peer)
        case _:
            raise ProtocolError("an unknown usage")


def _is_bytes(value: object) -> bool:
    return isinstance(value, bytes)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _decoded(text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, TypeError):
        raise ProtocolError("bytes are not base64") from None
