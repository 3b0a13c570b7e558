"""Removing a table of the lake for good."""

from __future__ import annotations

import shutil

from pyarrow import fs

from lake.lake import local_folder


def remove_table(address: str) -> None:
    """Delete the folder of a table: its rows, its history, its log.

    In an object store the credentials are those of the environment.
    """
    folder = local_folder(address)
    if folder is not None:
        shutil.rmtree(folder)
        return
    store, path = fs.FileSystem.from_uri(address)
    store.delete_dir(path)
