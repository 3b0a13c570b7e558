"""RDF terms as N-Triples text, with one spelling per term: that of pyoxigraph's `str(term)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from typing import Literal as Choice
from typing import assert_never, get_args

Position = Choice["graph", "subject", "predicate", "object"]
POSITIONS: tuple[Position, ...] = get_args(Position)

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
DIR_LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString"


@dataclass(frozen=True, slots=True)
class Iri:
    """An IRI, without brackets."""

    value: str


@dataclass(frozen=True, slots=True)
class Blank:
    """A blank node; its label without `_:`."""

    label: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal.

    Attributes:
        lexical: the lexical form.
        datatype: IRI without brackets, also for xsd:string and rdf:langString.
        language: in lower case; None without one.
    """

    lexical: str
    datatype: str
    language: str | None = None


Term = Iri | Blank | Literal


class TermError(ValueError):
    """Text that is not an RDF term in N-Triples form; the message says why."""


def iri(text: str) -> str:
    """`<text>`; the text must be a valid IRI."""
    return f"<{text}>"


def literal(lexical: str, datatype: str | None = None, language: str | None = None) -> str:
    """The N-Triples form of a literal, without xsd:string; `datatype` has no brackets."""
    if language is not None:
        return f'"{escape(lexical)}"@{language.lower()}'
    if datatype is None or datatype == XSD_STRING:
        return f'"{escape(lexical)}"'
    return f'"{escape(lexical)}"^^<{datatype}>'


def to_text(term: Term) -> str:
    """The N-Triples form of a term."""
    match term:
        case Iri(value):
            return f"<{value}>"
        case Blank(label):
            return f"_:{label}"
        case Literal(lexical, datatype, language):
            return literal(lexical, datatype, language)
        case _:
            assert_never(term)


def parse_term(text: str) -> Term:
    """The term of an N-Triples text, which may have escapes and upper-case language tags.

    https://www.w3.org/TR/n-triples/#n-triples-grammar

    Raises:
        TermError: the text is not exactly one term, or is a term of RDF 1.2.
    """
    if text.startswith("<<"):
        raise TermError("triple terms (RDF 1.2) are not supported")
    if text.startswith("<"):
        return Iri(_iri_inside(text))
    if text.startswith("_:"):
        if not _BLANK.fullmatch(text):
            raise TermError(f"not a blank node label: {_shown(text)}")
        return Blank(text[2:])
    if text.startswith('"'):
        return _parse_literal(text)
    raise TermError(f"a term starts with <, _: or a double quote: {_shown(text)}")


def canonical_term(text: str, position: Position) -> str:
    """The spelling of a term that tables have; '' is the default graph.

    Raises:
        TermError: the text is not a term, or not allowed in this position.
    """
    if position == "graph" and not text:
        return ""
    term = parse_term(text)
    if isinstance(term, Literal) and position != "object":
        raise TermError(f"a literal cannot be a {position}")
    if isinstance(term, Blank) and position == "predicate":
        raise TermError(f"a blank node cannot be a {position}")
    return to_text(term)


def iri_term(text: str) -> str:
    """The N-Triples form of an IRI, which may be written with or without brackets.

    Raises:
        TermError: it is not an absolute IRI.
    """
    term = text if text.startswith("<") else f"<{text}>"
    reason = check_term(term, "predicate")
    if reason is not None:
        raise TermError(f"not an IRI: {reason}")
    return term


def check_term(text: str, position: Position) -> str | None:
    """Why `text` cannot be the `position` of a quad; None if it can.

    Valid text may have another spelling than tables: store `canonical_term`.
    """
    try:
        canonical_term(text, position)
    except TermError as error:
        return str(error)
    return None


def escape(lexical: str) -> str:
    """A lexical form with control characters, quotes and backslashes escaped.

    https://www.w3.org/TR/rdf12-n-triples/#canonical-ntriples
    """
    return lexical.translate(_ESCAPES)


def unescape(text: str) -> str:
    """A text with N-Triples escapes replaced by their characters.

    Raises:
        TermError: an escape is not one of N-Triples, or not of a character.
    """
    return _ESCAPE.sub(_escaped_character, text) if "\\" in text else text


_ESCAPES = {
    **{code: f"\\u{code:04X}" for code in (*range(0x20), 0x7F, 0xFFFE, 0xFFFF)},
    **{ord(c): f"\\{e}" for c, e in zip('\b\t\n\f\r"\\', 'btnfr"\\', strict=True)},
}
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.?))", re.DOTALL)
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


def _escaped_character(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    if digits:
        code = int(digits, 16)
        if code > 0x10FFFF or 0xD800 <= code < 0xE000:
            raise TermError(f"not a character: {match[0]}")
        return chr(code)
    character = _ESCAPED.get(match[3])
    if character is None:
        raise TermError(f"not an escape of N-Triples: {match[0]}")
    return character


# https://www.w3.org/TR/n-triples/#grammar-production-BLANK_NODE_LABEL
_LABEL_START = (
    "0-9A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_LABEL = _LABEL_START + "\u00b7\u0300-\u036f\u203f-\u2040-"
_BLANK = re.compile(f"_:[{_LABEL_START}](?:[{_LABEL}.]*[{_LABEL}])?")

# https://www.rfc-editor.org/rfc/rfc3987#section-2.2
_UCSCHAR = "\u00a0-\ud7ff\uf900-\ufdcf\ufdf0-\uffef" + "".join(
    f"{chr(plane << 16 | (0x1000 if plane == 14 else 0))}-{chr(plane << 16 | 0xFFFD)}"
    for plane in range(1, 15)
)
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_PLAIN = rf"A-Za-z0-9._~!$&'()*+,;=\-{_UCSCHAR}"
_HEX = "%[0-9A-Fa-f]{2}"
_IRI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.-]*:"
    rf"(?://(?:(?:[{_PLAIN}:]|{_HEX})*@)?"
    rf"(?:\[(?P<address>[^\]]*)\]|(?:[{_PLAIN}]|{_HEX})*)(?::[0-9]*)?(?=[/?#]|\Z)|(?!//))"
    rf"(?:[{_PLAIN}:@/]|{_HEX})*"
    rf"(?:\?(?:[{_PLAIN}:@/?{_PRIVATE}]|{_HEX})*)?"
    rf"(?:#(?:[{_PLAIN}:@/?]|{_HEX})*)?"
)
_FUTURE_ADDRESS = re.compile(r"[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+")


def _iri_inside(text: str) -> str:
    if not text.endswith(">"):
        raise TermError(f"an IRI ends with >: {_shown(text)}")
    inside = text[1:-1]
    if "\\" in inside:
        if re.search(r"\\[^uU]", inside):
            raise TermError(f"an IRI has no escapes but \\u and \\U: {_shown(text)}")
        inside = unescape(inside)
    match = _IRI.fullmatch(inside)
    if match is None:
        raise TermError(f"not an absolute IRI: {_shown(text)}")
    address = match["address"]
    if address is not None and not _is_address(address):
        raise TermError(f"not an IP address: [{address}]")
    return inside


def _is_address(text: str) -> bool:
    if _FUTURE_ADDRESS.fullmatch(text):
        return True
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return "%" not in text


_LITERAL = re.compile(r'"((?:[^"\\\n\r]|\\.)*+)"(?:@([^"]*)|\^\^(<[^"]*>))?')
# https://www.rfc-editor.org/rfc/rfc5646#section-2.1
_LANGUAGE = re.compile(
    r"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?"
    r"(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*"
    r"(?:-x(?:-[a-z0-9]{1,8})+)?|x(?:-[a-z0-9]{1,8})+|"
    r"en-gb-oed|i-(?:ami|bnn|default|enochian|hak|klingon|lux|mingo|navajo|pwn|tao|tay|tsu)|"
    r"sgn-be-(?:fr|nl)|sgn-ch-de|art-lojban|cel-gaulish|no-bok|no-nyn|zh-(?:guoyu|hakka|min|"
    r"min-nan|xiang)"
)
_DIRECTION = re.compile(r"--[a-z]+$")


def _parse_literal(text: str) -> Literal:
    match = _LITERAL.fullmatch(text)
    if match is None:
        raise TermError(f"not a literal: {_shown(text)}")
    try:
        match[1].encode()
    except UnicodeEncodeError:
        raise TermError(f"half of a surrogate pair: {_shown(text)}") from None
    lexical = unescape(match[1])
    if match[2] is not None:
        language = match[2].lower()
        if _DIRECTION.search(language):
            raise TermError("literals with a base direction (RDF 1.2) are not supported")
        if not match[2].isascii() or not _LANGUAGE.fullmatch(language):
            raise TermError(f"not a language tag: {_shown(match[2])}")
        return Literal(lexical, LANG_STRING, language)
    if match[3] is None:
        return Literal(lexical, XSD_STRING)
    datatype = _iri_inside(match[3])
    if datatype in (LANG_STRING, DIR_LANG_STRING):
        raise TermError(f"a literal of <{datatype}> needs a language tag")
    return Literal(lexical, datatype)


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 80 else text[:80] + "...")
