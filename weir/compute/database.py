"""A DuckDB that a process keeps between runs, with a separate database for each engine."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from threading import Lock

import duckdb

from weir.compute.connection import SESSION, connect
from weir.compute.duck import DriverFunctions, DuckEngine, has_ended
from weir.compute.functions import limits_of
from weir.settings import Settings


class Database:
    """One DuckDB with the engine's functions, kept because starting and registering take time.

    The configuration's limits of memory and threads hold for all engines together.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._numbers = count(1)
        self._lock = Lock()
        self._open()

    def _open(self) -> None:
        self._connection = connect(self._settings)
        # The cache would keep every file that was ever read.
        self._connection.execute("SET GLOBAL enable_external_file_cache = false")
        limits = limits_of(self._settings.limits)
        self._functions = DriverFunctions(self._connection, limits)

    def _open_again_if_ended(self) -> None:
        """A DuckDB that failed by a fault of its own answers nothing more: another takes its place.

        What is still being read of the old one fails, too.
        """
        with self._lock:
            try:
                self._connection.execute("SELECT 1").fetchall()
            except duckdb.Error as error:
                if not has_ended(error):
                    raise
                self.close()
                self._open()

    def engine(self) -> DuckEngine:
        """A new engine without relations; closing it drops all that it made."""
        self._open_again_if_ended()
        name = f"engine{next(self._numbers)}"
        connection = self._connection.cursor()
        connection.execute(f"ATTACH ':memory:' AS {name}")
        connection.execute(f"USE {name}")
        connection.execute(SESSION)
        return _Tenant(connection, self._functions, partial(self._detach, self._connection, name))

    def _detach(self, owner: duckdb.DuckDBPyConnection, name: str) -> None:
        # Engines of several threads are opened and closed at once; a connection that is in use
        # refuses a statement.
        with self._lock:
            try:
                owner.execute(f"DETACH {name}")
            except duckdb.Error as error:
                if not has_ended(error):
                    raise

    def connection(self) -> duckdb.DuckDBPyConnection:
        """A connection to it, to be closed, that has no relation."""
        self._open_again_if_ended()
        connection = self._connection.cursor()
        connection.execute(SESSION)
        return connection

    def close(self) -> None:
        """Close the database and all engines in it."""
        self._connection.close()
        self._functions.close()


class _Tenant(DuckEngine):
    """An engine whose relations are in an attached database."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        functions: DriverFunctions,
        detach: Callable[[], None],
    ) -> None:
        super().__init__(connection, functions)
        self._detach = detach

    def close(self) -> None:
        """Drop all relations, and free their memory."""
        # First, so that nothing uses the database any more; this also unregisters rows.
        self.connection.close()
        self._detach()
