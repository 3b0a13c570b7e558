"""Text that is safe to print: no character controls the terminal or reorders the line.

A term of a graph, a file name or a message may have any Unicode character: an escape sequence would
move the cursor or set the title, and a bidirectional control would show the text in another order
(https://www.unicode.org/reports/tr9/, https://trojansource.codes).
"""

from __future__ import annotations

import json
import re

from weir.text.secret_values import without_secrets

_ACTING = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
"""Control characters (C0, DEL, C1), bidirectional controls, line separators, lone surrogates."""
_IN_LINE = re.compile(f"[{_ACTING}]")
_IN_TEXT = re.compile(rf"(?!\n)[{_ACTING}]")


def printable(text: str) -> str:
    """`text` on one line without secrets, such characters as `\\x1b`, `\\u202e`, `\\n`."""
    return escaped(without_secrets(text))


def escaped(text: str) -> str:
    """`printable` for a part of a text whose secrets are removed elsewhere."""
    return _IN_LINE.sub(_escape, text)


def printable_lines(text: str) -> str:
    """`printable`, but line feeds stay."""
    return _IN_TEXT.sub(_escape, without_secrets(text))


def printable_json(text: str) -> str:
    """A JSON document with the same value, without secrets, such characters as JSON escapes."""
    return _IN_TEXT.sub(lambda match: json.dumps(match[0])[1:-1], without_secrets(text))


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode()
