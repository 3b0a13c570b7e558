"""URLs that may be fetched, in one strict form that cannot be read in two ways."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address

LONGEST_URL = 8192
DEFAULT_PORTS = {"http": 80, "https": 443}
# No userinfo, no fragment, no backslash, no control characters, nothing beyond ASCII.
_URL = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+)"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>/[0-9A-Za-z._~%!$&'()*+,;=:@/-]*)?"
    r"(?P<query>\?[0-9A-Za-z._~%!$&'()*+,;=:@/?\[\]-]*)?"
)
_LABEL = re.compile(r"[0-9A-Za-z_](?:[0-9A-Za-z_-]{0,61}[0-9A-Za-z_])?")
# https://url.spec.whatwg.org/#ends-in-a-number-checker
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9A-Fa-f]*")


class UrlError(ValueError):
    """A URL that is not fetched; the message says why and does not repeat it."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes.

    host: lower-case name, or address without brackets.
    literal: whether the host is an address.
    path: path and query, as they stand in the request.
    """

    scheme: str
    host: str
    port: int
    path: str
    literal: bool

    @property
    def authority(self) -> str:
        """The `Host` header: without the port if it is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port, without the scheme's own port: `https://example.org`."""
        return f"{self.scheme}://{self.authority}"


def parse_target(url: str, ports: Collection[int] = ()) -> Target:
    """The parts of a URL.

    ports: ports that are declared, beside 80 and 443.

    Raises:
        UrlError: another scheme, userinfo, a fragment, a port that is not declared, a host that is
            neither a plain name nor an address in its usual spelling, or characters that a URL
            must escape.
    """
    if len(url) > LONGEST_URL:
        raise UrlError(f"the URL is longer than {LONGEST_URL:,} characters")
    match = _URL.fullmatch(url)
    if match is None:
        raise UrlError(_mistake(url))
    scheme = match["scheme"]
    port = int(match["port"]) if match["port"] else DEFAULT_PORTS[scheme]
    if (port not in (80, 443) and port not in ports) or not 0 < port < 65536:
        raise UrlError(f"port {port} is not allowed: add it to `ports` of its declaration")
    host, literal = _host(match["host"])
    return Target(scheme, host, port, (match["path"] or "/") + (match["query"] or ""), literal)


def _host(text: str) -> tuple[str, bool]:
    if text.startswith("["):
        try:
            return str(IPv6Address(text[1:-1])), True
        except AddressValueError:
            raise UrlError("the host in brackets is not an IPv6 address") from None
    labels = text.split(".")
    if _NUMBER.fullmatch(labels[-1]) or (not labels[-1] and _NUMBER.fullmatch(labels[-2])):
        # inet_aton takes octal, hexadecimal and shortened addresses, too.
        try:
            return str(IPv4Address(text)), True
        except AddressValueError:
            raise UrlError("the host is a number, but not an address as 192.0.2.1") from None
    if len(text) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise UrlError("the host is not a name: letters, digits, - and _ between single dots")
    return text.lower(), False


def _mistake(url: str) -> str:
    if not re.match(r"https?://", url):
        return "the URL does not start with http:// or https://"
    authority = re.split(r"[/?#\\]", url.split("://", 1)[1], maxsplit=1)[0]
    if "@" in authority:
        return "the URL has a user in front of its host; declare a connection instead"
    if "#" in url:
        return "the URL has a fragment"
    return "the URL has characters that must be escaped, or no host"
