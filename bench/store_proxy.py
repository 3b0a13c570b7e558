"""A proxy before an object store: counts requests, delays them, and answers wrongly."""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bench.object_store import Store


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its kind (list, get, head, put, create, delete) and the path of the object."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the store answered."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


Send = Callable[[], Answer]
"""Sends the request to the store."""
Behaviour = Callable[[Asked, Send], Answer | None]
"""Answers a request; without an answer the connection is cut off."""


def honest(asked: Asked, send: Send) -> Answer | None:
    """The answer of the store."""
    del asked
    return send()


@dataclass
class StoreProxy:
    """A running proxy.

    Attributes:
        store: whose endpoint is that of the proxy.
        asked: the requests, in order.
        behaviour: of the proxy; may be replaced at any time.
        latency: seconds before each answer.
    """

    store: Store
    asked: list[Asked] = field(default_factory=list)
    behaviour: Behaviour = honest
    latency: float = 0.0

    def counts(self) -> Counter[str]:
        """How many requests there were of each kind, since the last call."""
        counts = Counter(asked.kind for asked in self.asked)
        self.asked.clear()
        return counts


@contextmanager
def proxy_of(store: Store) -> Iterator[StoreProxy]:
    """Start a proxy on this machine; it ends with the block."""
    backend = store.endpoint.removeprefix("http://")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60
        # Of small answers the parts would be sent with pauses.
        disable_nagle_algorithm = True

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            asked = Asked(_kind(self.command, self.path, self.headers), urlsplit(self.path).path)
            proxy.asked.append(asked)

            def send() -> Answer:
                connection = http.client.HTTPConnection(backend, timeout=60)
                try:
                    connection.request(self.command, self.path, body, dict(self.headers.items()))
                    response = connection.getresponse()
                    return Answer(response.status, response.getheaders(), response.read())
                finally:
                    connection.close()

            if proxy.latency:
                time.sleep(proxy.latency)
            answer = proxy.behaviour(asked, send)
            if answer is None:
                self.close_connection = True
                return
            self.send_response(answer.status)
            has_length = False
            for name, value in answer.headers:
                if name.lower() in ("transfer-encoding", "connection"):
                    continue
                has_length = has_length or name.lower() == "content-length"
                self.send_header(name, value)
            if not has_length:
                self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer  # noqa: N815

        def log_message(self, *arguments: Any) -> None:
            del arguments

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    proxy = StoreProxy(Store(f"http://127.0.0.1:{server.server_port}", store.bucket))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def _kind(method: str, path: str, headers: Any) -> str:
    if method == "GET" and "list-type" in parse_qs(urlsplit(path).query):
        return "list"
    if method == "PUT" and headers.get("If-None-Match") == "*":
        return "create"
    return method.lower()
