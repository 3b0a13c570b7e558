"""What every request passes: the host that it names, the token, the headers of every response."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from weir.serve.problems import Problem

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""The hosts that are this machine; others could be pages that a browser was made to ask it for."""
_HEADERS = {
    # The charts of the site set styles; no script but those of its files runs.
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; style-src 'self'"
    " 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "SAMEORIGIN",
}


class Guard:
    """Lets requests through to an application.

    Args:
        app: the application.
        hosts: which `Host` may name; None for all.
        token: which `Authorization` must have; None without one.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str] | None, token: str | None) -> None:
        self._app, self._hosts = app, hosts
        self._wanted = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        problem = self._refusal(Headers(scope=scope))
        answer = self._app if problem is None else problem.response()
        await answer(scope, receive, send_with_headers)

    def _refusal(self, headers: Headers) -> Problem | None:
        host = headers.get("host", "")
        name, _, port = host.rpartition(":")
        if not port.isdecimal() or not name:
            name = host
        if self._hosts is not None and name.lower() not in self._hosts:
            what = "the request names another host than this machine"
            return Problem(HTTPStatus.MISDIRECTED_REQUEST, what, "Ask http://localhost.")
        given = headers.get("authorization", "").encode("latin-1")
        if self._wanted is not None and not hmac.compare_digest(given, self._wanted):
            return Problem(
                HTTPStatus.UNAUTHORIZED,
                "the request lacks the token of this server",
                "Send it as `Authorization: Bearer TOKEN`.",
                {"WWW-Authenticate": "Bearer"},
            )
        return None
