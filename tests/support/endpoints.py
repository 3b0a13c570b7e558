"""What tests use of a SPARQL endpoint on loopback, and how they ask it."""

from __future__ import annotations

from typing import Any, Protocol
from urllib.parse import urlsplit

from demo.fuseki import Credentials
from weir.remotes.http.request import FetchLimits, FetchRequest, Secret, query_request

LIMITS = FetchLimits(bytes=16 << 20, seconds=20.0)


class Endpoint(Protocol):
    """A SPARQL endpoint with one dataset."""

    @property
    def query_url(self) -> str:
        """Where queries go, on 127.0.0.1."""

    @property
    def queries(self) -> int:
        """How many queries have come so far, without those refused for their credentials."""

    def update(self, text: str) -> None:
        """Execute a SPARQL update."""


def port_of(endpoint: Endpoint) -> int:
    """The port."""
    port = urlsplit(endpoint.query_url).port
    assert port is not None
    return port


def request_to(
    endpoint: Endpoint, query: str, credentials: Credentials | None = None, **settings: Any
) -> FetchRequest:
    """The request that asks an endpoint a query.

    settings: other fields of `FetchRequest`.
    """
    usual: dict[str, Any] = {
        "contact": "tests@example.org",
        "limits": LIMITS,
        "allow": ("127.0.0.1/32",),
        "ports": (port_of(endpoint),),
        "authorization": credentials and Secret(credentials.basic),
    }
    return query_request(endpoint.query_url, query, **{**usual, **settings})
