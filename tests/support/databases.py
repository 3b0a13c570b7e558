"""Databases of a test process that take over the DuckDB of the one before.

Starting DuckDB and registering the functions of the engine takes as long as a small stage; a run of
the product does it once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import TypeAlias

import duckdb

from weir.compute.database import Database
from weir.compute.duck import DriverFunctions
from weir.compute.functions import limits_of
from weir.settings import Settings

_Limits: TypeAlias = tuple[object, ...]
_MOST = 4
"""So many wait: few tests have limits of their own."""


@dataclass(frozen=True, slots=True)
class _Idle:
    """A DuckDB that waits.

    Attributes:
        limits: those with which it was started.
        connection: the first connection to it.
        functions: those of the engine in it.
        numbers: the numbers that its engines have not had.
    """

    limits: _Limits
    connection: duckdb.DuckDBPyConnection
    functions: DriverFunctions
    numbers: count[int]

    def close(self) -> None:
        self.connection.close()
        self.functions.close()


_IDLE: list[_Idle] = []


class ReusedDatabase(Database):
    """A database whose DuckDB stays for the next one with the same limits.

    One that has failed, or in which an engine was left open, is closed.
    """

    def __init__(self, settings: Settings) -> None:
        self._limits: _Limits = (settings.duckdb.model_dump_json(), limits_of(settings.limits))
        idle = next((idle for idle in _IDLE if idle.limits == self._limits), None)
        if idle is None:
            super().__init__(settings)
            # The processes of pytest share the cores, and rows are few: one thread saves 9 % of
            # the time of the processor. What tests start as a process has as many as a user has.
            self._connection.execute("SET threads = 1")
            return
        _IDLE.remove(idle)
        self._settings, self._lock = settings, Lock()
        self._connection, self._functions = idle.connection, idle.functions
        self._numbers = idle.numbers

    def close(self) -> None:
        """Let the next database with these limits have it."""
        idle = _Idle(self._limits, self._connection, self._functions, self._numbers)
        if not _is_as_new(self._connection):
            idle.close()
            return
        _IDLE.append(idle)
        while len(_IDLE) > _MOST:
            _IDLE.pop(0).close()


def _is_as_new(connection: duckdb.DuckDBPyConnection) -> bool:
    attached = "SELECT count(*) FROM duckdb_databases() WHERE NOT internal"
    try:
        ((databases,),) = connection.execute(attached).fetchall()
    except duckdb.Error:
        return False
    return bool(databases == 1)


def close_idle() -> None:
    """End all that wait."""
    while _IDLE:
        _IDLE.pop().close()
