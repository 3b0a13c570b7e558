"""One HTTP request on a connection of its own, and its answer, or why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

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
from weir.remotes.http.outcomes import Failure, FetchError, Response
from weir.remotes.http.request import FetchRequest
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
    allowance = Allowance(meter, deadline, HeadLimit(request.limits.head_bytes))
    return _exchange(request, target, allowance, read, resolve)


def read_bytes(body: Body) -> bytes:
    """The whole body."""
    return b"".join(body.chunks)


def _exchange(
    request: FetchRequest,
    target: Target,
    allowance: Allowance,
    read: Read[Value],
    resolve: Resolve,
) -> Response[Value] | Failure:
    connector = Connector(parse_networks(request.allow), resolve)
    answer: Answer | None = None
    connection: Connection | None = None
    try:
        context = tls_context(request.ca_file) if target.scheme == "https" else None
        connection = Connection(target, connector, context)
        answer = connection.send(request, target, allowance, keep=False)
        return _response(answer, read)
    except FetchError as stop:
        return failure_of_error(stop, request, answer)
    finally:
        if connection is not None:
            connection.close()


def _response(answer: Answer, read: Read[Value]) -> Response[Value] | Failure:
    answer.check_number_of_headers()
    failed = kind_of_status(answer)
    if failed is not None:
        return failure_of_status(answer, failed)
    check_complete(answer)
    body = Body(answer.header(b"content-type"), answer.body())
    return Response(read(body), body.content_type)
