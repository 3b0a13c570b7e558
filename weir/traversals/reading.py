"""What an answer holds: the bytes of a document to its triples and links.

It runs in the child process that fetches, so no byte of the web is parsed elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from weir.rdf.blank_nodes import content_labels
from weir.rdf.canonical_nquads import Lines, split_terms
from weir.rdf.documents import read_document
from weir.rdf.json_ld import Dropped
from weir.rdf.limits import ParseLimits
from weir.rdf.media_types import ACCEPT, format_of_type, media_type_of
from weir.rdf.records import Format
from weir.traversals.hints import Statement, statements_of
from weir.traversals.rules import Link, Rules, Triple
from weir.traversals.search import place_of

ACCEPT_HTML = f"{ACCEPT}, text/html;q=0.5"
DESCRIBED_BY = "<urn:weir:describedBy>"
"""From a resource to the document that it leads to; no document may say so itself."""
_HTML = ("text/html", "application/xhtml+xml")


class NotRdf(ValueError):  # noqa: N818  (named after what it is)
    """A document that is in no format that is read; the message says which."""


class Broken(ValueError):  # noqa: N818  (named after what it is)
    """A document with an error; the message is the error."""


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How documents of a traversal are read.

    Attributes:
        name: of the traversal: blank nodes of two traversals are different ones.
        rules: which links are read.
        is_authoritative: only triples whose subject is the document, or a part of it, count.
        ignore: predicates whose triples are left out, in N-Triples form.
        hints: predicates by which a document states of others that they are the same.
        html: whether JSON-LD in pages is read.
        contexts: files of remote contexts, by IRI.
    """

    name: str
    rules: Rules
    is_authoritative: bool = False
    ignore: frozenset[str] = frozenset()
    hints: frozenset[str] = frozenset()
    html: bool = False
    contexts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a document holds.

    Attributes:
        lines: its triples as N-Triples, sorted, each once.
        digest: SHA-256 of them: comments, order and labels of blank nodes are no change.
        links: what it leads to.
        media_type: as sent, without parameters.
        tampered: triples that were left out as they say what only a traversal may say.
        statements: what it states of other documents by the predicates of hints.
    """

    lines: str
    digest: str
    links: tuple[Link, ...]
    media_type: str
    tampered: int = 0
    statements: tuple[Statement, ...] = ()


@lru_cache(1)
def _options(text: str) -> ReadingOptions:
    """The options of the pool, which its parent made."""
    options = pickle.loads(base64.b64decode(text))
    assert isinstance(options, ReadingOptions)
    return options


def read(content: bytes, content_type: str, url: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """`read_document_of` between two processes: the fields of a reading, or why there is none."""
    try:
        reading = read_document_of(content, content_type, url, _options(options["options"]))
    except NotRdf as fault:
        return {"fault": "not_rdf", "reason": str(fault)}
    except Broken as fault:
        return {"fault": "broken", "reason": str(fault)}
    links = [[link.target, link.step, link.subject] for link in reading.links]
    return {
        "lines": reading.lines,
        "digest": reading.digest,
        "links": links,
        "media_type": reading.media_type,
        "tampered": reading.tampered,
        "statements": [*reading.statements],
    }


def options_text(options: ReadingOptions) -> dict[str, str]:
    """The options as `read` takes them."""
    return {"options": base64.b64encode(pickle.dumps(options)).decode()}


def read_document_of(
    content: bytes, content_type: str, iri: str, options: ReadingOptions
) -> Reading:
    """Read a document.

    Args:
        content: the decoded body.
        content_type: the header.
        iri: the document; relative IRIs are resolved against it.
        options: how it is read.

    Raises:
        NotRdf: its format is not read.
        Broken: it has an error.
    """
    media_type = media_type_of(content_type)
    triples: set[Triple] = set()
    hints: list[Triple] = []
    tampered = 0
    for part, syntax in _parts(content, media_type, iri, options.html):
        for triple in _labelled(_triples(part, syntax, iri, options), f"{options.name}/{iri}"):
            if triple[1] in options.hints:
                hints.append(triple)
            if triple[1] == DESCRIBED_BY:
                tampered += 1
            elif triple[1] not in options.ignore and _counts(triple, iri, options):
                triples.add(triple)
    in_order = sorted(triples)
    lines = "".join(f"{s} {p} {o} .\n" for s, p, o in in_order)
    digest = hashlib.sha256(lines.encode()).hexdigest()
    links = options.rules.links(in_order)
    stated = statements_of(hints, iri, options.hints)
    return Reading(lines, digest, links, media_type, tampered, stated)


def triples_of(lines: str) -> list[Triple]:
    """The triples of `Reading.lines`."""
    if not lines:
        return []
    content = Lines.of(lines.encode())
    terms = split_terms(content, np.arange(len(content)))
    columns = (terms.subject, terms.predicate, terms.object)
    return [*zip(*(column.to_pylist() for column in columns), strict=True)]


def _counts(triple: Triple, iri: str, options: ReadingOptions) -> bool:
    if not options.is_authoritative or triple[0].startswith("_:"):
        return True
    return place_of(triple[0][1:-1]) == iri


def _parts(content: bytes, media_type: str, iri: str, html: bool) -> Iterator[tuple[bytes, Format]]:
    """The parts of a document with their formats: one, or the JSON-LD in a page."""
    if media_type in _HTML and html:
        scripts = _Scripts()
        scripts.feed(content.decode("utf-8", errors="replace"))
        scripts.close()
        for script in scripts.json_ld:
            yield script.encode(), "json-ld"
        return
    syntax = format_of_type(media_type, urlsplit(iri).path)
    if syntax is None:
        raise NotRdf(f"{media_type or 'a document of no type'} is no RDF format that is read")
    yield content, syntax


def _triples(content: bytes, syntax: Format, iri: str, options: ReadingOptions) -> Iterator[Triple]:
    """The statements; those in named graphs, too: a document speaks in its own graph only."""
    limits = ParseLimits()
    try:
        for batch in read_document(content, syntax, iri, options.contexts, limits):
            if isinstance(batch, Dropped):  # a value that is no RDF
                continue
            lines = Lines.of(batch)
            terms = split_terms(lines, np.arange(len(lines)))
            columns = (terms.subject, terms.predicate, terms.object)
            yield from zip(*(column.to_pylist() for column in columns), strict=True)
    except (SyntaxError, ValueError, OSError) as error:
        raise Broken(str(error)[:500]) from None


def _labelled(triples: Iterable[Triple], scope: str) -> Iterator[Triple]:
    """The triples with labels of blank nodes that depend on the content alone."""
    with_blank = []
    for triple in triples:
        if triple[0].startswith("_:") or triple[2].startswith("_:"):
            with_blank.append(triple)
        else:
            yield triple
    labels = content_labels((("", *triple) for triple in with_blank), scope)
    for s, p, o in with_blank:
        yield labels.get(s, s), p, labels.get(o, o)


class _Scripts(HTMLParser):
    """The JSON-LD of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.json_ld: list[str] = []
        self._is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        media_type = (dict(attrs).get("type") or "").partition(";")[0].strip().lower()
        self._is_inside = tag == "script" and media_type == "application/ld+json"
        if self._is_inside:
            self.json_ld.append("")

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._is_inside = False

    def handle_data(self, data: str) -> None:
        if self._is_inside:
            self.json_ld[-1] += data
