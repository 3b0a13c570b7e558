"""What one fetch has left: time until its deadline, bytes, and bytes of headers."""

from __future__ import annotations

import time
from dataclasses import dataclass

from weir.remotes.http.outcomes import FetchError


class Deadline:
    """A moment of the monotonic clock, which all processes of a machine share."""

    def __init__(self, at: float) -> None:
        self.at = at

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """The deadline `seconds` from now."""
        return cls(time.monotonic() + seconds)

    def left(self) -> float:
        """Seconds left, more than 0.

        Raises:
            FetchError: deadline_passed.
        """
        left = self.at - time.monotonic()
        if left <= 0:
            raise FetchError("deadline_passed", "the fetch took longer than its seconds")
        return left


class Meter:
    """Counts the bytes at the socket in both directions, and never lets them exceed `most`.

    peer: the address that was connected to, "" before.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.sent = 0
        self.received = 0
        self.peer = ""

    @property
    def total(self) -> int:
        """Bytes so far."""
        return self.sent + self.received

    def receivable(self, wanted: int) -> int:
        """How much may be received at once, at most `wanted` and at least 1.

        Raises:
            FetchError: too_many_bytes.
        """
        left = min(wanted, self.most - self.total)
        if left <= 0:
            raise FetchError("too_many_bytes", f"the answer needs more than {self.most:,} bytes")
        return left

    def check_sendable(self, size: int) -> None:
        """Check that `size` more bytes may be sent.

        Raises:
            FetchError: too_many_bytes.
        """
        if size > self.most - self.total:
            raise FetchError("too_many_bytes", f"the request needs more than {self.most:,} bytes")


class HeadLimit:
    """The most that is read before the head of the answer is complete.

    begun: whether a byte of the answer has arrived.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.begun = False
        self._left: int | None = most

    def complete(self) -> None:
        """The head is complete; what follows is the body."""
        self._left = None

    def readable(self, wanted: int) -> int:
        """How much may be read at once.

        Raises:
            FetchError: head_too_large.
        """
        if self._left is None:
            return wanted
        if self._left == 0:
            raise FetchError("head_too_large", f"the headers have more than {self.most:,} bytes")
        return min(wanted, self._left)

    def took(self, size: int) -> None:
        """Count what was read."""
        self.begun = self.begun or size > 0
        if self._left is not None:
            self._left -= size


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one request may still take; those after it on a connection have their own."""

    meter: Meter
    deadline: Deadline
    head: HeadLimit
