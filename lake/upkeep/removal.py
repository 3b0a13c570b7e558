"""Removing a table of the lake for good."""

from __future__ import annotations

import shutil

from pyarrow import fs

from weir.lake.damage.log_checks import LOG_NOTES
from weir.lake.delta.checksums import NOTES
from weir.lake.delta.commit_files import LOG
from weir.lake.lake import local_folder

_REMOVED_LOG = ".removed_log"
"""The name that a log gets while its table is removed."""


def remove_table(address: str) -> None:
    """Delete the folder of a table: its rows, its history, its log.

    The log goes first, by one rename: if the process is killed, either the table is whole or there
    is none. For an object store the credentials are those of the environment.
    """
    folder = local_folder(address)
    if folder is not None:
        log, removed = folder / LOG, folder / _REMOVED_LOG
        if log.exists():
            # The notes about this log do not hold for the log of a later table.
            (folder / NOTES / LOG_NOTES).unlink(missing_ok=True)
            shutil.rmtree(removed, ignore_errors=True)
            log.rename(removed)
        shutil.rmtree(folder)
        return
    store, path = fs.FileSystem.from_uri(address)
    store.delete_dir(path)
