"""The prologue of a query, and the RDF terms that its tokens stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from jobs.rdf import terms
from jobs.sparql.frontend.errors import QuerySyntaxError, UnsupportedQuery
from jobs.sparql.frontend.iris import is_absolute, resolve
from jobs.sparql.frontend.lexer import Token

XSD = "http://www.w3.org/2001/XMLSchema#"

_ESCAPES = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPED = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.S)
_NOT_IN_IRI = re.compile(r'[<>"{}|^`\\\x00-\x20]')


@dataclass(frozen=True, slots=True)
class Prologue:
    """The declarations at the head of a query (https://www.w3.org/TR/sparql11-query/#iris).

    `prefixes` maps a prefix with its colon to an absolute IRI; `length` counts the tokens read.
    """

    file: str
    base: str | None
    prefixes: dict[str, str]
    length: int

    def iri(self, token: Token) -> str:
        """The absolute IRI that an `iri` or `name` token stands for, without brackets."""
        if token.kind == "iri":
            return _absolute(
                _unescape(token.text[1:-1], token, self.file), self.base, token, self.file
            )
        prefix, colon, local = token.text.partition(":")
        if prefix + colon not in self.prefixes:
            raise QuerySyntaxError(
                token.text,
                self.file,
                token.line,
                token.column,
                f"the prefix {prefix}: is not declared",
                f"Write PREFIX {prefix}: <...> at the head of the query.",
            )
        # Percent escapes stay: they are characters of the IRI.
        return self.prefixes[prefix + colon] + re.sub(r"\\(.)", r"\1", local)

    def string(self, token: Token) -> str:
        """The characters that a `string` token stands for."""
        quotes = 3 if token.text[:3] in ('"""', "'''") else 1
        return _unescape(token.text[quotes:-quotes], token, self.file)


def read_prologue(tokens: Sequence[Token], file: str) -> Prologue:
    """The BASE and PREFIX declarations that `tokens` begin with."""
    base: str | None = None
    prefixes: dict[str, str] = {}
    position = 0
    while position < len(tokens) and tokens[position].is_word("BASE", "PREFIX"):
        keyword = tokens[position]
        expected = ("iri",) if keyword.is_word("BASE") else ("name", "iri")
        found = tokens[position + 1 : position + 1 + len(expected)]
        if tuple(token.kind for token in found) != expected:
            _malformed(keyword, file)
        iri = _absolute(_unescape(found[-1].text[1:-1], found[-1], file), base, found[-1], file)
        if keyword.is_word("BASE"):
            base = iri
        elif found[0].text.endswith(":") and found[0].text.count(":") == 1:
            prefixes[found[0].text] = iri
        else:
            _malformed(keyword, file)
        position += 1 + len(expected)
    return Prologue(file, base, prefixes, position)


def number(text: str) -> str:
    """The literal that a number of a query is: integer, decimal or double by how it is written."""
    if "e" in text or "E" in text:
        return terms.literal(text, f"{XSD}double")
    return terms.literal(text, f"{XSD}decimal" if "." in text else f"{XSD}integer")


def boolean(text: str) -> str:
    """The literal of the keyword `true` or `false`."""
    return terms.literal(text.lower(), f"{XSD}boolean")


def _malformed(keyword: Token, file: str) -> NoReturn:
    wanted = "BASE <iri>" if keyword.is_word("BASE") else "PREFIX name: <iri>"
    raise QuerySyntaxError(
        keyword.text,
        file,
        keyword.line,
        keyword.column,
        "malformed declaration",
        f"Write {wanted}.",
    )


def _absolute(reference: str, base: str | None, token: Token, file: str) -> str:
    if _NOT_IN_IRI.search(reference):
        raise QuerySyntaxError(
            token.text, file, token.line, token.column, "an escape in this IRI is no IRI character"
        )
    if base is not None:
        return resolve(reference, base)
    if is_absolute(reference):
        return reference
    raise UnsupportedQuery(
        token.text,
        file,
        token.line,
        token.column,
        "a relative IRI without BASE names nothing",
        "Write the whole IRI, BASE <...> at the head, or a space after a less-than sign.",
    )


def _unescape(text: str, token: Token, file: str) -> str:
    if "\\" not in text:
        return text

    def character(match: re.Match[str]) -> str:
        if match[3] is not None:
            return _ESCAPES[match[3]]
        code = int(match[1] or match[2], 16)
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise QuerySyntaxError(
                match[0], file, token.line, token.column, "this is no Unicode character"
            )
        return chr(code)

    return _ESCAPED.sub(character, text)
