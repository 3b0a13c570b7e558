"""RDF formats by media type: what is asked for over HTTP, and what an answer is."""

from __future__ import annotations

from collections.abc import Mapping

from weir.rdf.files import format_of
from weir.rdf.records import Format

ACCEPT = (
    "text/turtle, application/n-triples, application/trig, application/n-quads,"
    " application/ld+json, application/rdf+xml;q=0.9"
)
_FORMATS: Mapping[str, Format] = {
    "text/turtle": "turtle",
    "application/n-triples": "n-triples",
    "application/trig": "trig",
    "application/n-quads": "n-quads",
    "application/ld+json": "json-ld",
    "application/json": "json-ld",
    "application/rdf+xml": "rdf-xml",
    "application/xml": "rdf-xml",
    "text/xml": "rdf-xml",
}


def media_type_of(content_type: str) -> str:
    """The media type of a `Content-Type` header, without parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def format_of_type(media_type: str, path: str) -> Format | None:
    """The format of a document: as its server says, unless that is only `text/plain`.

    Args:
        media_type: as `media_type_of` gives it.
        path: of the URL, whose ending counts where the media type says nothing.
    """
    if media_type in ("", "text/plain", "application/octet-stream"):
        return format_of(path)
    return _FORMATS.get(media_type)
