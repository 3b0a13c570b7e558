"""The interface of the systems that run the engine's statements."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    import pyarrow as pa
    from sqlglot import exp

    from weir.compute.relations import Lookup, Statement


class SqlEngine(Protocol):
    """Runs statements: `Engine` in production; the law tests run `DuckEngine` by itself."""

    def scope(self) -> AbstractContextManager[Self]:
        """A context whose value is an engine; at the end the relations made by that are dropped."""

    def load(self, name: str, rows: pa.Table) -> None:
        """Make a relation of rows of this process."""

    def make(self, statement: Statement) -> None:
        """Make the relation of `statement`."""

    def look_up(self, lookup: Lookup) -> bool:
        """Make a relation of some rows of a stored log, by its index.

        Returns:
            Whether it is made. Else a scan has to find the rows.
        """

    def count(self, relation: str) -> int:
        """The number of rows of a relation."""

    def is_empty(self, relation: str) -> bool:
        """Whether it is known, without computing anything, that a relation has no rows."""

    def is_on_driver(self, relation: str) -> bool:
        """Whether DuckDB computes a relation, so that a statement takes milliseconds."""

    def rows(self, query: exp.Query) -> list[tuple[object, ...]]:
        """The rows of a query whose result is small by construction."""
