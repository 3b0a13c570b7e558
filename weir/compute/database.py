"""A DuckDB that a process keeps between runs, with a database of its own for each engine in it."""

from __future__ import annotations

from itertools import count

import duckdb

from weir.compute.connection import SESSION, connect
from weir.compute.duck import DriverFunctions, DuckEngine
from weir.compute.functions import limits_of
from weir.settings import Settings


class Database:
    """One DuckDB with the functions of the engine, which take a while to start and to register.

    Its limits of memory and threads are those of the configuration, for all engines together.
    """

    def __init__(self, settings: Settings) -> None:
        self._connection = connect(settings)
        self._numbers = count(1)
        # It would remember every file that was ever read.
        self._connection.execute("SET GLOBAL enable_external_file_cache = false")
        self._functions = DriverFunctions(self._connection, limits_of(settings.limits))

    def engine(self) -> DuckEngine:
        """An engine without relations; when it is closed, all that it made is gone."""
        name = f"engine{next(self._numbers)}"
        connection = self._connection.cursor()
        connection.execute(f"ATTACH ':memory:' AS {name}")
        connection.execute(f"USE {name}")
        connection.execute(SESSION)
        return _Tenant(connection, self._functions, self._connection, name)

    def allocated(self) -> int:
        """The bytes that tables and results take."""
        query = "SELECT COALESCE(SUM(memory_usage_bytes), 0) FROM duckdb_memory()"
        ((found,),) = self._connection.execute(query).fetchall()
        return int(found)

    def close(self) -> None:
        """End it."""
        self._connection.close()
        self._functions.close()


class _Tenant(DuckEngine):
    """An engine whose relations are in a database that is attached to another."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        functions: DriverFunctions,
        owner: duckdb.DuckDBPyConnection,
        name: str,
    ) -> None:
        super().__init__(connection, functions)
        self._owner, self._name = owner, name

    def close(self) -> None:
        """Forget all relations, and give their memory back."""
        # First, so that nothing uses the database any more; what is registered goes with it.
        self.connection.close()
        self._owner.execute(f"DETACH {self._name}")
