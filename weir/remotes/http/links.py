"""The `Link` header: typed links of a document, in the header of its answer.

https://www.rfc-editor.org/rfc/rfc8288#appendix-B.2
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from weir.remotes.http.iri_urls import resolved_url
from weir.remotes.http.urls import UrlError

MOST_LINKS = 100
_TARGET = re.compile(r"[\s,]*<(?P<target>[^>]*)>")
_PARAMETER = re.compile(
    r"\s*;\s*(?P<name>[^\s=;,<\"]*)"
    r"(?:\s*=\s*(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|(?P<plain>[^;,\"\s]*)))?"
)
_REST = re.compile(r"[^,<\"]*(?:\"(?:[^\"\\]|\\.)*\"?[^,<\"]*)*")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a document to another.

    target: its URL. rel: a relation type, in lower case. type: media type that is to be expected,
    in lower case, "" if it is not given.
    """

    target: str
    rel: str
    type: str


def read_links(header: str, url: str) -> tuple[Link, ...]:
    """The links of the document at `url`, a link for each relation type, at most 100.

    What is malformed, has another context (`anchor`) or leads to what is not asked (`mailto:`) is
    left out.
    """
    links: list[Link] = []
    for reference, parameters in _entries(header):
        if "anchor" in parameters:
            continue
        try:
            target = resolved_url(url, reference.strip())
        except UrlError:
            continue
        media_type = parameters.get("type", "").partition(";")[0].strip().lower()
        for rel in dict.fromkeys(parameters.get("rel", "").lower().split()):
            links.append(Link(target, rel, media_type))
            if len(links) == MOST_LINKS:
                return tuple(links)
    return tuple(links)


def _entries(header: str) -> Iterator[tuple[str, dict[str, str]]]:
    """References and their parameters, each the first of its name; ends at what is no link."""
    at = 0
    while match := _TARGET.match(header, at):
        at = match.end()
        parameters: dict[str, str] = {}
        while parameter := _PARAMETER.match(header, at):
            at = parameter.end()
            quoted, plain = parameter["quoted"], parameter["plain"]
            value = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else (plain or "")
            parameters.setdefault(parameter["name"].lower(), value)
        at = _end(header, at)
        yield match["target"], parameters


def _end(header: str, at: int) -> int:
    """Where the next link may begin: behind what could not be read of this one."""
    rest = _REST.match(header, at)
    return rest.end() if rest else at
