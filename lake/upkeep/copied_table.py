"""Copies a table within a lake that is a folder: the same versions, under another name."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from weir.lake.delta.commit_files import LOG
from weir.lake.lake import Lake

_DRAFT = f"{LOG}.draft"


def copy_table(lake: Lake, table: str, new: str) -> None:
    """Copy a table under a name that no table has.

    The log comes last and by one rename: if the process is killed, the copy is whole or no table.
    Data files are never changed, so that both tables can have the same.
    """
    source, target = lake.folder(table), lake.folder(new)
    with suppress(FileNotFoundError):
        shutil.rmtree(target)
    with lake.using(table):
        shutil.copytree(
            source, target, ignore=shutil.ignore_patterns(LOG), copy_function=_linked_or_copied
        )
        shutil.copytree(source / LOG, target / _DRAFT)
    (target / _DRAFT).rename(target / LOG)
    lake.forget(new)


def _linked_or_copied(source: str, target: str) -> None:
    if source.endswith(".parquet"):
        with suppress(OSError):
            os.link(source, target)
            return
    shutil.copy2(source, target)
