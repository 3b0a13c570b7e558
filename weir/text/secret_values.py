"""The secrets of this process, and their removal from texts.

A store may repeat a request with its credentials in an error, which libraries quote. So all that is
printed or recorded passes `without_secrets`.
"""

from __future__ import annotations

import re
import sys
import threading
import traceback
from collections.abc import Iterable
from types import TracebackType
from typing import Any
from urllib.parse import quote, unquote

_HIDDEN = "[secret]"
_LONG = 12
"""A secret of so many characters is no word of another text."""
_VALUE = r"(?:(?<=[=:'\"@])|(?<=[=:] )){}(?![\w-])"
"""Where a value stands: behind a sign of assignment or a quote."""
_SHORTEST = 4
"""A shorter secret is not removed: it would occur by chance in any text."""
_SIGNATURE = re.compile(r"(?:^|[?&])sig=([^&\s]+)")
"""The secret part of a shared access signature (Azure)."""

_known: set[str] = set()


def hide(values: Iterable[str]) -> None:
    """Hide these values from now on, also in the traceback of an uncaught error."""
    for value in values:
        signed = _SIGNATURE.search(value)
        for part in (value, *([signed[1]] if signed else [])):
            _known.update(
                spelling
                for spelling in (part, quote(part), quote(part, safe=""), unquote(part))
                if len(spelling) >= _SHORTEST
            )
    if _known:
        sys.excepthook = _report
        threading.excepthook = _report_of_thread


def without_secrets(text: str) -> str:
    """`text` with `[secret]` in place of each secret.

    A short one may be an ordinary word: it is hidden only where a value stands.
    """
    for value in sorted(_known, key=len, reverse=True):
        if len(value) >= _LONG:
            text = text.replace(value, _HIDDEN)
        else:
            text = re.sub(_VALUE.format(re.escape(value)), _HIDDEN, text)
    return text


def public(value: Any) -> Any:
    """A value of JSON without secrets, which a text in it may quote."""
    match value:
        case str():
            return without_secrets(value)
        case dict():
            return {key: public(item) for key, item in value.items()}
        case list() | tuple():
            return [public(item) for item in value]
        case _:
            return value


def _report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    lines = traceback.format_exception(kind, error, trace)
    print(without_secrets("".join(lines)), file=sys.stderr, end="")


def _report_of_thread(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None:
        _report(ended.exc_type, ended.exc_value, ended.exc_traceback)
