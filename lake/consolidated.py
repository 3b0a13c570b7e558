"""Up to which epoch a log is a state only, as a property of its table (delta-rs, no Spark).

A property outlives the commits of the log, which are deleted after a while.
"""

from __future__ import annotations

from lake.reader import StorageOptions, open_table

PROPERTY = "weir.consolidatedUntil"


def consolidated_until(root: str, table_name: str, storage_options: StorageOptions = None) -> int:
    """The epoch up to which a log holds a state only; 0 if all its changes are there."""
    table = open_table(root, table_name, storage_options)
    if table is None:
        return 0
    return int(table.metadata().configuration.get(PROPERTY, 0))


def note_consolidation(
    root: str, table_name: str, until: int, storage_options: StorageOptions = None
) -> None:
    """Say that the changes up to the epoch `until` are about to go; said before they do."""
    table = open_table(root, table_name, storage_options)
    assert table is not None, "a log that has rows"
    latest = max(until, int(table.metadata().configuration.get(PROPERTY, 0)))
    # "Exists" speaks of properties that Delta knows; ours are never among them.
    table.alter.set_table_properties({PROPERTY: str(latest)}, raise_if_not_exists=False)
