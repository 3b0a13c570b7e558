"""The servers of the pods, a process of its own: it counts requests and bytes.

    python -m bench.pod_server PEOPLE HOSTS

Lines on standard input are commands; each is answered by a line of JSON. A document has a strong
ETag; posts have a lifetime of a day once the command `lifetimes` has come.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Self

from bench.pods import Pods
from bench.processes import LineProcess

_CLOSED = "the server of the pods has ended"


@dataclass(slots=True)
class _Web:
    """What the servers answer.

    Attributes:
        pods: what they have.
        texts: of the documents that changed, by IRI.
        versions: how often these changed.
        counts: requests for documents and for robots.txt, bytes.
    """

    pods: Pods
    has_lifetimes: bool = False
    documents: dict[str, bytes] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    versions: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.documents = {iri: text.encode() for iri, text in self.pods.documents()}
        self.redirects = dict(self.pods.redirects())

    def answer(self, origin: str, head: bytes) -> bytes:
        """The answer to a request."""
        lines = head.decode("latin-1").split("\r\n")
        path = lines[0].split(" ")[1]
        sent = self._answer(origin + path, lines[1:])
        self.counts["robots" if path == "/robots.txt" else "requests"] += 1
        self.counts["bytes"] += len(head) + len(sent)
        return sent

    def _answer(self, iri: str, lines: list[str]) -> bytes:
        if iri in self.redirects:
            return _message("303 See Other", f"Location: {self.redirects[iri]}")
        if iri not in self.documents:
            return _message("404 Not Found")
        etag = f'ETag: "{self.versions[iri]}"'
        is_post = "/posts/20" in iri and not iri.endswith("/")
        lifetime = ("Cache-Control: max-age=86400",) if self.has_lifetimes and is_post else ()
        asked = {line.lower() for line in lines}
        if f'if-none-match: "{self.versions[iri]}"' in asked:
            return _message("304 Not Modified", etag, *lifetime)
        headers = ("Content-Type: text/turtle", etag, *lifetime)
        return _message("200 OK", *headers, body=self.documents[iri])

    def command(self, line: str) -> Any:
        """Do what a line says."""
        match line.split():
            case ["lifetimes"]:
                self.has_lifetimes = True
            case ["counts"]:
                counted = {name: self.counts[name] for name in ("requests", "robots", "bytes")}
                self.counts.clear()
                return counted
            case ["post", person, number, content]:
                iri = self.pods.post(int(person), int(number))
                self._change(iri, self.pods.post_text(int(person), int(number), content))
            case ["card", person, name]:
                iri = self.pods.card(int(person))
                self._change(iri, self.pods.card_text(int(person), name))
            case words:
                raise ValueError(f"no command: {words}")
        return {}

    def _change(self, iri: str, text: str) -> None:
        self.documents[iri] = text.encode()
        self.versions[iri] += 1


def _message(status: str, *headers: str, body: bytes = b"") -> bytes:
    date = "Date: Fri, 27 Nov 2026 12:00:00 GMT"
    lines = (f"HTTP/1.1 {status}", date, *headers)
    if not status.startswith("304"):
        lines = (*lines, f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode() + body


class _Connection(asyncio.Protocol):
    """Answers one request after another."""

    def __init__(self, web: _Web, origin: str) -> None:
        self._web, self._origin, self._received = web, origin, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            self._transport.write(self._web.answer(self._origin, head + b"\r\n\r\n"))


async def _serve(people: int, hosts: int) -> None:
    listeners = [socket.create_server((f"127.0.0.{host + 1}", 0)) for host in range(hosts)]
    origins = ["http://{}:{}".format(*listener.getsockname()) for listener in listeners]
    web = _Web(Pods(tuple(origins), people))
    loop = asyncio.get_running_loop()
    for listener, origin in zip(listeners, origins, strict=True):
        await loop.create_server(partial(_Connection, web, origin), sock=listener)
    print(json.dumps(origins), flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(web.command(line)), flush=True)


@dataclass(slots=True)
class PodServer:
    """The process of the servers, which ends with a `with` block.

    Attributes:
        people: whose documents it has.
        hosts: addresses on loopback.
    """

    people: int = 100
    hosts: int = 8
    _process: LineProcess | None = None
    _pods: Pods | None = None

    def __enter__(self) -> Self:
        self._process = LineProcess("bench.pod_server", self.people, self.hosts)
        self._pods = Pods(tuple(self._process.answer()), self.people)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None, _CLOSED
        self._process.end(kill=True)

    @property
    def pods(self) -> Pods:
        """What it serves."""
        assert self._pods is not None, _CLOSED
        return self._pods

    @property
    def ports(self) -> list[int]:
        """Where it listens."""
        return [int(origin.rpartition(":")[2]) for origin in self.pods.origins]

    def command(self, line: str) -> Any:
        """Give it a command; returns its answer."""
        assert self._process is not None, _CLOSED
        return self._process.ask(line)


if __name__ == "__main__":
    asyncio.run(_serve(*map(int, sys.argv[1:])))
