"""Messages of a parser process: frames of a letter and content.

Rows are Arrow IPC messages, all other content is JSON.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import IO, assert_never

import pyarrow as pa

from weir.rdf.parse_events import (
    Changes,
    CutOff,
    Discarded,
    ParseEvent,
    Rejections,
    Unusable,
)
from weir.rdf.records import CHANGES, REJECTIONS, Header, Rejection
from weir.sandbox.frames import ProtocolError, decode_json, write_frame


@dataclass(frozen=True, slots=True)
class Started:
    """The request has arrived; what happens from now on is caused by the file."""


@dataclass(frozen=True, slots=True)
class End:
    """The file is done."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The file cannot be opened or read: errno (0 = unknown) and the system's error message."""

    number: int
    reason: str


Message = ParseEvent | Started | End | Failed


def write_message(output: IO[bytes], message: Message) -> None:
    """Write one message, unflushed."""
    letter, content = _encoded(message)
    write_frame(output, letter, memoryview(content))


def _encoded(message: Message) -> tuple[bytes, bytes | pa.Buffer]:
    match message:
        case Changes(batch):
            return b"C", batch.serialize()
        case Rejections(batch):
            return b"R", batch.serialize()
        case Discarded(since, until):
            return b"D", json.dumps([since, until]).encode()
        case Unusable(rejection):
            return b"U", json.dumps(asdict(rejection)).encode()
        case CutOff(reason):
            return b"T", json.dumps(reason).encode()
        case Header(change_id, previous_id, event_time):
            time = event_time.isoformat() if event_time else None
            return b"H", json.dumps([change_id, previous_id, time]).encode()
        case Started():
            return b"S", b""
        case End():
            return b"E", b""
        case Failed(number, reason):
            return b"F", json.dumps([number, reason]).encode()
        case _:
            assert_never(message)


def decode_message(frame: bytes) -> Message:
    """The message of a frame.

    Raises:
        ProtocolError: it is none of this protocol.
    """
    try:
        return _decoded(frame[:1], frame[1:])
    except (ValueError, TypeError, OSError, pa.ArrowException) as error:
        raise ProtocolError(str(error)) from None


def _decoded(letter: bytes, content: bytes) -> Message:
    match letter:
        case b"C":
            return Changes(pa.ipc.read_record_batch(pa.py_buffer(content), CHANGES))
        case b"R":
            return Rejections(pa.ipc.read_record_batch(pa.py_buffer(content), REJECTIONS))
        case b"D":
            return Discarded(*decode_json(content))
        case b"U":
            return Unusable(Rejection(**decode_json(content)))
        case b"T":
            return CutOff(decode_json(content))
        case b"H":
            change_id, previous_id, time = decode_json(content)
            moment = datetime.fromisoformat(time) if time else None
            return Header(change_id, previous_id, moment)
        case b"S":
            return Started()
        case b"E":
            return End()
        case b"F":
            return Failed(*decode_json(content))
    raise ProtocolError("an unknown frame")
