"""Removing a table of the lake for good."""

from __future__ import annotations

import shutil

from pyarrow import fs

from weir.lake.damage.log_checks import LOG_NOTES
from weir.lake.delta.checksums import NOTES
from weir.lake.delta.commit_files import LOG
from weir.lake.lake import local_folder

_REMOVED_LOG = ".removed_log"
"""The name of a log whose table is being removed."""


def remove_table(address: str) -> None:
    """Delete the folder of a table: its rows, its history, its log.

    The log goes first and at once: killed at any point, either the table is whole or there is none.
    In an object store the credentials are those of the environment.
    """
    folder = local_folder(address)
    if folder is not None:
        log, removed = folder / LOG, folder / _REMOVED_LOG
        if log.exists():
            # What is noted of this log is not about that of a table which follows it.
            (folder / NOTES / LOG_NOTES).unlink(missing_ok=True)
            shutil.rmtree(removed, ignore_errors=True)
            log.rename(removed)
        shutil.rmtree(folder)
        return
    store, path = fs.FileSystem.from_uri(address)
    store.delete_dir(path)
