"""Text of a server inside our messages: short, on one line, without secrets."""

from __future__ import annotations

import base64
import binascii
import unicodedata
from collections.abc import Sequence

QUOTED_CHARACTERS = 500
"""The longest quotation."""
EXCERPT_BYTES = 8192
"""What is read of the body of an error, to quote from."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_HIDDEN = "[secret]"
_SHORTEST_PART = 4


def quote(text: str | bytes, secrets: Sequence[str] = ()) -> str:
    """At most 500 characters: secrets hidden, control and format characters escaped.

    An endpoint may repeat the request in its error, the authorization included. Hidden are the
    secrets themselves and, at the end of the text, what may be the beginning of one.
    """
    if isinstance(text, bytes):
        text = text[:EXCERPT_BYTES].decode(errors="replace")
    text = hide(text, secrets)
    for secret in secrets:
        for size in range(min(len(secret) - 1, len(text)), _SHORTEST_PART - 1, -1):
            if text.endswith(secret[:size]):
                text = text[:-size] + _HIDDEN
                break
    shown = "".join(_escaped(character) for character in text[: QUOTED_CHARACTERS + 1])
    if len(shown) <= QUOTED_CHARACTERS:
        return shown
    return shown[: QUOTED_CHARACTERS - 3] + "..."


def hide(text: str, secrets: Sequence[str]) -> str:
    """The text without the secrets."""
    for secret in secrets:
        text = text.replace(secret, _HIDDEN)
    return text


def parts_to_hide(authorization: str) -> tuple[str, ...]:
    """What must not be shown of an `Authorization` header, longest first.

    The header, what follows its scheme, and for Basic the pair and the password.
    """
    scheme, _, token = authorization.partition(" ")
    parts = {authorization, token.strip()}
    if scheme.lower() == "basic":
        try:
            pair = base64.b64decode(token, validate=True).decode(errors="replace")
        except binascii.Error:
            pair = ""
        parts |= {pair, pair.partition(":")[2]}
    return tuple(sorted((part for part in parts if part), key=len, reverse=True))


def _escaped(character: str) -> str:
    if unicodedata.category(character) in _UNSEEN:
        return character.encode("unicode_escape").decode()
    return character
