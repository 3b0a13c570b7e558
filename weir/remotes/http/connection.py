"""A connection to one origin: requests follow each other, each within its own allowance.

HTTP/1.1 by `httpcore` alone: it knows no environment, proxy of the environment, `.netrc`, cookie or
redirect, so that none has to be switched off. Nothing is tried twice and nothing sleeps.
"""

from __future__ import annotations

import ssl

import certifi
import httpcore

from weir.remotes.http.answers import Answer
from weir.remotes.http.metering import Allowance
from weir.remotes.http.network import Connector
from weir.remotes.http.outcomes import FetchError
from weir.remotes.http.request import FetchRequest
from weir.remotes.http.streams import PlainStream, Wire, faults_of
from weir.remotes.http.urls import Target


class Connection:
    """Connects with the first request; it has to be closed.

    Args:
        target: a target at the origin.
        connector: checks its addresses.
        context: of TLS, None for http.
    """

    def __init__(
        self, target: Target, connector: Connector, context: ssl.SSLContext | None
    ) -> None:
        self._origin = httpcore.Origin(target.scheme.encode(), target.host.encode(), target.port)
        self._connector, self._context = connector, context
        self._wire: Wire | None = None
        self._http: httpcore.HTTP11Connection | None = None

    @property
    def is_reusable(self) -> bool:
        """Whether it is open, and nothing has arrived that no request asked for."""
        if self._http is None or not self._http.is_idle() or self._http.has_expired():
            return False
        # What follows the last answer would be read as the next one.
        unread, _ = self._http._h11_state.trailing_data
        return not unread

    def send(
        self, request: FetchRequest, target: Target, allowance: Allowance, *, keep: bool
    ) -> Answer:
        """Send a request and read the head of its answer.

        keep: whether the connection is to stay open afterwards.

        Raises:
            FetchError: nothing usable came.
        """
        clear_secret = request.authorization is not None and self._context is None
        http, wire = self._open(allowance, clear_secret)
        message = httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=self._origin.scheme,
                host=self._origin.host,
                port=self._origin.port,
                target=target.path.encode(),
            ),
            headers=_headers(request, target, keep),
            content=request.body or None,
        )
        with faults_of(wire):
            answer = http.handle_request(message)
        allowance.head.complete()
        return Answer(request, answer, wire, allowance)

    def close(self) -> None:
        """Close at once."""
        if self._wire is not None:
            self._wire.close()

    def _open(
        self, allowance: Allowance, clear_secret: bool
    ) -> tuple[httpcore.HTTP11Connection, Wire]:
        if self._http is not None and self._wire is not None:
            self._connector.check(self._wire.peer, clear_secret)
            self._wire.allowance = allowance
            allowance.meter.peer = self._wire.peer
            return self._http, self._wire
        host, port = self._origin.host.decode(), self._origin.port
        self._wire = self._connector.connect(host, port, allowance, clear_secret)
        allowance.meter.peer = self._wire.peer
        stream: httpcore.NetworkStream = PlainStream(self._wire)
        if self._context is not None:
            stream = stream.start_tls(self._context, host)
        self._http = httpcore.HTTP11Connection(self._origin, stream)
        return self._http, self._wire


def tls_context(ca_file: str) -> ssl.SSLContext:
    """A context that verifies names, and that no variable of the environment changes.

    ca_file: certificates (PEM) of the authorities to trust in place of the public ones.

    Raises:
        FetchError: tls_failed.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_verify_locations(ca_file or certifi.where())
    except (OSError, ssl.SSLError):
        raise FetchError("tls_failed", "the file of certificates cannot be read") from None
    return context


def _headers(request: FetchRequest, target: Target, keep: bool) -> list[tuple[str, str]]:
    headers = [
        ("Host", target.authority),
        ("User-Agent", f"Weir ({request.contact})"),
        ("Accept", request.accept),
        ("Accept-Encoding", "gzip"),
        ("Connection", "keep-alive" if keep else "close"),
        *request.conditions,
    ]
    if request.method == "POST":
        headers.append(("Content-Length", str(len(request.body))))
    if request.content_type:
        headers.append(("Content-Type", request.content_type))
    if request.authorization:
        headers.append(("Authorization", request.authorization.reveal()))
    return headers
