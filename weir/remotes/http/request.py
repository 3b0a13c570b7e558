"""What a fetch asks for, and the most that it may take."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote, urlencode

from weir.remotes.http.addresses import parse_networks
from weir.remotes.http.decoding import DecodingLimits
from weir.remotes.http.quotation import parts_to_hide

Method = Literal["GET", "POST"]
LONGEST_GET_URL = 2000
"""Beyond so many characters the query goes into the body: servers and proxies cut longer URLs."""
RESULTS_TYPE = "application/sparql-results+json"
FORM_TYPE = "application/x-www-form-urlencoded"

_FIELD = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


class Secret:
    """Text that no `repr`, and so no message and no traceback, shows."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(...)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def is_header_field(text: str) -> bool:
    """Whether a text can be sent as the value of a header."""
    return _FIELD.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """The most that one fetch may take; exceeding one of them ends it at once.

    bytes: on the wire in both directions, headers and TLS included, from connect to close.
    seconds: from the start of the fetch, names, child process and parsing included.
    bindings: solutions of a result, `LIMIT n+1` of its query.
    head_bytes: of status lines and headers, interim answers included. headers: their number.
    """

    bytes: int
    seconds: float
    bindings: int = 100_000
    decoding: DecodingLimits = field(default_factory=DecodingLimits)
    head_bytes: int = 32 << 10
    headers: int = 100

    def __post_init__(self) -> None:
        least = min(self.bytes, self.bindings, self.head_bytes, self.headers)
        if least < 0 or not 0 < self.seconds < 86_400:
            raise ValueError(f"not limits of a fetch: {self}")


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """One HTTP request.

    contact: who answers for it, in the User-Agent.
    allow: networks that are connected to although they are not public, as `127.0.0.1/32`.
    ports: ports beside 80 and 443.
    authorization: the `Authorization` header; over http only to networks in `allow`.
    conditions: headers of a conditional request (name, value), such as `If-None-Match`.
    ca_file: certificates (PEM) of the authorities to trust in place of the public ones.

    Raises:
        ValueError: a header field or a network that is none.
    """

    url: str
    accept: str
    contact: str
    limits: FetchLimits
    method: Method = "GET"
    body: bytes = b""
    content_type: str = ""
    allow: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    authorization: Secret | None = None
    conditions: tuple[tuple[str, str], ...] = ()
    ca_file: str = ""

    def __post_init__(self) -> None:
        parse_networks(self.allow)
        for name in ("accept", "contact"):
            if not is_header_field(getattr(self, name)):
                raise ValueError(f"{name} cannot be sent in a header")
        if not all(is_header_field(value) for _, value in self.conditions):
            raise ValueError("a condition cannot be sent in a header")
        if self.content_type and not is_header_field(self.content_type):
            raise ValueError("content_type cannot be sent in a header")
        if self.authorization and not is_header_field(self.authorization.reveal()):
            raise ValueError("authorization cannot be sent in a header")

    @property
    def hidden(self) -> tuple[str, ...]:
        """What no message may show."""
        return parts_to_hide(self.authorization.reveal()) if self.authorization else ()


def query_request(endpoint: str, query: str, **settings: Any) -> FetchRequest:
    """The request that asks `endpoint` a SELECT query: GET, or POST with a form if it is long.

    https://www.w3.org/TR/sparql11-protocol/#query-operation

    settings: the other fields of `FetchRequest` (contact, limits, ...).

    Raises:
        ValueError: the query has half of a surrogate pair, or a setting cannot be sent.
    """
    form = urlencode({"query": query}, quote_via=quote, safe="")
    separator = "&" if "?" in endpoint else "?"
    url = f"{endpoint}{separator}{form}"
    common: Mapping[str, Any] = {"accept": RESULTS_TYPE, **settings}
    if len(url) <= LONGEST_GET_URL:
        return FetchRequest(url=url, method="GET", **common)
    return FetchRequest(
        url=endpoint, method="POST", body=form.encode(), content_type=FORM_TYPE, **common
    )
