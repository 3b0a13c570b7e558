"""What a server answered: its status, headers and body, or the failure that they are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import httpcore

from weir.remotes.http.decoding import STEP_BYTES, decode
from weir.remotes.http.metering import Allowance
from weir.remotes.http.outcomes import Failure, FailureKind, FetchError
from weir.remotes.http.quotation import EXCERPT_BYTES, quote
from weir.remotes.http.request import FetchRequest
from weir.remotes.http.retries import retry_after
from weir.remotes.http.streams import Wire, faults_of

_DRAINED_BYTES = 64 << 10
"""What is read of a body that nobody wants, so that its connection can be kept."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request: its head, and its body while it arrives."""

    request: FetchRequest
    message: httpcore.Response
    wire: Wire
    allowance: Allowance

    @property
    def status(self) -> int:
        """The status."""
        return self.message.status

    def header(self, name: bytes) -> str:
        """The value of a header by its lower-case name; of several, their list."""
        values = [value for key, value in self.message.headers if key.lower() == name]
        return b", ".join(values).decode("latin-1")

    def check_number_of_headers(self) -> None:
        """Check that there are not too many.

        Raises:
            FetchError: head_too_large.
        """
        most = self.request.limits.headers
        if len(self.message.headers) > most:
            raise FetchError("head_too_large", f"more than {most} headers")

    def body(self) -> Iterator[bytes]:
        """The decoded body in pieces of about 65,536 bytes, however small those that arrive.

        Raises:
            FetchError: what `decode` and `Wire` raise, connection_lost, malformed_http.
        """
        collected = bytearray()
        for piece in self._decoded():
            collected += piece
            if len(collected) >= STEP_BYTES:
                yield bytes(collected)
                collected.clear()
        if collected:
            yield bytes(collected)

    def excerpt(self) -> bytes:
        """The beginning of the body, as far as it can be read."""
        excerpt = b""
        # The status is the failure, not its explanation.
        with contextlib.suppress(FetchError):
            for piece in self._decoded():
                excerpt += piece
                if len(excerpt) >= EXCERPT_BYTES:
                    break
        return excerpt

    def drain(self) -> None:
        """Read and forget the body, unless it is long or cannot be read."""
        drained = 0
        with contextlib.suppress(FetchError):
            for piece in self._encoded():
                drained += len(piece)
                if drained > _DRAINED_BYTES:
                    break

    def close(self) -> None:
        """Finish the exchange: only if all of it was read, the connection can be used again."""
        self.message.close()

    def _decoded(self) -> Iterator[bytes]:
        coding = self.header(b"content-encoding")
        return decode(self._encoded(), coding, self.request.limits.decoding)

    def _encoded(self) -> Iterator[bytes]:
        assert isinstance(self.message.stream, Iterable)
        with faults_of(self.wire):
            for piece in self.message.stream:
                self.allowance.deadline.left()
                yield piece


def sign_of_a_part(answer: Answer) -> str:
    """How a server says that what it answers is not all; empty if it does not say so.

    Virtuoso has `X-SQL-State` where a query was ended by its time limit, and `X-SPARQL-MaxRows`
    where there are as many solutions as it gives at most.
    """
    state = answer.header(b"x-sql-state").strip()
    if state not in ("", "00000"):
        message = answer.header(b"x-sql-message")
        return f"X-SQL-State is {state}{f' ({message})' if message else ''}"
    rows = answer.header(b"x-sparql-maxrows")
    return f"X-SPARQL-MaxRows is {rows}" if rows else ""


def check_complete(answer: Answer) -> None:
    """Check that the server does not call its answer a part.

    Raises:
        FetchError: incomplete.
    """
    if sign := sign_of_a_part(answer):
        raise FetchError("incomplete", f"the server says that its answer is incomplete: {sign}")


def kind_of_status(answer: Answer) -> FailureKind | None:
    """The failure that a status is; None of 200."""
    status = answer.status
    if status == 200:
        return None
    if status == 206:
        # No range was asked for; newer versions of Virtuoso say so that a query was ended.
        return "incomplete"
    if 300 <= status < 400:
        return "redirected"
    if status == 429 or (status == 503 and answer.header(b"retry-after")):
        return "throttled"
    if 400 <= status < 500:
        return "client_error"
    if 500 <= status < 600:
        return "server_error"
    return "unusable_status"


def failure_of_status(answer: Answer, kind: FailureKind) -> Failure:
    """The failure, with what the server says about it."""
    hidden = answer.request.hidden
    reason = f"the server answered {answer.status}"
    if kind == "redirected":
        reason += f", redirected to {quote(answer.header(b'location'), hidden)}"
    elif excerpt := answer.excerpt():
        reason += f": {quote(excerpt, hidden)}"
    wait = None
    if kind == "throttled":
        wait = retry_after(answer.header(b"retry-after"), datetime.now(UTC))
    return Failure(kind, reason, answer.status, wait)


def failure_of_error(stop: FetchError, request: FetchRequest, answer: Answer | None) -> Failure:
    """The failure that ended an exchange; `answer` if its head had arrived."""
    reason = quote(stop.reason, request.hidden)
    return Failure(stop.kind, reason, answer.status if answer else None)
