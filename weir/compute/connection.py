"""A DuckDB connection within the limits of the configuration.

By default DuckDB takes 80 % of the machine's memory, beside that of the JVM, and spills into the
current folder.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from weir.lake.scratch import scratch_folder
from weir.settings import Settings

SESSION = "SET TimeZone = 'UTC'; SET enable_progress_bar = false"
"""The statements with which a connection starts.

In a REPL and by `python -c`, a bar would come between what is written to standard output.
"""


def connect(settings: Settings, file: Path | None = None) -> duckdb.DuckDBPyConnection:
    """A connection to a new database, in memory or in a file, with times in UTC.

    Its limits are its own: each connection may take `settings.duckdb.memory`.
    """
    limits = settings.duckdb
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": limits.memory,
        "threads": limits.threads,
        "temp_directory": str(scratch_folder(limits.spill) / "duckdb"),
        "max_temp_directory_size": limits.spill_size,
    }
    connection = duckdb.connect(":memory:" if file is None else str(file), config=config)
    connection.execute(SESSION)
    return connection
