"""The folders of a rebuild of the log of the graph, below that of the lake.

Their lakes lie as deep as no table does: readers of the lake do not take them for its own.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from weir.errors import WeirError
from weir.lake.lake import Lake, local_folder
from weir.lake.tables import Table

_NEW = "_rebuilt"
"""What the rebuild makes, until it is put in place."""
_REPLACED = "_replaced"
"""What of the damaged log a repair that was killed had replaced."""


def temporary_lake(lake: Lake) -> Lake:
    """The lake in which a rebuild makes the new tables."""
    return _lake_below(lake, _NEW)


def new_table(table: Table) -> Table:
    """A table as the rebuild makes it in the temporary lake, beside the one that ingest has."""
    return replace(table, name=f"made_{table.name}")


def replaced_lake(lake: Lake) -> Lake:
    """The lake that has the tables which new ones replace."""
    return _lake_below(lake, _REPLACED)


def discard(lake: Lake) -> None:
    """Remove what a rebuild has made and not put in place."""
    _remove(lake, _NEW)


def discard_replaced(lake: Lake) -> None:
    """Remove the tables that were replaced."""
    _remove(lake, _REPLACED)


def folder_of(lake: Lake) -> Path:
    """The folder of a lake that can be rebuilt.

    Raises:
        WeirError: it is in an object store.
    """
    folder = local_folder(lake.root)
    if folder is None:
        raise WeirError(
            "a lake in an object store is not rebuilt from its sources",
            lake.root,
            "Copy it to a folder, repair it there (`lake` in the configuration), and copy it back.",
        )
    return folder


def _lake_below(lake: Lake, name: str) -> Lake:
    return Lake(str(folder_of(lake) / name / "lake"))


def _remove(lake: Lake, name: str) -> None:
    folder = local_folder(lake.root)
    if folder is not None:
        shutil.rmtree(folder / name, ignore_errors=True)
