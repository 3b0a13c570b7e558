"""A server on loopback that misbehaves in the 24 ways of the design, each on a port of its own.

Nothing here lasts: a connection is served for at most `LONGEST_SECONDS` and `MOST_BYTES`, and
leaving the `with` block closes all sockets.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, Self

from tests.support.certificates import Certificates
from weir.remotes.http.outcomes import FailureKind

LONGEST_SECONDS = 8.0
MOST_BYTES = 96 << 20
TYPE = b"Content-Type: application/sparql-results+json\r\n"


class Connection:
    """An accepted connection: what it sends is bounded in time and size."""

    def __init__(self, accepted: socket.socket, stop: threading.Event) -> None:
        self.socket, self._stop = accepted, stop
        self._left = MOST_BYTES
        self._until = time.monotonic() + LONGEST_SECONDS
        self.request = b""

    def read_request(self) -> None:
        """The head of the request."""
        while b"\r\n\r\n" not in self.request:
            data = self.socket.recv(65536)
            if not data:
                return
            self.request += data

    def send(self, data: bytes) -> None:
        """Send all of it, unless the connection has had its bytes or its time."""
        self._left -= len(data)
        late = time.monotonic() > self._until
        if self._left < 0 or late or self._stop.is_set():
            raise ConnectionAbortedError
        self.socket.sendall(data)

    def drip(self, data: bytes, pause: float = 0.02) -> None:
        """Send byte by byte."""
        for byte in data:
            self.send(bytes([byte]))
            self.wait(pause)

    def wait(self, seconds: float) -> None:
        """Do nothing, or end if the server stops."""
        if self._stop.wait(seconds):
            raise ConnectionAbortedError

    def reset(self) -> None:
        """Close with RST."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


Play = Callable[[Connection], None]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A way to behave, and how a fetch has to end.

    number: in the list of the design, 1 to 24; several variants share one.
    accept: `never` has a full backlog, `slow` accepts after a while.
    solutions: of an answer, where the fetch is expected to have one.
    """

    number: int
    name: str
    expected: FailureKind | Literal["answered"]
    play: Play
    accept: Literal["at once", "slow", "never"] = "at once"
    tls: Literal["none", "wrong name", "unknown authority", "garbage"] = "none"
    solutions: int = 0


def head(status: str, *lines: bytes) -> bytes:
    """A head of an answer."""
    return b"HTTP/1.1 " + status.encode() + b"\r\n" + b"".join(lines) + b"\r\n"


def length(body: bytes) -> bytes:
    """`Content-Length` of a body."""
    return b"Content-Length: %d\r\n" % len(body)


@cache
def results(count: int, key: str = "http://example.org/asked") -> bytes:
    """Results with `count` equal solutions."""
    solution = json.dumps({"k": {"type": "uri", "value": key}})
    bindings = ",".join([solution] * count)
    return f'{{"head":{{"vars":["k"]}},"results":{{"bindings":[{bindings}]}}}}'.encode()


def answer(body: bytes, *lines: bytes, status: str = "200 OK", kind: bytes = TYPE) -> Play:
    """Sends an answer with this body."""

    def play(connection: Connection) -> None:
        connection.read_request()
        connection.send(head(status, kind, length(body), *lines))
        connection.send(body)

    return play


def status_only(status: str, *lines: bytes, body: bytes = b"") -> Play:
    """Sends an answer of another status."""
    return answer(body, *lines, status=status, kind=b"Content-Type: text/plain\r\n")


def _silent(connection: Connection) -> None:
    connection.wait(LONGEST_SECONDS)


def _reset(connection: Connection) -> None:
    connection.read_request()
    connection.reset()


def _dripping_headers(connection: Connection) -> None:
    connection.read_request()
    connection.drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1000)


def _dripping_body(connection: Connection) -> None:
    connection.read_request()
    body = results(1000)
    connection.send(head("200 OK", TYPE, length(body)))
    connection.drip(body)


def _stall(connection: Connection) -> None:
    connection.read_request()
    body = results(1000)
    connection.send(head("200 OK", TYPE, length(body)))
    connection.send(body[: len(body) // 2])
    connection.wait(LONGEST_SECONDS)


def _endless_chunks(connection: Connection) -> None:
    connection.read_request()
    connection.send(head("200 OK", TYPE, b"Transfer-Encoding: chunked\r\n"))
    while True:
        connection.send(b"4000\r\n" + b" " * 0x4000 + b"\r\n")


def _length_too_short(connection: Connection) -> None:
    connection.read_request()
    body = results(10)
    connection.send(head("200 OK", TYPE, b"Content-Length: %d\r\n" % (len(body) - 7)))
    connection.send(body)


def _length_too_long(connection: Connection) -> None:
    connection.read_request()
    body = results(10)
    connection.send(head("200 OK", TYPE, b"Content-Length: %d\r\n" % (len(body) + 7)))
    connection.send(body)


def _large_header(connection: Connection) -> None:
    connection.read_request()
    connection.send(head("200 OK", TYPE, b"X-Large: " + b"x" * 65536 + b"\r\n"))


def _many_headers(connection: Connection) -> None:
    connection.read_request()
    connection.send(head("200 OK", TYPE, *(b"X-%d: y\r\n" % number for number in range(10_000))))


def _many_small_headers(connection: Connection) -> None:
    connection.read_request()
    body = results(1)
    many = (b"X-%d: y\r\n" % number for number in range(1_000))
    connection.send(head("200 OK", TYPE, length(body), *many) + body)


def _continue_flood(connection: Connection) -> None:
    connection.read_request()
    while True:
        connection.send(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def _garbage(connection: Connection) -> None:
    connection.send(b"\x16\x03\x01 this is not TLS\r\n" * 10)


@cache
def _compressed() -> bytes:
    """A second's work: not when the module is read, which every process of tests does."""
    return gzip.compress(b" " * (200 << 20), 9)


def _bomb(connection: Connection) -> None:
    answer(_compressed(), GZIP)(connection)


def _million(connection: Connection) -> None:
    connection.read_request()
    connection.send(head("200 OK", TYPE, b"Transfer-Encoding: chunked\r\n"))
    solution = b'{"k":{"type":"uri","value":"http://example.org/a"}}'
    thousand = b",".join([solution] * 1000)
    start = b'{"head":{"vars":["k"]},"results":{"bindings":['
    for part in (start + thousand, *([b"," + thousand] * 999), b"]}}"):
        connection.send(b"%x\r\n%s\r\n" % (len(part), part))
    connection.send(b"0\r\n\r\n")


HTML = b"<!DOCTYPE html><html><body>Service temporarily unavailable</body></html>"
GZIP = b"Content-Encoding: gzip\r\n"
TWICE = gzip.compress(gzip.compress(results(1)))

BEHAVIOURS = (
    Behaviour(1, "no accept", "deadline_passed", _silent, accept="never"),
    Behaviour(2, "RST", "connection_lost", _reset),
    Behaviour(3, "slow accept", "answered", answer(results(1)), accept="slow", solutions=1),
    Behaviour(4, "dripping headers", "deadline_passed", _dripping_headers),
    Behaviour(5, "dripping body", "deadline_passed", _dripping_body),
    Behaviour(6, "stall at 50 %", "deadline_passed", _stall),
    Behaviour(7, "endless chunked", "too_many_bytes", _endless_chunks),
    Behaviour(8, "Content-Length too short", "not_results", _length_too_short),
    Behaviour(8, "Content-Length too long", "connection_lost", _length_too_long),
    Behaviour(9, "64 KiB header", "head_too_large", _large_header),
    Behaviour(10, "10,000 headers", "head_too_large", _many_headers),
    Behaviour(10, "1,000 small headers", "head_too_large", _many_small_headers),
    Behaviour(11, "100-continue flood", "head_too_large", _continue_flood),
    Behaviour(12, "204 with body", "unusable_status", answer(results(1), status="204 No Content")),
    Behaviour(13, "500", "server_error", status_only("500 Internal Server Error", body=HTML)),
    Behaviour(13, "502", "server_error", status_only("502 Bad Gateway")),
    Behaviour(13, "503", "server_error", status_only("503 Service Unavailable")),
    Behaviour(
        14, "429 with Retry-After", "throttled", status_only("429 Slow down", b"Retry-After: 7\r\n")
    ),
    Behaviour(14, "429 without Retry-After", "throttled", status_only("429 Slow down")),
    Behaviour(
        15,
        "Retry-After in 2099",
        "throttled",
        status_only("503 Later", b"Retry-After: Thu, 31 Dec 2099 23:59:59 GMT\r\n"),
    ),
    Behaviour(16, "HTML 200", "not_results", answer(HTML, kind=b"Content-Type: text/html\r\n")),
    Behaviour(16, "HTML 200 said to be JSON", "not_results", answer(HTML)),
    Behaviour(17, "truncated JSON", "not_results", answer(results(10)[:-30])),
    Behaviour(
        17, "a part of the rows", "incomplete", answer(results(10), b"X-SPARQL-MaxRows: 10\r\n")
    ),
    Behaviour(
        17, "ended by its time limit", "incomplete", answer(results(1), b"X-SQL-State: S1TAT\r\n")
    ),
    Behaviour(18, "10^6 bindings", "too_many_bindings", _million),
    Behaviour(
        19, "foreign keys", "answered", answer(results(1, "http://x.org/foreign")), solutions=1
    ),
    Behaviour(20, "duplicate rows", "answered", answer(results(500)), solutions=500),
    Behaviour(21, "nested gzip", "not_results", answer(TWICE, GZIP)),
    Behaviour(
        21,
        "nested gzip, announced",
        "malformed_encoding",
        answer(TWICE, b"Content-Encoding: gzip, gzip\r\n"),
    ),
    Behaviour(22, "gzip bomb", "too_much_decoded", _bomb),
    Behaviour(23, "redirect loop", "redirected", status_only("302 Found", b"Location: /loop\r\n")),
    Behaviour(
        23,
        "redirect to loopback",
        "redirected",
        status_only("307 Temporary Redirect", b"Location: http://127.0.0.1:1/\r\n"),
    ),
    Behaviour(
        23,
        "redirect to file:",
        "redirected",
        status_only("301 Moved", b"Location: file:///etc/passwd\r\n"),
    ),
    Behaviour(24, "bad TLS: wrong name", "tls_failed", answer(results(1)), tls="wrong name"),
    Behaviour(
        24, "bad TLS: unknown authority", "tls_failed", answer(results(1)), tls="unknown authority"
    ),
    Behaviour(24, "bad TLS: garbage", "tls_failed", _garbage, tls="garbage"),
)
GOOD = Behaviour(0, "good", "answered", answer(results(3)), solutions=3)


@dataclass
class HostileServer:
    """Serves behaviours, each by a thread per connection, until it is left.

    certificates: for the behaviours with TLS.
    """

    certificates: Certificates
    _stop: threading.Event = field(default_factory=threading.Event)
    _sockets: list[socket.socket] = field(default_factory=list)
    _threads: list[threading.Thread] = field(default_factory=list)
    _ports: dict[str, int] = field(default_factory=dict)

    def __enter__(self) -> Self:
        # Before a client waits for it.
        _compressed()
        for behaviour in (GOOD, *BEHAVIOURS):
            self._ports[behaviour.name] = self._listen(behaviour)
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        for open_socket in self._sockets:
            with contextlib.suppress(OSError):
                open_socket.shutdown(socket.SHUT_RDWR)
            open_socket.close()
        for thread in self._threads:
            thread.join(10)

    def port(self, behaviour: Behaviour) -> int:
        """The port of a behaviour."""
        return self._ports[behaviour.name]

    def url(self, behaviour: Behaviour) -> str:
        """The endpoint of a behaviour."""
        scheme = "http" if behaviour.tls == "none" else "https"
        return f"{scheme}://127.0.0.1:{self.port(behaviour)}/sparql"

    def _listen(self, behaviour: Behaviour) -> int:
        listener = socket.socket()
        self._sockets.append(listener)
        listener.bind(("127.0.0.1", 0))
        listener.listen(0 if behaviour.accept == "never" else 16)
        port: int = listener.getsockname()[1]
        if behaviour.accept == "never":
            for _ in range(4):  # these fill the backlog
                waiting = socket.socket()
                self._sockets.append(waiting)
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.1", port))
        else:
            self._spawn(self._accept, listener, behaviour)
        return port

    def _spawn(self, run: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=run, args=arguments, daemon=True)
        self._threads = [running for running in self._threads if running.is_alive()] + [thread]
        thread.start()

    def _accept(self, listener: socket.socket, behaviour: Behaviour) -> None:
        while not self._stop.is_set():
            try:
                accepted, _ = listener.accept()
            except OSError:
                return
            if behaviour.accept == "slow":
                self._stop.wait(0.3)
            threading.Thread(target=self._serve, args=(accepted, behaviour), daemon=True).start()

    def _serve(self, accepted: socket.socket, behaviour: Behaviour) -> None:
        with contextlib.suppress(OSError):
            accepted.settimeout(LONGEST_SECONDS)
            with self._secured(accepted, behaviour) as ready:
                behaviour.play(Connection(ready, self._stop))
                with contextlib.suppress(OSError):
                    if behaviour.name != "RST":
                        # What the client has sent and nobody read would make the close an RST.
                        ready.shutdown(socket.SHUT_WR)
                        ready.settimeout(1)
                        while ready.recv(65536):
                            continue

    @contextlib.contextmanager
    def _secured(self, accepted: socket.socket, behaviour: Behaviour) -> Iterator[socket.socket]:
        match behaviour.tls:
            case "none" | "garbage":
                with accepted:
                    yield accepted
                return
            case "wrong name":
                pair = self.certificates.other_name
            case "unknown authority":
                pair = self.certificates.self_signed
        with accepted, server_context(pair).wrap_socket(accepted, server_side=True) as secured:
            yield secured


def server_context(pair: tuple[Path, Path]) -> ssl.SSLContext:
    """TLS with a certificate and its key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    return context
