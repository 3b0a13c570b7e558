"""One HTTP request and its answer, or why there is none.

HTTP/1.1 by `httpcore` alone: it knows no environment, proxy of the environment, `.netrc`, cookie or
redirect, so that none has to be switched off. Nothing is tried twice and nothing sleeps.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import certifi
import httpcore

from weir.remotes.http.addresses import parse_networks
from weir.remotes.http.decoding import STEP_BYTES, decode
from weir.remotes.http.metering import Deadline, HeadLimit, Meter
from weir.remotes.http.network import PinnedBackend, Resolve, resolve_by_system
from weir.remotes.http.outcomes import Failure, FailureKind, FetchError, Response
from weir.remotes.http.quotation import EXCERPT_BYTES, quote
from weir.remotes.http.request import FetchRequest
from weir.remotes.http.retries import retry_after
from weir.remotes.http.urls import Target, UrlError, parse_target

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Body:
    """The body of an answer of status 200, decoded while it arrives.

    chunks: pieces of about 65,536 bytes.
    """

    content_type: str
    chunks: Iterator[bytes]


Read = Callable[[Body], Value]
"""Reads all of a body; it may raise `FetchError`."""


def fetch(
    request: FetchRequest,
    meter: Meter,
    deadline: Deadline,
    read: Read[Value],
    resolve: Resolve = resolve_by_system,
) -> Response[Value] | Failure:
    """Send a request and read the answer.

    The connection is closed afterwards. `meter` has what was sent and received, also after a
    failure; no byte beyond its limit is sent or received.
    """
    try:
        target = parse_target(request.url, request.ports)
    except UrlError as error:
        return Failure("url_refused", str(error))
    status: list[int] = []
    try:
        return _exchange(request, target, meter, deadline, read, resolve, status)
    except FetchError as stop:
        reason = quote(stop.reason, request.hidden)
        return Failure(stop.kind, reason, status[0] if status else None)


def read_bytes(body: Body) -> bytes:
    """The whole body."""
    return b"".join(body.chunks)


def _exchange(
    request: FetchRequest,
    target: Target,
    meter: Meter,
    deadline: Deadline,
    read: Read[Value],
    resolve: Resolve,
    status: list[int],
) -> Response[Value] | Failure:
    head = HeadLimit(request.limits.head_bytes)
    backend = PinnedBackend(
        meter,
        deadline,
        head,
        parse_networks(request.allow),
        resolve,
        clear_secret=request.authorization is not None and target.scheme == "http",
    )
    message = httpcore.Request(
        request.method,
        httpcore.URL(
            scheme=target.scheme.encode(),
            host=target.host.encode(),
            port=target.port,
            target=target.path.encode(),
        ),
        headers=_headers(request, target),
        content=request.body or None,
    )
    context = _tls(request.ca_file) if target.scheme == "https" else None
    connection = httpcore.HTTPConnection(
        message.url.origin, context, retries=0, network_backend=backend
    )
    try:
        answer = connection.handle_request(message)
        head.complete()
        status.append(answer.status)
        return _answer(request, answer, deadline, read)
    except httpcore.RemoteProtocolError as error:
        ended = backend.wire is not None and backend.wire.ended
        kind: FailureKind = "connection_lost" if ended else "malformed_http"
        raise FetchError(kind, str(error)) from None
    except httpcore.WriteError as error:
        raise FetchError("connection_lost", str(error)) from None
    finally:
        connection.close()
        if backend.wire is not None:
            backend.wire.close()


def _headers(request: FetchRequest, target: Target) -> list[tuple[str, str]]:
    headers = [
        ("Host", target.authority),
        ("User-Agent", f"Weir ({request.contact})"),
        ("Accept", request.accept),
        ("Accept-Encoding", "gzip"),
        ("Connection", "close"),
    ]
    if request.method == "POST":
        headers.append(("Content-Length", str(len(request.body))))
    if request.content_type:
        headers.append(("Content-Type", request.content_type))
    if request.authorization:
        headers.append(("Authorization", request.authorization.reveal()))
    return headers


def _tls(ca_file: str) -> ssl.SSLContext:
    """A context that verifies names, and that no variable of the environment changes."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_verify_locations(ca_file or certifi.where())
    except (OSError, ssl.SSLError):
        raise FetchError("tls_failed", "the file of certificates cannot be read") from None
    return context


def _answer(
    request: FetchRequest, answer: httpcore.Response, deadline: Deadline, read: Read[Value]
) -> Response[Value] | Failure:
    if len(answer.headers) > request.limits.headers:
        raise FetchError("head_too_large", f"more than {request.limits.headers} headers")
    failed = _kind_of_status(answer)
    if failed is not None:
        return _failure(request, answer, failed, deadline)
    sign = _sign_of_a_part(answer)
    if sign:
        raise FetchError("incomplete", f"the server says that its answer is incomplete: {sign}")
    body = Body(_header(answer, b"content-type"), _body(request, answer, deadline))
    return Response(read(body), body.content_type)


def _body(request: FetchRequest, answer: httpcore.Response, deadline: Deadline) -> Iterator[bytes]:
    """The decoded body, however small the pieces are in which it arrives."""
    assert isinstance(answer.stream, Iterable)
    coding = _header(answer, b"content-encoding")
    collected = bytearray()
    for piece in decode(answer.stream, coding, request.limits.decoding):
        deadline.left()
        collected += piece
        if len(collected) >= STEP_BYTES:
            yield bytes(collected)
            collected.clear()
    if collected:
        yield bytes(collected)


def _sign_of_a_part(answer: httpcore.Response) -> str:
    """How a server says that what it answers is not all; empty if it does not say so.

    Virtuoso has `X-SQL-State` where a query was ended by its time limit, and `X-SPARQL-MaxRows`
    where there are as many solutions as it gives at most.
    """
    state = _header(answer, b"x-sql-state").strip()
    if state not in ("", "00000"):
        message = _header(answer, b"x-sql-message")
        return f"X-SQL-State is {state}{f' ({message})' if message else ''}"
    rows = _header(answer, b"x-sparql-maxrows")
    return f"X-SPARQL-MaxRows is {rows}" if rows else ""


def _kind_of_status(answer: httpcore.Response) -> FailureKind | None:
    status = answer.status
    if status == 200:
        return None
    if status == 206:
        # No range was asked for; newer versions of Virtuoso say so that a query was ended.
        return "incomplete"
    if 300 <= status < 400:
        return "redirected"
    if status == 429 or (status == 503 and _header(answer, b"retry-after")):
        return "throttled"
    if 400 <= status < 500:
        return "client_error"
    if 500 <= status < 600:
        return "server_error"
    return "unusable_status"


def _failure(
    request: FetchRequest, answer: httpcore.Response, kind: FailureKind, deadline: Deadline
) -> Failure:
    reason = f"the server answered {answer.status}"
    if kind == "redirected":
        reason += f", redirected to {quote(_header(answer, b'location'), request.hidden)}"
    elif excerpt := _excerpt(request, answer, deadline):
        reason += f": {quote(excerpt, request.hidden)}"
    wait = None
    if kind == "throttled":
        wait = retry_after(_header(answer, b"retry-after"), datetime.now(UTC))
    return Failure(kind, reason, answer.status, wait)


def _excerpt(request: FetchRequest, answer: httpcore.Response, deadline: Deadline) -> bytes:
    """The beginning of the body, as far as it can be read."""
    excerpt = b""
    assert isinstance(answer.stream, Iterable)
    coding = _header(answer, b"content-encoding")
    try:
        for piece in decode(answer.stream, coding, request.limits.decoding):
            deadline.left()
            excerpt += piece
            if len(excerpt) >= EXCERPT_BYTES:
                break
    except (FetchError, httpcore.RemoteProtocolError):
        return excerpt  # the status is the failure, not its explanation
    return excerpt


def _header(answer: httpcore.Response, name: bytes) -> str:
    """The value of a header; of several, their list."""
    values = [value for key, value in answer.headers if key.lower() == name]
    return b", ".join(values).decode("latin-1")
