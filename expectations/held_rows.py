"""Rows in DuckDB, which a statement checks without copying them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import duckdb
import pyarrow as pa

from weir.expectations.statement import CHECKED_ROWS
from weir.lake.delta.bindings import Bindings


@runtime_checkable
class HeldRows(Protocol):
    """Rows in a DuckDB database."""

    @property
    def column_names(self) -> Sequence[str]:
        """The column names of the rows."""

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """The result of a DuckDB statement that reads the rows as `CHECKED_ROWS`."""


@dataclass(frozen=True, slots=True)
class InMemory:
    """The rows of an Arrow table."""

    rows: pa.Table

    @property
    def column_names(self) -> Sequence[str]:
        """The column names of the table."""
        names: list[str] = self.rows.column_names
        return names

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """The result of a DuckDB statement that reads the rows as `CHECKED_ROWS`."""
        with duckdb.connect() as connection:
            Bindings(connection).rows(CHECKED_ROWS, self.rows)
            return connection.sql(statement).fetchall()
