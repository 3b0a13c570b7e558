"""A higher recursion limit for traversing a query or a plan, whose depth `translate` bounds."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# pyparsing takes about 50 frames for one pair of parentheses, of which a query has up to 128.
_FRAMES = 30_000
_lock = threading.Lock()
_inside: list[int] = []
"""An entry per active `deep_recursion`: the limit that held before the first."""


@contextmanager
def deep_recursion() -> Iterator[None]:
    """In this block the recursion limit is higher than Python's default, for all threads."""
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
