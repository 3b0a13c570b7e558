"""A request of the user to end this process, which every checkpoint of a commit heeds.

Python raises KeyboardInterrupt once, wherever the main thread is. Within DuckDB, Arrow or delta-rs
it becomes an error of theirs, which a stage takes for that of one query; other threads never see
it. So it is also noted here, and nothing is committed after it.
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


def withdraw() -> None:
    """Let work go on; for tests."""
    _requested.clear()


def is_requested() -> bool:
    """Whether the process is to end."""
    return _requested.is_set()


def heed() -> None:
    """End here if it was asked for.

    Raises:
        KeyboardInterrupt: it was.
    """
    if _requested.is_set() and not getattr(_finishing, "is_so", False):
        raise KeyboardInterrupt


@contextmanager
def finishing() -> Iterator[None]:
    """Within the block this thread commits what has to be said at the end."""
    _finishing.is_so = True
    try:
        yield
    finally:
        _finishing.is_so = False
