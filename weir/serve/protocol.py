"""What a request asks for: the query part of the SPARQL 1.1 Protocol, and media types.

https://www.w3.org/TR/sparql11-protocol/#query-operation
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from urllib.parse import parse_qsl

import pyoxigraph
from starlette.requests import ClientDisconnect, Request

from weir.rdf.media_types import media_type_of
from weir.serve.pool import Asked
from weir.serve.problems import Problem

_FORM, _DIRECT = "application/x-www-form-urlencoded", "application/sparql-query"
RESULTS: Mapping[str, str] = {
    "application/sparql-results+json": "application/sparql-results+json",
    "application/sparql-results+xml": "application/sparql-results+xml",
    "text/csv": "text/csv",
    "text/tab-separated-values": "text/tab-separated-values",
    "application/json": "application/sparql-results+json",
    "application/xml": "application/sparql-results+xml",
}
"""By what is asked for, the media types of solutions and truth values; the best first."""
GRAPHS: Mapping[str, str] = {
    "text/turtle": "text/turtle",
    "application/n-triples": "application/n-triples",
    "application/rdf+xml": "application/rdf+xml",
    "application/ld+json": "application/ld+json",
    "application/json": "application/ld+json",
    "text/plain": "application/n-triples",
    "application/xml": "application/rdf+xml",
}
"""Those of triples."""
_MOST_GRAPHS = 1_000


def accepted(header: str, offered: Sequence[str]) -> str | None:
    """The first of the media types that a client likes best; None if it accepts none.

    Args:
        header: of the request; empty accepts all.
        offered: the best first.
    """
    ranges: dict[str, float] = {}
    for part in header.split(","):
        name, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        try:
            ranges[name] = min(max(float(quality), 0.0), 1.0)
        except ValueError:
            ranges[name] = 0.0
    if not header.strip():
        return offered[0]
    best, liked = None, 0.0
    for media in offered:
        wider = (media, f"{media.partition('/')[0]}/*", "*/*")
        quality_of = next((ranges[name] for name in wider if name in ranges), 0.0)
        if quality_of > liked:
            best, liked = media, quality_of
    return best


async def body_of(request: Request, most: int) -> bytes:
    """The body of a request.

    Raises:
        Problem: it has more than `most` bytes.
    """
    parts: list[bytes] = []
    left = most
    try:
        async for part in request.stream():
            left -= len(part)
            if left < 0:
                raise Problem(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    f"the body of the request has more than {most:,} bytes",
                    "`serve.request_bytes` is the limit.",
                    {"Connection": "close"},
                )
            parts.append(part)
    except ClientDisconnect:
        raise Problem(HTTPStatus.BAD_REQUEST, "the request ended early") from None
    return b"".join(parts)


async def asked(request: Request, most: int) -> tuple[Asked, str | None] | None:
    """The query of a request and the epoch that it names; None if it has no query.

    Raises:
        Problem: it is no request of the protocol.
    """
    content_type = request.headers.get("content-type", "")
    media = media_type_of(content_type)
    pairs = _pairs(request.url.query.encode())
    direct: list[str] = []
    if request.method == "POST":
        if media not in (_FORM, _DIRECT):
            raise Problem(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                f"a query is sent as {_FORM} or {_DIRECT}"
                + (f", and not as {media[:100]}" if media else ""),
                "Updates are refused: the graph follows its sources."
                if media == "application/sparql-update"
                else "",
            )
        charset = content_type.lower().partition("charset=")[2].strip(' "') or "utf-8"
        if charset not in ("utf-8", "utf8"):
            raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a query is text in UTF-8")
        body = await body_of(request, most)
        if media == _FORM:
            pairs += _pairs(body)
        else:
            direct = [_decoded(body)]
    by_name: dict[str, list[str]] = {}
    for name, value in pairs:
        by_name.setdefault(name, []).append(value)
    if "update" in by_name:
        raise Problem(HTTPStatus.BAD_REQUEST, "updates are refused: the graph follows its sources")
    queries = [*by_name.get("query", ()), *direct]
    if len(queries) > 1:
        raise Problem(HTTPStatus.BAD_REQUEST, "the request has more than one query")
    epochs = by_name.get("epoch", [])
    if not queries:
        if request.method != "POST" and not pairs:
            return None
        raise Problem(HTTPStatus.BAD_REQUEST, "the request has no query")
    header = request.headers.get("accept", "")
    results, graphs = accepted(header, [*RESULTS]), accepted(header, [*GRAPHS])
    question = Asked(
        queries[0],
        _iris(by_name.get("default-graph-uri", ())),
        _iris(by_name.get("named-graph-uri", ())),
        None if results is None else RESULTS[results],
        None if graphs is None else GRAPHS[graphs],
    )
    return question, epochs[-1] if epochs else None


def epoch_of(text: str | None) -> int | None:
    """The number of an epoch.

    Raises:
        Problem: it is none.
    """
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise Problem(HTTPStatus.BAD_REQUEST, "an epoch is a whole number")
    return int(text)


def _pairs(text: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            text.decode(), keep_blank_values=True, errors="strict", max_num_fields=2 * _MOST_GRAPHS
        )
    except ValueError:
        raise Problem(
            HTTPStatus.BAD_REQUEST, "the parameters are not text in UTF-8, or are too many"
        ) from None


def _decoded(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise Problem(HTTPStatus.BAD_REQUEST, "the query is not text in UTF-8") from None


def _iris(texts: Sequence[str]) -> list[str]:
    try:
        if len(texts) > _MOST_GRAPHS:
            raise ValueError
        return [pyoxigraph.NamedNode(text).value for text in dict.fromkeys(texts)]
    except ValueError:
        raise Problem(
            HTTPStatus.BAD_REQUEST, f"graphs are absolute IRIs, at most {_MOST_GRAPHS}"
        ) from None
