"""`weir serve` on loopback in this process, and a client that sends what it is given."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlencode

from weir.serve.app import application
from weir.serve.server import listen, server_of
from weir.settings import Settings

_SECONDS = 60.0
JSON = "application/sparql-results+json"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def media(self) -> str:
        """The media type."""
        return self.headers["content-type"].partition(";")[0]

    @property
    def rows(self) -> list[dict[str, str]]:
        """The solutions of results in JSON, as texts, sorted."""
        rows = [
            {name: term["value"] for name, term in row.items()}
            for row in self.json["results"]["bindings"]
        ]
        return sorted(rows, key=lambda row: sorted(row.items()))


@dataclass(frozen=True, slots=True)
class Client:
    """Sends requests to a server."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def send(self, method: str, path: str, body: bytes | None = None, /, **headers: str) -> Reply:
        """Send a request; `_` in names of headers stands for `-`."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            response = connection.getresponse()
            fields = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, fields, response.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        """GET."""
        return self.send("GET", path, **headers)

    def query(self, text: str, accept: str = JSON, /, **parameters: object) -> Reply:
        """A query by GET."""
        encoded = urlencode({"query": text, **parameters}, doseq=True)
        return self.get(f"/sparql?{encoded}", Accept=accept)

    def form(self, **parameters: object) -> Reply:
        """A query as a form."""
        body = urlencode(parameters, doseq=True).encode()
        return self.send(
            "POST", "/sparql", body, Content_Type="application/x-www-form-urlencoded", Accept=JSON
        )

    def direct(self, text: str, accept: str = JSON, /, **parameters: object) -> Reply:
        """A query as the body."""
        path = f"/sparql?{urlencode(parameters, doseq=True, quote_via=quote)}"
        return self.send(
            "POST", path, text.encode(), Content_Type="application/sparql-query", Accept=accept
        )

    @contextmanager
    def events(self, name: str, last: str | None = None) -> Iterator[Iterator[dict[str, str]]]:
        """The events of an answer as they come: their fields."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)
        try:
            connection.request(
                "GET", f"/changes/{name}", headers={} if last is None else {"Last-Event-ID": last}
            )
            response = connection.getresponse()
            assert response.status == 200, response.read()
            yield _fields(iter(response.readline, b""))
        finally:
            connection.close()


def _fields(lines: Iterator[bytes]) -> Iterator[dict[str, str]]:
    event: dict[str, str] = {}
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            event[name] = value
        elif event:
            yield event
            event = {}


@contextmanager
def serving(settings: Settings, **options: Any) -> Iterator[Client]:
    """A server of a project, which stops with the block; without `site`, it has no pages."""
    no_pages = settings.project / "no_pages"
    no_pages.mkdir(exist_ok=True)
    (no_pages / "index.html").write_text("There are no pages.")
    server = server_of(application(settings, **{"site": no_pages, **options}))
    with listen("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            deadline = time.monotonic() + _SECONDS
            while not server.started and thread.is_alive() and time.monotonic() < deadline:
                time.sleep(0.01)
            yield Client(listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(_SECONDS)
