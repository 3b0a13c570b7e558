"""Room for recursion over a query, whose depth `translate` bounds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# pyparsing takes about 50 frames for one pair of parentheses, of which a query has up to 128.
_FRAMES = 30_000
_lock = threading.Lock()
_inside: list[int] = []
"""One entry for each that is inside: the limit that held before the first."""


@contextmanager
def deep_recursion() -> Iterator[None]:
    """More frames than Python's default; the limit is the interpreter's, so threads share it."""
    with _lock:
        _inside.append(_inside[0] if _inside else sys.getrecursionlimit())
        sys.setrecursionlimit(max(_inside[0], _FRAMES))
    try:
        yield
    finally:
        with _lock:
            before = _inside.pop()
            if not _inside:
                sys.setrecursionlimit(before)
