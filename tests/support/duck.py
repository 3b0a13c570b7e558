"""One DuckDB per process of tests; each test has a database of its own in it.

Starting DuckDB and registering the functions takes 10 ms or more, and attaching a database 0.1 ms.
"""

from __future__ import annotations

import weakref
from functools import cache
from itertools import count

import duckdb

from weir.compute.duck import DriverFunctions, DuckEngine

_NUMBERS = count(1)
_UNUSED: list[str] = []
"""Databases whose engine is gone; detaching while garbage is collected could block."""


class DuckOfTest(DuckEngine):
    """An engine over a database of its own, which goes with the engine.

    Without `optimized`, DuckDB's optimizer is off, which takes 40 % less time for a few rows. One
    that `is_distant` computes as Spark does, by fewer statements that do more.
    """

    is_distant = False

    def __init__(self, *, optimized: bool = True) -> None:
        owner, functions = _process()
        while _UNUSED:
            owner.execute(f"DETACH {_UNUSED.pop()}")
        name = f"test{next(_NUMBERS)}"
        owner.execute(f"ATTACH ':memory:' AS {name}")
        connection = owner.cursor()
        connection.execute(f"USE {name}")
        if not optimized:
            connection.execute("PRAGMA disable_optimizer")
        super().__init__(connection, functions)
        weakref.finalize(self, _UNUSED.append, name).atexit = False

    def is_on_driver(self, relation: str) -> bool:
        """Whether a statement takes milliseconds."""
        del relation
        return not self.is_distant

    def close(self) -> None:
        """Close the connection; the functions are those of the process."""
        self.connection.close()


@cache
def _process() -> tuple[duckdb.DuckDBPyConnection, DriverFunctions]:
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    return connection, DriverFunctions(connection)
