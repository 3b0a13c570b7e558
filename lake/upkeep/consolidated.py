"""The epoch up to which a log is consolidated, as a property of its table (delta-rs, no Spark).

A property outlives the commits of the table, which are deleted after a while.
"""

from __future__ import annotations

from weir.lake.delta.alteration import alter
from weir.lake.delta.stored_table import StoredTable
from weir.lake.lake import Lake

PROPERTY = "weir.consolidatedUntil"


def consolidated_until(lake: Lake, table_name: str) -> int:
    """The epoch up to which a log is consolidated; 0 if it has all changes."""
    table = lake.open(table_name)
    if table is None:
        return 0
    return int(table.metadata().configuration.get(PROPERTY, 0))


def note_consolidation(lake: Lake, table_name: str, until: int) -> None:
    """Record that the changes up to the epoch `until` are about to be removed."""

    def note(table: StoredTable) -> None:
        latest = max(until, int(table.metadata().configuration.get(PROPERTY, 0)))
        # Delta does not define this property, which the flag allows.
        table.alter.set_table_properties({PROPERTY: str(latest)}, raise_if_not_exists=False)

    alter(lake, table_name, note)
