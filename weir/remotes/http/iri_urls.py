"""From an IRI to the URL that is asked for it, and from there to where a redirect leads.

https://www.rfc-editor.org/rfc/rfc3987#section-3.1
"""

from __future__ import annotations

import re
from urllib.parse import quote, urljoin

import idna

from weir.remotes.http.urls import UrlError, parse_target

# https://www.rfc-editor.org/rfc/rfc3986#appendix-B
_IRI = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#\\]*)"
    r"(?P<path>[^?#]*)(?P<query>\?[^#]*)?(?:#.*)?",
    re.IGNORECASE | re.DOTALL,
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_AUTHORITY = re.compile(r"(?P<host>\[[^\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]{0,5}))?")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_IN_PATH = "/~%!$&'()*+,;=:@"
_IN_QUERY = _IN_PATH + "?[]"
"""Brackets are not allowed there, but usual: as browsers do, they are sent as they are."""
_ALL_PORTS = range(1, 65536)
_LONGEST_HOST = 1000


def url_of(iri: str) -> str:
    """The URL that is asked for an IRI.

    The fragment is dropped, and the port of the scheme; the host is in lower case, in A-labels
    (IDNA 2008); what a URL must escape is percent-encoded as UTF-8. Segments `.` and `..` stay.

    Raises:
        UrlError: another scheme, a user, control characters, or a host that is none.
    """
    if _CONTROL.search(iri):
        raise UrlError("the IRI has control characters")
    match = _IRI.fullmatch(iri)
    if match is None:
        raise UrlError("the IRI does not start with http:// or https://, or has no host")
    scheme = match["scheme"].lower()
    path = _escape(match["path"], _IN_PATH)
    query = _escape(match["query"] or "", _IN_QUERY)
    url = f"{scheme}://{_authority(match['authority'])}{path}{query}"
    target = parse_target(url, _ALL_PORTS)
    return f"{target.origin}{target.path}"


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL, without the scheme's own port: `https://example.org`.

    Raises:
        UrlError: `parse_target` refuses it for another reason than its port.
    """
    return parse_target(url, _ALL_PORTS).origin


def redirect_url(url: str, location: str) -> str:
    """The URL to which the answer of `url` redirects.

    location: the header, absolute or relative.

    Raises:
        UrlError: there is no location, it leads from https to http, or `url_of` refuses it.
    """
    location = location.strip(" \t")
    if not location:
        raise UrlError("the redirect has no location")
    target = resolved_url(url, location)
    if url.startswith("https:") and not target.startswith("https:"):
        raise UrlError("the redirect leads from https to http")
    return target


def resolved_url(base: str, reference: str) -> str:
    """The URL of an IRI reference in a document at `base`.

    Raises:
        UrlError: `url_of` refuses it.
    """
    if _CONTROL.search(reference):
        raise UrlError("the IRI has control characters")  # `urljoin` would remove some
    if _SCHEME.match(reference):
        return url_of(reference)  # `urljoin` would take `http:a` for a path of `base`
    try:
        joined = urljoin(base, reference)
    except ValueError:
        raise UrlError("the reference has a host that is none") from None
    return url_of(joined)


def _escape(text: str, safe: str) -> str:
    try:
        return quote(_LONE_PERCENT.sub("%25", text), safe)
    except UnicodeEncodeError:
        raise UrlError("the IRI has half of a surrogate pair") from None


def _authority(authority: str) -> str:
    if "@" in authority:
        raise UrlError("the IRI has a user in front of its host; declare a connection instead")
    match = _AUTHORITY.fullmatch(authority)
    if match is None or not match["host"]:
        raise UrlError("the IRI has no host, or a port that is none")
    host = match["host"]
    if not host.isascii():
        host = _a_labels(host)
    return f"{host}:{match['port']}" if match["port"] else host


def _a_labels(host: str) -> str:
    if len(host) > _LONGEST_HOST:
        raise UrlError("the host is too long")
    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii")
    except UnicodeError:  # idna.IDNAError is one
        raise UrlError("the host is not an internationalised name") from None
