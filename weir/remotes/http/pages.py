"""Pages over connections that are kept: one per origin, for one request after another."""

from __future__ import annotations

import ssl
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from weir.remotes.http.addresses import parse_networks
from weir.remotes.http.answers import (
    Answer,
    check_complete,
    failure_of_error,
    failure_of_status,
    kind_of_status,
)
from weir.remotes.http.connection import Connection, tls_context
from weir.remotes.http.metering import Allowance, Deadline, HeadLimit, Meter
from weir.remotes.http.network import Connector, Resolve, resolve_by_system
from weir.remotes.http.outcomes import Failure, FetchError
from weir.remotes.http.quotation import hide
from weir.remotes.http.request import FetchLimits, FetchRequest, Secret
from weir.remotes.http.urls import Target, UrlError, parse_target

MOST_KEPT = 64
"""Connections that wait for another request; the one that waits longest is closed for a new one."""
_WITHOUT_BODY = frozenset({304, 401, 403, 404, 410})


@dataclass(frozen=True, slots=True)
class Manner:
    """How all requests are made: fields of `FetchRequest`."""

    contact: str
    allow: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    ca_file: str = ""


@dataclass(frozen=True, slots=True)
class Credential:
    """An `Authorization` header, and the only origin to which it is sent (`iri_urls.origin_of`)."""

    origin: str
    authorization: Secret


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A GET request.

    conditions: headers, as `caching.conditions` makes them.
    credential: sent only if `url` is of its origin.
    """

    url: str
    accept: str
    limits: FetchLimits
    conditions: tuple[tuple[str, str], ...] = ()
    credential: Credential | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """An answer that says what is at a URL: of status 200, 3xx, 401, 403, 404 or 410.

    headers: by lower-case name, several of a name as their list; within the limits of the request.
    body: of status 200, decoded; else empty.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Connections:
    """Keeps a connection per origin; threads may share it. It has to be closed."""

    def __init__(self, manner: Manner, resolve: Resolve = resolve_by_system) -> None:
        self._manner = manner
        self._connector = Connector(parse_networks(manner.allow), resolve)
        self._context: ssl.SSLContext | None = None
        self._kept: OrderedDict[str, Connection] = OrderedDict()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def get(self, request: PageRequest, meter: Meter, deadline: Deadline) -> Page | Failure:
        """Get a page. A redirect is given back, too, and not followed.

        If a kept connection ends before a byte of the answer has come, the request is sent once
        more on a new one; both count for `meter`, which has what was sent and received.
        """
        try:
            target = parse_target(request.url, self._manner.ports)
        except UrlError as error:
            return Failure("url_refused", str(error))
        sent = self._sent(request, target.origin)
        allowance = Allowance(meter, deadline, HeadLimit(sent.limits.head_bytes))
        if kept := self._take(target.origin):
            outcome = self._ask(kept, sent, target, allowance)
            if not _was_closed_before(outcome, allowance):
                return outcome
        try:
            context = self._tls() if target.scheme == "https" else None
        except FetchError as stop:
            return failure_of_error(stop, sent, None)
        connection = Connection(target, self._connector, context)
        return self._ask(connection, sent, target, allowance)

    def close(self) -> None:
        """Close all that are kept."""
        with self._lock:
            while self._kept:
                self._kept.popitem()[1].close()

    def _sent(self, request: PageRequest, origin: str) -> FetchRequest:
        credential = request.credential
        own = credential is not None and credential.origin == origin
        return FetchRequest(
            request.url,
            request.accept,
            self._manner.contact,
            request.limits,
            allow=self._manner.allow,
            ports=self._manner.ports,
            authorization=credential.authorization if credential and own else None,
            conditions=request.conditions,
            ca_file=self._manner.ca_file,
        )

    def _tls(self) -> ssl.SSLContext:
        with self._lock:
            self._context = self._context or tls_context(self._manner.ca_file)
            return self._context

    def _take(self, origin: str) -> Connection | None:
        with self._lock:
            connection = self._kept.pop(origin, None)
        if connection is None or connection.is_reusable:
            return connection
        connection.close()
        return None

    def _keep(self, origin: str, connection: Connection) -> None:
        with self._lock:
            if other := self._kept.pop(origin, None):
                other.close()
            self._kept[origin] = connection
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)[1].close()

    def _ask(
        self,
        connection: Connection,
        request: FetchRequest,
        target: Target,
        allowance: Allowance,
    ) -> Page | Failure:
        answer: Answer | None = None
        try:
            answer = connection.send(request, target, allowance, keep=True)
            outcome = _page(answer)
            answer.close()
            return outcome
        except FetchError as stop:
            return failure_of_error(stop, request, answer)
        finally:
            if connection.is_reusable:
                self._keep(target.origin, connection)
            else:
                connection.close()


def _was_closed_before(outcome: Page | Failure, allowance: Allowance) -> bool:
    lost = isinstance(outcome, Failure) and outcome.kind == "connection_lost"
    return lost and not allowance.head.begun


def _page(answer: Answer) -> Page | Failure:
    answer.check_number_of_headers()
    kind = kind_of_status(answer)
    if kind is None:
        check_complete(answer)
        return Page(answer.status, _headers(answer), b"".join(answer.body()))
    if answer.status == 304 and not answer.request.conditions:
        return Failure(
            "unusable_status", "the server answered 304 to a request without conditions", 304
        )
    if kind == "redirected" or answer.status in _WITHOUT_BODY:
        answer.drain()
        return Page(answer.status, _headers(answer), b"")
    return failure_of_status(answer, kind)


def _headers(answer: Answer) -> Mapping[str, str]:
    """The headers without the secret, should the server repeat it."""
    headers: dict[str, str] = {}
    hidden = answer.request.hidden
    for key, content in answer.message.headers:
        name, value = key.decode("ascii").lower(), hide(_text(content), hidden)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _text(content: bytes) -> str:
    """Servers send UTF-8 in `Location`, though only ASCII is allowed there."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")
