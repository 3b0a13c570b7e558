"""Pieces on a pipe: a letter, the length of what follows (8 bytes, little-endian), and that.

Rows are Arrow IPC messages, the rest is JSON.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import IO, assert_never

import pyarrow as pa

from jobs.rdf.parse_events import Changes, Discarded, Piece, Rejections, Unusable
from jobs.rdf.records import CHANGES, REJECTIONS, Header, Rejection

_PREFIX = struct.Struct("<cQ")


@dataclass(frozen=True, slots=True)
class Started:
    """The request arrived; what happens from now on is the file's doing."""


@dataclass(frozen=True, slots=True)
class End:
    """The file is done."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The file cannot be opened or read: errno (0 = unknown) and the system's words."""

    number: int
    message: str


Frame = Piece | Started | End | Failed


def write_frame(output: IO[bytes], frame: Frame) -> None:
    """Write one frame, unflushed."""
    letter, content = _encoded(frame)
    output.write(_PREFIX.pack(letter, len(content)))
    output.write(content)


def read_frame(source: IO[bytes]) -> Frame | None:
    """Read one frame; None if the writer is gone, in the middle of a frame or between two."""
    prefix = source.read(_PREFIX.size)
    if len(prefix) < _PREFIX.size:
        return None
    letter, size = _PREFIX.unpack(prefix)
    content = source.read(size)
    return _decoded(letter, content) if len(content) == size else None


def _encoded(frame: Frame) -> tuple[bytes, bytes | pa.Buffer]:
    match frame:
        case Changes(batch):
            return b"C", batch.serialize()
        case Rejections(batch):
            return b"R", batch.serialize()
        case Discarded(since, until):
            return b"D", json.dumps([since, until]).encode()
        case Unusable(rejection):
            return b"U", json.dumps(asdict(rejection)).encode()
        case Header(change_id, previous_id, event_time):
            time = event_time.isoformat() if event_time else None
            return b"H", json.dumps([change_id, previous_id, time]).encode()
        case Started():
            return b"S", b""
        case End():
            return b"E", b""
        case Failed(number, message):
            return b"F", json.dumps([number, message]).encode()
        case _:
            assert_never(frame)


def _decoded(letter: bytes, content: bytes) -> Frame:
    match letter:
        case b"C":
            return Changes(pa.ipc.read_record_batch(pa.py_buffer(content), CHANGES))
        case b"R":
            return Rejections(pa.ipc.read_record_batch(pa.py_buffer(content), REJECTIONS))
        case b"D":
            return Discarded(*json.loads(content))
        case b"U":
            return Unusable(Rejection(**json.loads(content)))
        case b"H":
            change_id, previous_id, time = json.loads(content)
            moment = datetime.fromisoformat(time) if time else None
            return Header(change_id, previous_id, moment)
        case b"S":
            return Started()
        case b"E":
            return End()
        case b"F":
            return Failed(*json.loads(content))
    raise ValueError(f"no frame starts with {letter!r}")
