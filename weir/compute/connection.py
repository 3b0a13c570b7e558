"""A DuckDB of this process, within the limits of the configuration.

DuckDB alone would take 80 % of the machine's memory, beside a JVM that has its own, and spill into
the current folder.
"""

from __future__ import annotations

import duckdb

from weir.lake.scratch import scratch_folder
from weir.settings import Settings

SESSION = "SET TimeZone = 'UTC'"
"""What a connection starts with."""


def connect(settings: Settings) -> duckdb.DuckDBPyConnection:
    """A connection to a database of its own, in memory; times are in UTC.

    Its limits are its own too: `settings.duckdb.memory` is per connection.
    """
    limits = settings.duckdb
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": limits.memory,
        "threads": limits.threads,
        "temp_directory": str(scratch_folder(limits.spill) / "duckdb"),
        "max_temp_directory_size": limits.spill_size,
    }
    connection = duckdb.connect(config=config)
    connection.execute(SESSION)
    return connection
