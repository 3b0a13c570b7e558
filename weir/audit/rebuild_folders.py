"""The temporary lakes for rebuilding the log of the graph, in folders below the lake.

They are nested deeper than any table, so that readers of the lake do not take them for tables.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from weir.errors import WeirError
from weir.lake.lake import Lake, local_folder
from weir.lake.tables import Table

_NEW = "_rebuilt"
"""The folder of the rebuilt tables, until they are put in place."""
_REPLACED = "_replaced"
"""The folder of the replaced tables; it remains if a repair is killed."""


def temporary_lake(lake: Lake) -> Lake:
    """The lake in which a rebuild makes the new tables."""
    return _lake_below(lake, _NEW)


def new_table(table: Table) -> Table:
    """The rebuilt table in the temporary lake, beside the table of this name that ingest fills."""
    return replace(table, name=f"made_{table.name}")


def replaced_lake(lake: Lake) -> Lake:
    """The lake with the tables that were replaced."""
    return _lake_below(lake, _REPLACED)


def discard(lake: Lake) -> None:
    """Remove a rebuild that was not put in place."""
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
