"""A server on loopback that keeps connections, and counts them, their requests and their bytes."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self

from tests.support.hostile_server import server_context

After = Literal["keep", "close", "reset"]


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it came. connection, number: which one it is, both from 0."""

    head: bytes
    connection: int
    number: int

    @property
    def path(self) -> str:
        """The target in its first line."""
        return self.head.split(b" ", 2)[1].decode()

    def header(self, name: str) -> str | None:
        """The value of a header, None without it."""
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.decode().lower() == name:
                return value.strip().decode()
        return None


@dataclass(frozen=True, slots=True)
class Sent:
    """All bytes to send for a request, and what happens to the connection afterwards."""

    content: bytes
    after: After = "keep"


@dataclass
class KeepingServer:
    """Answers requests one after another on each connection, and stops when it is left.

    address: of loopback. pair: certificate and key of TLS. sent, received: bytes of all connections
    (without TLS). busiest: requests that were being answered at once, at most.
    """

    answer: Callable[[Request], Sent]
    address: str = "127.0.0.1"
    pair: tuple[Path, Path] | None = None
    sent: int = 0
    received: int = 0
    connections: int = 0
    busiest: int = 0
    requests: list[Request] = field(default_factory=list)
    _busy: int = 0
    _is_left: bool = False
    _listener: socket.socket = field(default_factory=socket.socket)
    _accepted: list[socket.socket] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        self._listener.bind((self.address, 0))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._is_left = True
        for opened in (self._listener, *self._accepted):
            with contextlib.suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
            opened.close()

    @property
    def port(self) -> int:
        """The port."""
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def origin(self) -> str:
        """The beginning of its URLs."""
        return f"{'https' if self.pair else 'http'}://{self.address}:{self.port}"

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if self._is_left:
                    accepted.close()
                    return
                self._accepted.append(accepted)
            number = self.connections
            self.connections += 1
            threading.Thread(target=self._serve, args=(accepted, number), daemon=True).start()

    def _serve(self, accepted: socket.socket, connection: int) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            accepted.settimeout(20)
            if self.pair:
                accepted = server_context(self.pair).wrap_socket(accepted, server_side=True)
            with accepted:
                number = 0
                while self._exchange(accepted, connection, number):
                    number += 1

    def _exchange(self, accepted: socket.socket, connection: int, number: int) -> bool:
        head = b""
        while b"\r\n\r\n" not in head:
            data = accepted.recv(65536)
            if not data:
                return False
            head += data
        request = Request(head, connection, number)
        with self._lock:
            self.received += len(head)
            self.requests.append(request)
            self._busy += 1
            self.busiest = max(self.busiest, self._busy)
        try:
            answer = self.answer(request)
        finally:
            with self._lock:
                self._busy -= 1
        # Counted first: the client may be done before this thread goes on.
        with self._lock:
            self.sent += len(answer.content)
        accepted.sendall(answer.content)
        if answer.after == "reset":
            linger = (1).to_bytes(4, "little") + bytes(4)
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        return answer.after == "keep"
