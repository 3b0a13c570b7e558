"""What a batch needs of whoever works it out: DuckDB on the driver, or Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import pyarrow as pa
from sqlglot import exp

from jobs.compute.relations import Statement
from lake.metadata import Metadata
from lake.tables import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Frame: TypeAlias = "pa.Table | DataFrame"
"""Rows that the driver has, or that Spark will compute."""


class Engine(Protocol):
    """Relations by name, made by the same statements on either engine."""

    def register(self, name: str, frames: Sequence[Frame]) -> None:
        """Make the rows of all `frames`, which have the same columns, known as relation `name`."""

    def make(self, statement: Statement) -> None:
        """Make a relation by a statement."""

    def rows(self, query: exp.Query) -> list[tuple[object, ...]]:
        """The rows of a query whose result is small by construction."""

    def open(self, name: str, table: Table, **only: Sequence[str]) -> None:
        """Make a stored table known as relation `name`.

        Args:
            name: of the relation that is made.
            table: the stored one.
            only: column -> values: rows with other values may be left out.
        """

    def quads_about(self, name: str, operations: str, until: int) -> None:
        """Make the log of the quads whose triples the relation `operations` names known as `name`.

        Epochs after `until` are left out.
        """

    def quads_of(self, name: str, source: str, owners: str, until: int) -> None:
        """Make the log of the graphs that `source` owns known as `name`.

        Args:
            name: of the relation that is made.
            source: name of the source.
            owners: relation graph, source.
            until: epochs after it are left out.
        """

    def quads_between(self, name: str, after: int, until: int) -> None:
        """Make the log of the quads of the epochs (after, until] known as `name`."""

    def append(self, table: Table, query: exp.Query, metadata: Metadata, rows: int) -> int:
        """Append the rows of `query`, about `rows` of them, in one commit; returns its version."""

    def release(self) -> None:
        """Forget all relations."""
