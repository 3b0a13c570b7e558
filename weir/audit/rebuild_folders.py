"""The temporary lakes for rebuilding the log of the graph, in folders below the lake.

They are nested deeper than any table, so that readers of the lake do not take them for tables.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from weir.lake.lake import Lake
from weir.lake.tables import Table

_NEW: Final = "_rebuilt"
"""The folder of the rebuilt tables, until they are put in place."""
_REPLACED: Final = "_replaced"
"""The folder of the replaced tables; it remains if a repair is killed."""
_LAKE: Final = "lake"


def temporary_lake(lake: Lake) -> Lake:
    """The lake in which a rebuild makes the new tables."""
    return lake.below(f"{_NEW}/{_LAKE}")


def new_table(table: Table) -> Table:
    """The rebuilt table in the temporary lake, beside the table of this name that ingest fills."""
    return replace(table, name=f"made_{table.name}")


def replaced_lake(lake: Lake) -> Lake:
    """The lake with the tables that were replaced."""
    return lake.below(f"{_REPLACED}/{_LAKE}")


def take_out(lake: Lake, table: Table) -> None:
    """Move a table to `replaced_lake`, unless it is there already."""
    lake.storage.move(table.name, f"{_REPLACED}/{_LAKE}/{table.name}")
    lake.forget(table.name)


def put_in(lake: Lake, table: Table) -> None:
    """Move a rebuilt table to its place."""
    lake.storage.move(f"{_NEW}/{_LAKE}/{new_table(table).name}", table.name)
    lake.forget(table.name)


def discard(lake: Lake) -> None:
    """Remove a rebuild that was not put in place."""
    lake.storage.clear(_NEW)


def discard_replaced(lake: Lake) -> None:
    """Remove the tables that were replaced."""
    lake.storage.clear(_REPLACED)
