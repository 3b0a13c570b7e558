"""The prologue of a query, BASE and PREFIX, and the IRIs of its tokens.

https://www.w3.org/TR/sparql11-query/#iris
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from weir.sparql.frontend.errors import QuerySyntaxError, UnsupportedQuery
from weir.sparql.frontend.lexer import Token
from weir.sparql.frontend.literals import unescape
from weir.sparql.iris import is_absolute, resolve

_NOT_IN_IRI = re.compile(r'[<>"{}|^`\\\x00-\x20]')


@dataclass(frozen=True, slots=True)
class Prologue:
    """The declarations at the head of a query.

    `prefixes` maps a prefix with its colon to an absolute IRI; `length` counts the tokens read.
    """

    file: str
    base: str | None
    prefixes: dict[str, str]
    length: int

    def iri(self, token: Token) -> str:
        """The absolute IRI that an `iri` or `name` token stands for, without brackets."""
        if token.kind == "iri":
            return _absolute(token, self.base, self.file)
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


def read_prologue(tokens: Sequence[Token], file: str) -> Prologue:
    """The BASE and PREFIX declarations that `tokens` begin with."""
    base: str | None = None
    prefixes: dict[str, str] = {}
    position = 0
    while position < len(tokens) and tokens[position].is_word("BASE", "PREFIX"):
        keyword = tokens[position]
        expected = ("iri",) if keyword.is_word("BASE") else ("name", "iri")
        operands = tokens[position + 1 : position + 1 + len(expected)]
        if tuple(token.kind for token in operands) != expected:
            _malformed(keyword, file)
        iri = _absolute(operands[-1], base, file)
        if keyword.is_word("BASE"):
            base = iri
        elif operands[0].text.endswith(":") and operands[0].text.count(":") == 1:
            prefixes[operands[0].text] = iri
        else:
            _malformed(keyword, file)
        position += 1 + len(expected)
    return Prologue(file, base, prefixes, position)


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


def _absolute(token: Token, base: str | None, file: str) -> str:
    """The absolute IRI of an `iri` token."""
    reference = unescape(token.text[1:-1], token, file)
    if _NOT_IN_IRI.search(reference):
        raise QuerySyntaxError(
            token.text,
            file,
            token.line,
            token.column,
            "an escape stands for a character that an IRI cannot contain",
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
