"""Leases: how another machine knows that the run that holds a claim is alive.

A claim is active for `limits.lease_seconds`. Its process renews it several times in that time, by
writing a small file below the folder of the lake; the file's time is that of the renewal. A run
that ends before its first renewal writes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import PurePosixPath
from urllib.parse import quote

import pyarrow as pa
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs

from weir.lake.lake import Lake, local_folder

FOLDER = "_claims"
"""The folder of renewals, below that of the lake."""
_RENEWALS = 6
"""Renewals during one lease; all but one may fail."""
_ERRORS = (OSError, pa.ArrowException)
"""The errors of a storage that does not answer: the next renewal may succeed."""


def renewed_at(lake: Lake, job: str, number: int) -> datetime | None:
    """When a claim was renewed last; None if it never was."""
    mtime = lake.files(FOLDER).get_file_info(_file(job, number)).mtime
    return mtime if isinstance(mtime, datetime) else None


def renew(lake: Lake, job: str, number: int) -> None:
    """Renew a claim of this process for the time of a lease.

    Raises:
        OSError: the storage cannot be written.
    """
    folder, file = local_folder(lake.location(FOLDER)), _file(job, number)
    if folder is not None:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).touch()
        return
    # pyarrow hands a buffer to a stream of delta-rs, which takes bytes only.
    store = DeltaStorageHandler(lake.location(FOLDER), lake.storage_options)
    stream = store._handler.open_output_stream(file, None)
    stream.write(b"renewed")
    # An object store keeps only what is closed.
    stream.close()  # type: ignore[attr-defined]


def forget(lake: Lake, job: str, number: int) -> None:
    """Remove the renewal of a claim that has ended."""
    files, file = lake.files(FOLDER), _file(job, number)
    with suppress(*_ERRORS):
        if files.get_file_info(file).type is fs.FileType.File:
            files.delete_file(file)


@contextmanager
def renewing(lake: Lake, job: str, number: int, lease_seconds: float) -> Iterator[None]:
    """Renew a claim, by another thread, until the end of the block or of the process."""
    ended = threading.Event()

    def go_on() -> None:
        while not ended.wait(lease_seconds / _RENEWALS):
            with suppress(*_ERRORS):
                renew(lake, job, number)

    thread = threading.Thread(target=go_on, name=f"lease of {job}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        forget(lake, job, number)


def _file(job: str, number: int) -> str:
    return str(PurePosixPath(quote(job, safe=""), str(number)))
