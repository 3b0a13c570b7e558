"""A plain server on loopback that counts the bytes of its sockets and remembers requests."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

Answer = Callable[[bytes], bytes]
"""All bytes to send, for all bytes of a request."""


@dataclass
class CountingServer:
    """Answers one request per connection, several at a time, and stops when it is left.

    sent, received: bytes of all connections. requests: as they came.
    """

    answer: Answer
    sent: int = 0
    received: int = 0
    requests: list[bytes] = field(default_factory=list)
    _listener: socket.socket = field(default_factory=socket.socket)
    _counting: threading.Lock = field(default_factory=threading.Lock)
    _finished: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def __enter__(self) -> Self:
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    @property
    def port(self) -> int:
        """The port."""
        port: int = self._listener.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """A URL of it."""
        return f"http://127.0.0.1:{self.port}/sparql"

    def wait(self) -> None:
        """Wait until a connection is finished, so that its bytes are counted."""
        assert self._finished.acquire(timeout=10)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.settimeout(10)
            self._exchange(connection)
        self._finished.release()

    def _exchange(self, connection: socket.socket) -> None:
        request = b""
        while not _is_complete(request):
            data = connection.recv(65536)
            if not data:
                break
            self._count(received=len(data))
            request += data
        self.requests.append(request)
        answer = memoryview(self.answer(request))
        while answer:
            sent = connection.send(answer)
            self._count(sent=sent)
            answer = answer[sent:]
        connection.shutdown(socket.SHUT_WR)
        while data := connection.recv(65536):
            self._count(received=len(data))

    def _count(self, sent: int = 0, received: int = 0) -> None:
        with self._counting:
            self.sent += sent
            self.received += received


def _is_complete(request: bytes) -> bool:
    head, end, body = request.partition(b"\r\n\r\n")
    if not end:
        return False
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return len(body) >= int(value)
    return True


def answer_of(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """An answer with its length."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body
