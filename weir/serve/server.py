"""The HTTP server: uvicorn, at a socket that is opened before it starts."""

from __future__ import annotations

import socket

import uvicorn
from starlette.applications import Starlette

from weir.errors import WeirError

_GRACE_SECONDS = 2
_CONNECTIONS = 500


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address.

    Raises:
        WeirError: it cannot be opened.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        what = f"it cannot listen at {host}, port {port}: {error.strerror or error}"
        raise WeirError(what, "", "Choose another one by --port.") from None
    # Else head and body of a response are sent 40 ms apart: asyncio does this for its own only.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def server_of(app: Starlette) -> uvicorn.Server:
    """A server of an application; its `run` takes the socket."""
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        loop="asyncio",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    return uvicorn.Server(config)
