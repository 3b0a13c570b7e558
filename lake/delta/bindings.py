"""The names of relations in a DuckDB connection: each means one relation until it is released.

DuckDB allows a table, a view and a temporary view of the same name, of which the temporary one
hides the others as long as the connection lives. Registered Python rows are such a view. So a name
that is bound twice could still mean its first relation. All names of a connection are bound by
`Bindings`, which refuses this.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import duckdb


class NameIsBound(ValueError):  # noqa: N818  (named after what is wrong)
    """A name of one relation was to be bound to another."""


class Bindings:
    """The names that are bound in a connection, regardless of case.

    A name `a#b` belongs to the name `a`, and is released with it.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self._bound: dict[str, Literal["rows", "table", "view"]] = {}
        self._empty: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._bound

    def rows(self, name: str, rows: Any) -> None:
        """Bind a name to Python rows: an Arrow table or dataset."""
        self._check(name)
        self.connection.register(name, rows)
        self._bound[name.lower()] = "rows"

    def view(self, name: str, query: str) -> None:
        """Bind a name to a query, which is computed each time it is read."""
        self._check(name)
        self.connection.execute(f"CREATE VIEW {quoted(name)} AS {query}")
        self._bound[name.lower()] = "view"

    def table(self, name: str, query: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Bind a name to the stored result of a query."""
        self._check(name)
        statement = f"CREATE TABLE {quoted(name)} AS {query}"
        counted = self.connection.execute(statement, parameters).fetchone()
        self._bound[name.lower()] = "table"
        if counted is not None and counted[0] == 0:
            self._empty.add(name.lower())

    def is_empty(self, name: str) -> bool:
        """Whether a name is bound to a stored result without rows."""
        return name.lower() in self._empty

    def relation(self, name: str, relation: duckdb.DuckDBPyRelation) -> None:
        """Bind a name to a relation of the connection."""
        self._check(name)
        relation.create_view(name, replace=False)
        self._bound[name.lower()] = "view"

    def release(self, name: str) -> None:
        """Release a name and those that belong to it; nothing happens if it is not bound."""
        low = name.lower()
        for bound in [key for key in self._bound if key == low or key.startswith(f"{low}#")]:
            self._empty.discard(bound)
            match self._bound.pop(bound):
                case "rows":
                    self.connection.unregister(bound)
                case kind:
                    self.connection.execute(f"DROP {kind} IF EXISTS {quoted(bound)}")

    @contextmanager
    def whole(self, name: str) -> Iterator[None]:
        """A context for binding a name in several steps: if one fails, all of them are undone."""
        self._check(name)
        try:
            yield
        except BaseException:
            self.release(name)
            raise

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A context that releases, at its end, the names that one thread bound in it."""
        before = {*self._bound}
        try:
            yield
        finally:
            for name in [key for key in self._bound if key not in before]:
                self.release(name)

    def _check(self, name: str) -> None:
        if name in self:
            raise NameIsBound(f"the name {name} stands for another relation of the connection")


def quoted(name: str) -> str:
    """A name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
