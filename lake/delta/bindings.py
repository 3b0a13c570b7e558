"""The names of relations in a DuckDB connection: each stands for one relation until it is released.

DuckDB has a table, a view and a temporary view of one name at the same time, and the temporary one
hides the others for as long as the connection lives; rows of Python that are registered are such a
view. So a name that is bound twice may mean what it meant before. All names of a connection are
bound here, and none twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import duckdb


class NameIsBound(ValueError):  # noqa: N818  (named after what is wrong)
    """A name that stands for a relation was to be given to another one."""


class Bindings:
    """The names that are bound in a connection; capitals and small letters make no difference.

    A name that has `#` after that of a relation is bound for it, and released with it.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self._bound: dict[str, Literal["rows", "table", "view"]] = {}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._bound

    def rows(self, name: str, rows: Any) -> None:
        """Name rows of Python: a table or a dataset of Arrow."""
        self._check(name)
        self.connection.register(name, rows)
        self._bound[name.lower()] = "rows"

    def view(self, name: str, query: str) -> None:
        """Name a query, which is computed wherever it is read."""
        self._check(name)
        self.connection.execute(f"CREATE VIEW {quoted(name)} AS {query}")
        self._bound[name.lower()] = "view"

    def table(self, name: str, query: str, parameters: Mapping[str, Any] | None = None) -> None:
        """Name the result of a query."""
        self._check(name)
        self.connection.execute(f"CREATE TABLE {quoted(name)} AS {query}", parameters)
        self._bound[name.lower()] = "table"

    def relation(self, name: str, relation: duckdb.DuckDBPyRelation) -> None:
        """Name a relation of the connection."""
        self._check(name)
        relation.create_view(name, replace=False)
        self._bound[name.lower()] = "view"

    def release(self, name: str) -> None:
        """Free a name, and those that are bound for it; nothing happens if it is free."""
        low = name.lower()
        for bound in [key for key in self._bound if key == low or key.startswith(f"{low}#")]:
            match self._bound.pop(bound):
                case "rows":
                    self.connection.unregister(bound)
                case kind:
                    self.connection.execute(f"DROP {kind} IF EXISTS {quoted(bound)}")

    @contextmanager
    def whole(self, name: str) -> Iterator[None]:
        """In this block a name is bound; if that fails, what was bound for it is released."""
        self._check(name)
        try:
            yield
        except BaseException:
            self.release(name)
            raise

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Names that are bound in this block, by one thread, are released at its end."""
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
    """A name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'
