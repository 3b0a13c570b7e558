"""The bytes of a connection, counted and timed in one place below TLS."""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpcore

from weir.remotes.http.metering import Allowance
from weir.remotes.http.outcomes import FailureKind, FetchError

_TLS_RECORD = 16384 + 256


class Wire:
    """A connected socket: everything that is sent and received passes here.

    peer: the address that it is connected to.
    allowance: of the request that uses it.
    ended: whether the server has closed its side, or the connection broke.
    """

    def __init__(self, connection: socket.socket, peer: str, allowance: Allowance) -> None:
        self._connection, self.peer = connection, peer
        self.allowance = allowance
        self.ended = False

    @property
    def is_readable(self) -> bool:
        """Whether something has arrived, or the end; between requests neither belongs there."""
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        return bool(poll.poll(0))

    def receive(self, most: int) -> bytes:
        """What has arrived, b"" at the end.

        Raises:
            FetchError: too_many_bytes, deadline_passed, connection_lost.
        """
        meter = self.allowance.meter
        allowed = meter.receivable(most)
        try:
            self._connection.settimeout(self.allowance.deadline.left())
            data = self._connection.recv(allowed)
        except TimeoutError:
            raise FetchError("deadline_passed", "the server did not send in time") from None
        except OSError as error:
            self.ended = True
            raise FetchError("connection_lost", error.strerror or str(error)) from None
        meter.received += len(data)
        self.ended = not data
        return data

    def send(self, data: bytes) -> None:
        """Send all of it.

        Raises:
            FetchError: too_many_bytes, deadline_passed.
            httpcore.WriteError: the server has closed, perhaps after an answer.
        """
        meter = self.allowance.meter
        meter.check_sendable(len(data))
        view = memoryview(data)
        while view:
            try:
                self._connection.settimeout(self.allowance.deadline.left())
                sent = self._connection.send(view)
            except TimeoutError:
                raise FetchError("deadline_passed", "the server did not receive in time") from None
            except OSError as error:
                raise httpcore.WriteError(error.strerror or str(error)) from None
            meter.sent += sent
            view = view[sent:]

    def close(self) -> None:
        """Close at once."""
        self._connection.close()


@contextmanager
def faults_of(wire: Wire) -> Iterator[None]:
    """What the HTTP client raises, as one of our failures.

    Raises:
        FetchError: connection_lost, malformed_http.
    """
    try:
        yield
    except httpcore.RemoteProtocolError as error:
        kind: FailureKind = "connection_lost" if wire.ended else "malformed_http"
        raise FetchError(kind, str(error)) from None
    except httpcore.WriteError as error:
        raise FetchError("connection_lost", str(error)) from None


class PlainStream(httpcore.NetworkStream):
    """A connection without TLS."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has arrived, b"" at the end."""
        del timeout
        head = self._wire.allowance.head
        data = self._wire.receive(head.readable(max_bytes))
        head.took(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it."""
        del timeout
        self._wire.send(buffer)

    def close(self) -> None:
        """Close at once."""
        self._wire.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """The connection with TLS on it.

        Raises:
            FetchError: tls_failed, and what `Wire` raises.
        """
        del timeout
        stream = TlsStream(self._wire, ssl_context, server_hostname)
        try:
            stream.handshake()
        except BaseException:
            self.close()
            raise
        return stream

    def get_extra_info(self, info: str) -> Any:
        """Whether something can be read; else nothing: the socket is used by nobody else."""
        return self._wire.is_readable if info == "is_readable" else None


class TlsStream(httpcore.NetworkStream):
    """TLS between the HTTP client and a `Wire`, so that its own bytes are counted, too."""

    def __init__(self, wire: Wire, context: ssl.SSLContext, host: str | None) -> None:
        self._wire = wire
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=host)

    def handshake(self) -> None:
        """Agree on keys and verify the certificate.

        Raises:
            FetchError: tls_failed, and what `Wire` raises.
        """
        try:
            self._exchange(self._tls.do_handshake)
        except ssl.SSLCertVerificationError as error:
            raise FetchError("tls_failed", f"the certificate: {error.verify_message}") from None
        except ssl.SSLError as error:
            raise FetchError(
                "tls_failed", f"no TLS: {error.reason or 'the server closed'}"
            ) from None
        except httpcore.WriteError:
            raise FetchError("tls_failed", "no TLS: the server closed") from None

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """What has arrived, b"" after the server's proper end."""
        del timeout
        head = self._wire.allowance.head
        most = head.readable(max_bytes)
        try:
            data: bytes = self._exchange(lambda: self._tls.read(most))
        except ssl.SSLZeroReturnError:
            self._wire.ended = True
            return b""
        except ssl.SSLError as error:
            # Without its close_notify, the end could be anybody's.
            reason = f"TLS broke off: {error.reason or 'the server closed'}"
            raise FetchError("connection_lost", reason) from None
        head.took(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it."""
        del timeout
        view = memoryview(buffer)
        while view:
            view = view[self._exchange(partial(self._tls.write, view)) :]

    def close(self) -> None:
        """Close at once."""
        self._wire.close()

    def get_extra_info(self, info: str) -> Any:
        """Whether something can be read, perhaps without the socket."""
        if info != "is_readable":
            return None
        return bool(self._tls.pending() or self._incoming.pending) or self._wire.is_readable

    def _exchange(self, operation: Callable[[], Any]) -> Any:
        while True:
            try:
                result = operation()
            except ssl.SSLWantReadError:
                self._flush()
                data = self._wire.receive(_TLS_RECORD)
                if data:
                    self._incoming.write(data)
                else:
                    self._incoming.write_eof()
                continue
            self._flush()
            return result

    def _flush(self) -> None:
        if data := self._outgoing.read():
            self._wire.send(data)
