"""Up to which epoch a log is a state only, as a property of its table (delta-rs, no Spark).

A property outlives the commits of the log, which are deleted after a while.
"""

from __future__ import annotations

from weir.lake.lake import Lake

PROPERTY = "weir.consolidatedUntil"


def consolidated_until(lake: Lake, table_name: str) -> int:
    """The epoch up to which a log holds a state only; 0 if all its changes are there."""
    table = lake.open(table_name)
    if table is None:
        return 0
    return int(table.metadata().configuration.get(PROPERTY, 0))


def note_consolidation(lake: Lake, table_name: str, until: int) -> None:
    """Record that the changes up to the epoch `until` are about to be removed; called before."""
    table = lake.existing(table_name)
    latest = max(until, int(table.metadata().configuration.get(PROPERTY, 0)))
    # The flag is about properties that Delta defines; ours are not among them.
    table.alter.set_table_properties({PROPERTY: str(latest)}, raise_if_not_exists=False)
    lake.committed(table_name)
