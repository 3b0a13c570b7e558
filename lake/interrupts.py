"""The user's request to end this process, which is checked before and after every commit.

Python raises KeyboardInterrupt once, in the main thread only. Raised within DuckDB, Arrow or
delta-rs it becomes an error of theirs, which a stage takes for the failure of one query. So the
request is also noted here, and nothing is committed after it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_requested = threading.Event()
_finishing = threading.local()


def request() -> None:
    """Ask all threads to end at their next checkpoint."""
    _requested.set()


def is_requested() -> bool:
    """Whether the process is to end."""
    return _requested.is_set()


def heed() -> None:
    """Raise an error if the process is to end.

    Raises:
        KeyboardInterrupt: it is to end.
    """
    if _requested.is_set() and not getattr(_finishing, "is_so", False):
        raise KeyboardInterrupt


@contextmanager
def finishing() -> Iterator[None]:
    """In this block, `heed` lets this thread commit its last records."""
    _finishing.is_so = True
    try:
        yield
    finally:
        _finishing.is_so = False
