"""The secrets that this process knows, and texts without them.

A store may repeat the request in its error, credentials included; libraries quote that error. What
is printed or recorded goes through `without_secrets`.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Iterable
from types import TracebackType
from urllib.parse import quote, unquote

_HIDDEN = "[secret]"
_SHORTEST = 4
"""What is shorter would be found by chance in any text."""
_SIGNATURE = re.compile(r"(?:^|[?&])sig=([^&\s]+)")
"""The secret part of a shared access signature of Azure."""

_known: set[str] = set()


def hide(values: Iterable[str]) -> None:
    """Hide these from now on, in the traceback of an error that nobody catches, too."""
    for value in values:
        signed = _SIGNATURE.search(value)
        for part in (value, *([signed[1]] if signed else [])):
            _known.update(
                each
                for each in (part, quote(part), quote(part, safe=""), unquote(part))
                if len(each) >= _SHORTEST
            )
    if _known:
        sys.excepthook = _report


def without_secrets(text: str) -> str:
    """`text` with `[secret]` in the place of each."""
    for value in sorted(_known, key=len, reverse=True):
        text = text.replace(value, _HIDDEN)
    return text


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    lines = traceback.format_exception(kind, error, trace)
    print(without_secrets("".join(lines)), file=sys.stderr, end="")
