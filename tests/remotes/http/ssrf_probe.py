"""Fetches every case of `ssrf_cases` under an audit hook, and prints what was seen as JSON.

Its argument says how: `fetch` makes one request, `pages` asks over a connection that is kept and
follows redirects, `hop` takes the URL of a case for where a redirect leads.

A process of its own: an audit hook cannot be removed, and this one must see all of the process. It
sees every `connect` that Python makes, wherever its code is; listeners on all local addresses
count what really arrives.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Sequence
from typing import Any

from tests.remotes.http.ssrf_cases import ADDRESSES, GOOD, Case, cases
from weir.remotes.http.client import fetch, read_bytes
from weir.remotes.http.iri_urls import redirect_url
from weir.remotes.http.metering import Deadline, Meter
from weir.remotes.http.outcomes import Failure
from weir.remotes.http.pages import Connections, Manner, PageRequest
from weir.remotes.http.request import FetchLimits, FetchRequest
from weir.remotes.http.urls import UrlError

LIMITS = FetchLimits(bytes=65536, seconds=5.0)
CONTACT = "tests@example.org"
EVENTS = ("socket.connect", "socket.sendto", "socket.sendmsg", "subprocess.Popen", "os.system")


class Probe:
    """What is seen while fetching."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.arrived = 0
        self.location = ""
        self.answers: list[tuple[str, ...]] = []
        self.resolved = 0
        self.listeners = [self._listen(socket.AF_INET6, "::"), self._listen(socket.AF_INET, GOOD)]
        self.port, self.good_port = (listener.getsockname()[1] for listener in self.listeners)
        threading.Thread(target=self._tripwire, daemon=True).start()
        threading.Thread(target=self._good, daemon=True).start()
        socket.getaddrinfo = self._getaddrinfo  # type: ignore[assignment]
        sys.addaudithook(self._hook)

    def run(self, case: Case, way: str) -> dict[str, Any]:
        """Fetch one case in one way."""
        before, self.resolved = len(self.events), 0
        self.location, self.answers = case.location, list(case.resolved)
        outcome = getattr(self, way)(case.url)
        return {
            "way": case.way,
            "address": case.address,
            "url": case.url,
            "good": case.good,
            "outcome": outcome,
            "resolved": self.resolved,
            "events": self.events[before:],
        }

    def fetch(self, url: str) -> str:
        """Ask once."""
        ports = (self.port, self.good_port)
        request = FetchRequest(url, "*/*", CONTACT, LIMITS, allow=(f"{GOOD}/32",), ports=ports)
        answer = fetch(request, Meter(65536), Deadline.after(5.0), read_bytes)
        return answer.kind if isinstance(answer, Failure) else "answered"

    def pages(self, url: str) -> str:
        """Ask, and follow redirects for as long as they are allowed."""
        manner = Manner(CONTACT, (f"{GOOD}/32",), (self.port, self.good_port))
        with Connections(manner) as kept:
            for hop in range(3):
                request = PageRequest(url, "*/*", LIMITS)
                answer = kept.get(request, Meter(65536), Deadline.after(5.0))
                if isinstance(answer, Failure):
                    return f"redirected, {answer.kind}" if hop else answer.kind
                if answer.status == 200:
                    return "answered"
                try:
                    url = redirect_url(url, answer.headers["location"])
                except UrlError:
                    return "redirected, url_refused"
        return "too many redirects"

    def hop(self, url: str) -> str:
        """Ask for where a redirect of a good server leads."""
        try:
            return self.pages(redirect_url(f"http://{GOOD}/", url))
        except UrlError:
            return "url_refused"

    def control(self) -> list[str]:
        """A connection to the tripwire past the fetcher: what hook and listener see if one is."""
        before = len(self.events)
        for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            with socket.socket(family) as connection:
                connection.connect((address, self.port))
                connection.recv(1)
        return self.events[before:]

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in EVENTS:
            self.events.append(f"{event} {arguments[1]!r}")

    def _getaddrinfo(self, host: str, port: int, *_: object, **__: object) -> Sequence[Any]:
        del host
        self.resolved += 1
        if not self.answers:
            raise socket.gaierror("no such name")
        now = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (address, port),
            )
            for address in now
        ]

    @staticmethod
    def _listen(family: socket.AddressFamily, address: str) -> socket.socket:
        listener = socket.socket(family)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind((address, 0))
        listener.listen(64)
        return listener

    def _tripwire(self) -> None:
        while True:
            connection, _ = self.listeners[0].accept()
            self.arrived += 1
            connection.close()

    def _good(self) -> None:
        while True:
            connection, _ = self.listeners[1].accept()
            with connection:
                connection.recv(65536)
                status = f"302 Found\r\nLocation: {self.location}" if self.location else "200 OK"
                connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())


def main() -> None:
    """Run all cases."""
    probe = Probe()
    runs = [probe.run(case, sys.argv[1]) for case in cases(probe.port, probe.good_port)]
    arrived = probe.arrived
    print(
        json.dumps(
            {
                "addresses": len(ADDRESSES),
                "good_port": probe.good_port,
                "runs": runs,
                "arrived": arrived,
                "control": probe.control(),
                "arrived_after_control": probe.arrived,
            }
        )
    )


if __name__ == "__main__":
    main()
