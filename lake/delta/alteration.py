"""Commits that change columns or properties of a table; others may commit at the same time."""

from __future__ import annotations

from collections.abc import Callable

from weir.lake.delta.file_commits import Overtaken
from weir.lake.delta.stored_table import StoredTable, committing
from weir.lake.lake import Lake
from weir.lake.storage.storage import Refused

_ATTEMPTS = 100


def alter(lake: Lake, table_name: str, change: Callable[[StoredTable], None]) -> None:
    """Make a change of a table in one commit.

    Args:
        lake: has the table.
        table_name: of the table.
        change: writes the commit, or nothing; is called again if others committed first.

    Raises:
        Overtaken: others committed first at every attempt; nothing was done.
    """
    for _ in range(_ATTEMPTS):
        table = lake.existing(table_name)
        try:
            with committing(table):
                change(table)
        except Refused:
            # The open table is already at the version that was refused.
            lake.forget(table_name)
        else:
            lake.committed(table_name)
            return
    raise Overtaken(f"{table_name}: other processes committed {_ATTEMPTS} times in a row")
