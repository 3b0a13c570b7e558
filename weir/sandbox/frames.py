"""Messages through a pipe: each is its length (8 bytes, big-endian) and that many bytes."""

from __future__ import annotations

import json
import struct
from typing import IO, Any

LENGTH = struct.Struct(">Q")


class ProtocolError(ValueError):
    """A child sent what is no message, or more than it may: a cause of its `Death`."""


def write_frame(output: IO[bytes], *parts: bytes | memoryview) -> None:
    """Write one message, unflushed."""
    output.write(LENGTH.pack(sum(len(part) for part in parts)))
    for part in parts:
        output.write(part)


def read_frame(source: IO[bytes]) -> bytes | None:
    """Read one message of a writer that is trusted; None if the writer is gone."""
    head = source.read(LENGTH.size)
    return source.read(LENGTH.unpack(head)[0]) if head else None


def decode_json(frame: bytes) -> Any:
    """The value of a frame of JSON.

    Raises:
        ProtocolError: it is none.
    """
    try:
        return json.loads(frame)
    except (ValueError, RecursionError):
        raise ProtocolError("a frame is not JSON") from None


class FrameReader:
    """Messages out of bytes that arrive in pieces.

    Args:
        longest: bytes of a message at most.
        most: bytes of all messages, their lengths included; None without a limit.
    """

    def __init__(self, longest: int, most: int | None = None) -> None:
        self._longest, self._left = longest, most
        # What has arrived: the rest of `_first` from `_at` on, then `_later`, so many bytes.
        self._first, self._at = b"", 0
        self._later: list[bytes] = []
        self._size = 0

    def add(self, arrived: bytes) -> None:
        """Take the next bytes.

        Raises:
            ProtocolError: there are too many of them.
        """
        if self._left is not None:
            self._left -= len(arrived)
            if self._left < 0:
                raise ProtocolError("too many bytes")
        self._later.append(arrived)
        self._size += len(arrived)

    def take(self) -> bytes | None:
        """The next message; None if it is not complete.

        Raises:
            ProtocolError: it is too large.
        """
        if self._size < LENGTH.size:
            return None
        if len(self._first) - self._at < LENGTH.size:
            self._join()
        (size,) = LENGTH.unpack_from(self._first, self._at)
        if size > self._longest:
            raise ProtocolError("a frame is too large")
        end = LENGTH.size + size
        if self._size < end:
            return None
        if len(self._first) - self._at < end:
            self._join()
        content = self._first[self._at + LENGTH.size : self._at + end]
        self._at += end
        self._size -= end
        return content

    def _join(self) -> None:
        self._first, self._at = b"".join((self._first[self._at :], *self._later)), 0
        self._later.clear()
