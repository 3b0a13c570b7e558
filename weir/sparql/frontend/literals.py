"""The values of literal tokens: strings with their escapes, numbers, booleans.

https://www.w3.org/TR/sparql11-query/#grammarEscapes
"""

from __future__ import annotations

import re

from weir.rdf import terms
from weir.sparql.frontend.errors import QuerySyntaxError
from weir.sparql.frontend.lexer import Token

_XSD = "http://www.w3.org/2001/XMLSchema#"
_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.S)


def string(token: Token, file: str) -> str:
    """The characters of a `string` token, without quotes and escapes."""
    quotes = 3 if token.text[:3] in ('"""', "'''") else 1
    return unescape(token.text[quotes:-quotes], token, file)


def number(text: str) -> str:
    """The literal of a number in a query: its form decides between integer, decimal and double."""
    if "e" in text or "E" in text:
        return terms.literal(text, f"{_XSD}double")
    return terms.literal(text, f"{_XSD}decimal" if "." in text else f"{_XSD}integer")


def boolean(text: str) -> str:
    """The literal of the keyword `true` or `false`."""
    return terms.literal(text.lower(), f"{_XSD}boolean")


def unescape(text: str, token: Token, file: str) -> str:
    """`text`, a part of `token`, with its escapes replaced.

    Raises:
        QuerySyntaxError: an escape names a code point that is no character.
    """
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        if match[3] is not None:
            return _ESCAPES[match[3]]
        code = int(match[1] or match[2], 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise QuerySyntaxError(
                match[0], file, token.line, token.column, "not a Unicode character"
            )
        return chr(code)

    return _ESCAPED.sub(character, text)
