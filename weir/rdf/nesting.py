"""Checks the nesting depth of a document before it is parsed: deep nesting crashes parsers.

Of each syntax, the scan knows only what may have brackets in it: strings, comments, IRIs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import assert_never

from weir.rdf.records import Format

# An unclosed string matches up to the end of the text, so that any input takes one pass.
_JSON = re.compile(
    rb'"[^"\\]*+(?:\\(?:.|\Z)[^"\\]*+)*+(?:"|\Z)|(?P<open>[\[{])|(?P<close>[\]}])', re.DOTALL
)
_TURTLE = re.compile(
    rb"#[^\n]*+"
    rb'|"""(?:[^"\\]++|\\(?:.|\Z)|"(?!""))*+(?:"""|\Z)'
    rb"|'''(?:[^'\\]++|\\(?:.|\Z)|'(?!''))*+(?:'''|\Z)"
    rb'|"(?:[^"\\\n]++|\\(?:.|\Z))*+'
    rb'"?'
    rb"|'(?:[^'\\\n]++|\\(?:.|\Z))*+'?"
    rb'|<[^<>"{}|^`\\\s]*+>'
    rb"|\\(?:.|\Z)"
    rb"|(?P<open>[\[({]|<<)|(?P<close>[\])}]|>>)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class NestingFault:
    """Why a document is not parsed, and the offset of the first byte that is too deep."""

    offset: int
    reason: str


def nesting_fault(text: bytes, syntax: Format, limit: int) -> NestingFault | None:
    """The first place where a document nests more than `limit` deep; None if it does not."""
    depth = 0
    for token in _tokens(syntax).finditer(text):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
            if depth > limit:
                return NestingFault(token.start(), f"nested more than {limit} deep")
        elif kind == "close":
            depth = max(depth - 1, 0)
    return None


def _tokens(syntax: Format) -> re.Pattern[bytes]:
    match syntax:
        case "turtle" | "trig":
            return _TURTLE
        case "json-ld":
            return _JSON
        case "rdf-xml":
            raise ValueError(f"the reader of {syntax} counts its elements itself")
        case "n-triples" | "n-quads" | "rdf-patch":
            raise ValueError(f"{syntax} is no document")
        case _:
            assert_never(syntax)
