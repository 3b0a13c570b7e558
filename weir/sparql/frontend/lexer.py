"""The lexer: the tokens of a query text, each with its line and column.

The terminals are those of https://www.w3.org/TR/sparql11-query/#sparqlGrammar. White space and
comments are skipped.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from weir.sparql.frontend.errors import QuerySyntaxError, UnsupportedQuery

Kind = Literal[
    "iri", "name", "blank", "variable", "string", "language", "number", "word", "punctuation"
]


@dataclass(frozen=True, slots=True)
class Token:
    """One terminal as it is written; `line` and `column` start at 1 and count characters."""

    kind: Kind
    text: str
    offset: int
    line: int
    column: int

    @property
    def end(self) -> int:
        """The offset after the last character."""
        return self.offset + len(self.text)

    def is_word(self, *words: str) -> bool:
        """Whether the token is one of the keywords `words` (upper case); case does not matter."""
        return self.kind == "word" and self.text.upper() in words


_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME_START = f"_{_BASE}"
_NAME = f"{_NAME_START}0-9\u00b7\u0300-\u036f\u203f-\u2040"
_CODE_POINT = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_ESCAPE = rf"\\[tbnrf\\\"']|{_CODE_POINT}"
_IN_LOCAL_NAME = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_EXPONENT = "[eE][+-]?[0-9]+"

_TERMINALS: tuple[tuple[str, str], ...] = (
    ("space", r"[ \t\r\n]+|\#[^\r\n]*"),
    ("iri", rf'<(?:[^<>"{{}}|^`\\\x00-\x20]|{_CODE_POINT})*>'),
    ("variable", rf"[?$][{_NAME_START}0-9][{_NAME}]*"),
    ("blank", rf"_:[{_NAME_START}0-9](?:[{_NAME}.\-]*[{_NAME}\-])?"),
    (
        "name",
        rf"(?:[{_BASE}](?:[{_NAME}.\-]*[{_NAME}\-])?)?:"
        rf"(?:(?:[{_NAME_START}:0-9]|{_IN_LOCAL_NAME})"
        rf"(?:(?:[{_NAME}.:\-]|{_IN_LOCAL_NAME})*(?:[{_NAME}:\-]|{_IN_LOCAL_NAME}))?)?",
    ),
    ("word", "[A-Za-z_][A-Za-z0-9_]*"),
    (
        "number",
        rf"[0-9]+\.[0-9]*{_EXPONENT}|\.[0-9]+{_EXPONENT}|[0-9]+{_EXPONENT}|[0-9]*\.[0-9]+|[0-9]+",
    ),
    (
        "string",
        rf'"""(?:(?:"|"")?(?:[^"\\]|{_ESCAPE}))*"""'
        rf"|'''(?:(?:'|'')?(?:[^'\\]|{_ESCAPE}))*'''"
        rf'|"(?:[^"\\\r\n]|{_ESCAPE})*"(?!")'
        rf"|'(?:[^'\\\r\n]|{_ESCAPE})*'(?!')",
    ),
    ("language", "@[a-zA-Z]+(?:-[a-zA-Z0-9]+)*"),
    ("punctuation", r"\^\^|&&|\|\||!=|<=|>=|[{}()\[\].,;=<>+\-*/!|^?]"),
)
_TOKEN = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _TERMINALS))
_LINE_END = re.compile(r"\r\n|\r|\n")


def tokenize(text: str, file: str = "<query>") -> tuple[Token, ...]:
    """The tokens of `text` in order.

    Raises:
        QuerySyntaxError: the text at some place begins no token.
        UnsupportedQuery: a `\\u` escape outside strings and IRIs.
    """
    return tuple(_tokens(text, file))


def _tokens(text: str, file: str) -> Iterator[Token]:
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    position = 0
    while position < len(text):
        line = bisect_right(starts, position)
        column = position - starts[line - 1] + 1
        match = _TOKEN.match(text, position)
        if match is None:
            raise _no_token(text, position, file, line, column)
        if match.lastgroup != "space":
            kind: Kind = match.lastgroup  # type: ignore[assignment]  # a name of _TERMINALS
            yield Token(kind, match.group(), position, line, column)
        position = match.end()


def _no_token(
    text: str, position: int, file: str, line: int, column: int
) -> QuerySyntaxError | UnsupportedQuery:
    character = text[position]
    if re.match(_CODE_POINT, text[position:]):
        return UnsupportedQuery(
            text[position : position + 6],
            file,
            line,
            column,
            "an escape outside strings and IRIs is not supported",
            "Write the character itself.",
        )
    if character in "\"'":
        return QuerySyntaxError(
            character,
            file,
            line,
            column,
            "an unterminated string, or an escape that SPARQL does not have",
            "Use three quotes for a string of several lines, two backslashes for one.",
        )
    return QuerySyntaxError(character, file, line, column, "unexpected character")
