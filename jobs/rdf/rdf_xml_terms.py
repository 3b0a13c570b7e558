"""The terms of RDF/XML: what its attributes, its names and its text become, in N-Triples form."""

from __future__ import annotations

import re
from functools import lru_cache

import pyoxigraph
from pyoxigraph import RdfFormat

from jobs.rdf.statements import fault_of

_SPECIAL = re.compile('["\\\\\t\n\r\x7f]')
_ESCAPES = str.maketrans(
    {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\x7f": "\\u007F"}
)
_NAME_START = (
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = re.compile(rf"[{_NAME_START}][-.0-9\xb7\u0300-\u036f\u203f\u2040{_NAME_START}]*+")
# IRIs that are valid and absolute for certain; the others take a slower way.
_LETTERS = r"[A-Za-z0-9_~!$&'()*+,;=:@\-]"
_ABSOLUTE = re.compile(
    rf"https?://[A-Za-z0-9.\-]+(?:/(?:{_LETTERS}(?:{_LETTERS}|\.)*+)?)*+"
    rf"(?:\?(?:{_LETTERS}|[./?])*+)?(?:\#(?:{_LETTERS}|[./?])*+)?"
)
_INVALID = re.compile(r'[\x00-\x20<>"{}|^`\\]')


def is_name(text: str) -> bool:
    """Whether it is a name without a colon (NCName of XML namespaces)."""
    return _NAME.fullmatch(text) is not None


def as_literal(text: str, suffix: str) -> str:
    """A literal; `suffix` is its language after `@`, its datatype after `^^`, or nothing."""
    if _SPECIAL.search(text):
        text = text.translate(_ESCAPES)
    return f'"{text}"{suffix}'


def as_iri(value: str, base: str | None) -> str:
    """An IRI, resolved against a base (RFC 3986); None = it must be absolute.

    Raises:
        SyntaxError: it is none.
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
    """A language tag in lower case; '' stays '', which is no language.

    Raises:
        ValueError: it is none.
    """
    return tag and (pyoxigraph.Literal("", language=tag).language or "").lower()
