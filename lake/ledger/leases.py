"""Leases: how another machine knows that the run that holds a claim is alive.

A claim is active for `limits.lease_seconds`. Its process renews it several times in that time, by
writing a small file below the folder of the lake; the file's time is that of the renewal, by the
clock of the place where the lake is. A run that ends before its first renewal writes nothing.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import PurePosixPath
from urllib.parse import quote

from weir.lake.damage.storage_errors import StorageError
from weir.lake.lake import Lake

FOLDER = "_claims"
"""The folder of renewals, below that of the lake."""
_RENEWALS = 6
"""Renewals during one lease; all but one may fail."""
_ERRORS = (OSError, StorageError)
"""The errors of a storage that does not answer: the next renewal may succeed."""


def renewed_at(lake: Lake, job: str, number: int) -> datetime | None:
    """When a claim was renewed last; None if it never was."""
    return lake.storage.touched_at(_file(job, number))


def clock(lake: Lake) -> datetime:
    """The time by the clock of renewals, from which that of this machine may differ.

    Raises:
        OSError, StorageError: the storage cannot be written.
    """
    path = str(PurePosixPath(FOLDER, "clock", uuid.uuid4().hex))
    lake.storage.touch(path)
    try:
        return lake.storage.touched_at(path) or datetime.now(UTC)
    finally:
        lake.storage.delete(path)


def renew(lake: Lake, job: str, number: int) -> None:
    """Renew a claim of this process for the time of a lease.

    Raises:
        OSError, StorageError: the storage cannot be written.
    """
    lake.storage.touch(_file(job, number))


def forget(lake: Lake, job: str, number: int) -> None:
    """Remove the renewal of a claim that has ended."""
    with suppress(*_ERRORS):
        lake.storage.delete(_file(job, number))


@contextmanager
def renewing(lake: Lake, job: str, number: int, lease_seconds: float) -> Iterator[None]:
    """Renew a claim, by another thread, until the end of the block or of the process."""
    ended, is_renewed = threading.Event(), threading.Event()

    def go_on() -> None:
        while not ended.wait(lease_seconds / _RENEWALS):
            is_renewed.set()
            with suppress(*_ERRORS):
                renew(lake, job, number)

    thread = threading.Thread(target=go_on, name=f"lease of {job}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if is_renewed.is_set():
            forget(lake, job, number)


def _file(job: str, number: int) -> str:
    return str(PurePosixPath(FOLDER, quote(job, safe=""), str(number)))
