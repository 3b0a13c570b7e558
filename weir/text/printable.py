"""Text as a terminal may show it: no character of it acts on the terminal or reorders the line.

A term of a graph, a file name or a message may have any character of Unicode: an escape sequence
would move the cursor or set the title, and a bidirectional control would show other text than is
there (https://www.unicode.org/reports/tr9/, https://trojansource.codes).
"""

from __future__ import annotations

import json
import re

from weir.text.secret_values import without_secrets

_ACTING = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
"""Controls (C0, DEL, C1), bidirectional controls, separators of lines, lone surrogates."""
_IN_LINE = re.compile(f"[{_ACTING}]")
_IN_TEXT = re.compile(rf"(?!\n)[{_ACTING}]")


def printable(text: str) -> str:
    """`text` on one line, with such characters as escapes of Python: `\\x1b`, `\\u202e`, `\\n`."""
    return escaped(without_secrets(text))


def escaped(text: str) -> str:
    """The same of a text without secrets, for what is put together with others to be printed."""
    return _IN_LINE.sub(_escape, text)


def printable_lines(text: str) -> str:
    """The same, but line feeds stay."""
    return _IN_TEXT.sub(_escape, without_secrets(text))


def printable_json(text: str) -> str:
    """A JSON document, which has the same value, with such characters as escapes of JSON."""
    return _IN_TEXT.sub(lambda found: json.dumps(found[0])[1:-1], without_secrets(text))


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode()
