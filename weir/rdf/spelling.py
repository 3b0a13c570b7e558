"""Checked terms in canonical N-Triples form, for readers of documents."""

from __future__ import annotations

import re
from functools import lru_cache

import pyoxigraph
from pyoxigraph import RdfFormat

from weir.rdf.statements import fault_of
from weir.rdf.terms import escape

_SPECIAL = re.compile('[\x00-\x1f"\\\\\x7f\ufffe\uffff]')
# IRIs that are certainly valid and absolute; others are checked by pyoxigraph, which is slower.
_LETTERS = r"[A-Za-z0-9_~!$&'()*+,;=:@\-]"
_ABSOLUTE = re.compile(
    rf"https?://[A-Za-z0-9.\-]+(?:/(?:{_LETTERS}(?:{_LETTERS}|\.)*+)?)*+"
    rf"(?:\?(?:{_LETTERS}|[./?])*+)?(?:\#(?:{_LETTERS}|[./?])*+)?"
)
_INVALID = re.compile(r'[\x00-\x20<>"{}|^`\\\ud800-\udfff]')


def as_literal(text: str, suffix: str) -> str:
    """A literal; `suffix` is `@` and a language, `^^` and a datatype, or empty."""
    if _SPECIAL.search(text):
        text = escape(text)
    return f'"{text}"{suffix}'


def as_iri(value: str, base: str | None) -> str:
    """An IRI, resolved against a base (RFC 3986); without a base it must be absolute.

    Raises:
        SyntaxError: the text is not an IRI.
    """
    return f"<{value}>" if _ABSOLUTE.fullmatch(value) else _resolved(value, base)


@lru_cache(maxsize=1 << 14)
def _resolved(value: str, base: str | None) -> str:
    if _INVALID.search(value):
        raise SyntaxError(f"a character that no IRI has: {value[:200]!r}", (None, 0, 0, None))
    text = f"<{value}> <urn:p> <urn:o> ."
    try:
        [quad] = pyoxigraph.parse(text, RdfFormat.TURTLE, base_iri=base)
    except SyntaxError as error:
        reason = f"{fault_of(error, 0).reason}: {value[:200]!r}"
        raise SyntaxError(reason, (None, 0, 0, None)) from None
    return str(quad.subject)


@lru_cache(maxsize=1 << 10)
def as_language(tag: str) -> str:
    """A language tag in lower case.

    Raises:
        ValueError: the text is not a language tag.
    """
    if not tag:
        raise ValueError("an empty language tag")
    try:
        return (pyoxigraph.Literal("", language=tag).language or "").lower()
    except ValueError as error:
        raise ValueError(f"{error}: {tag[:200]!r}") from None
