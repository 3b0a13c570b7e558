"""A SPARQL endpoint on loopback in this process: pyoxigraph behind a small server."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.client import parse_headers
from io import BytesIO
from typing import Self
from urllib.parse import parse_qs, urlsplit

from pyoxigraph import QueryResultsFormat, QueryTriples, Store

from demo.fuseki import Credentials
from tests.support.counting_server import CountingServer, answer_of

_TYPE = "Content-Type: application/sparql-results+json"
_FORM = "application/x-www-form-urlencoded"
_PLAIN = "Content-Type: text/plain; charset=utf-8"


@dataclass
class OxigraphEndpoint:
    """Answers SELECT and ASK by GET and by a form, as `weir.remotes.http.request` sends them.

    Attributes:
        credentials: those that every request needs, if any.
        delay: seconds from a request to its answer.
        queries: how many have come so far, without those refused for their credentials.
        store: the dataset.
        server: what it is served by; it has the requests as they came.
    """

    credentials: Credentials | None = None
    delay: float = 0.0
    queries: int = 0
    store: Store = field(default_factory=Store)
    server: CountingServer = field(init=False)
    _stop: threading.Event = field(default_factory=threading.Event)
    _counting: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.server = CountingServer(self._answer)

    def __enter__(self) -> Self:
        self.server.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self.server.__exit__(*error)

    @property
    def query_url(self) -> str:
        """Where queries go."""
        return self.server.url

    def update(self, text: str) -> None:
        """Execute a SPARQL update."""
        self.store.update(text)

    def _answer(self, request: bytes) -> bytes:
        self._stop.wait(self.delay)
        head, _, body = request.partition(b"\r\n\r\n")
        first, _, lines = head.partition(b"\r\n")
        headers = parse_headers(BytesIO(lines + b"\r\n\r\n"))
        authorization = headers.get("Authorization", "")
        if self.credentials is not None and authorization != self.credentials.basic:
            # Some servers repeat what they refuse.
            return _refusal("401 Unauthorized", f"not welcome: {authorization}")
        method, target, _ = first.decode("latin-1").split(" ")
        url = urlsplit(target)
        match method, headers.get("Content-Type", ""):
            case "GET", _:
                form = url.query
            case "POST", kind if kind == _FORM:
                form = body.decode()
            case _:
                return _refusal("415 Unsupported Media Type", "neither GET nor a form")
        queries = parse_qs(form, strict_parsing=True).get("query", [])
        if url.path != urlsplit(self.query_url).path or len(queries) != 1:
            return _refusal("400 Bad Request", "not one query to /sparql")
        with self._counting:
            self.queries += 1
        return self._results(queries[0])

    def _results(self, query: str) -> bytes:
        try:
            results = self.store.query(query)
            if isinstance(results, QueryTriples):
                return _refusal("400 Bad Request", "neither SELECT nor ASK")
            content = results.serialize(format=QueryResultsFormat.JSON)
        except SyntaxError as error:
            return _refusal("400 Bad Request", str(error))
        assert content is not None
        return answer_of(content, _TYPE)


def _refusal(status: str, reason: str) -> bytes:
    return answer_of(reason.encode(), _PLAIN, status=status)
