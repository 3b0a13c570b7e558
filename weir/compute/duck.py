"""Run the engine's statements on DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from duckdb import list_type
from duckdb.sqltypes import VARCHAR

from weir.compute.functions import (
    AGGREGATE,
    EVALUATE,
    SORT_KEY,
    aggregate_batch,
    evaluate_batch,
    sort_keys,
)
from weir.compute.matching import MatchingProcess
from weir.compute.sql import HASH
from weir.lake.delta.bindings import Bindings, quoted
from weir.sparql.functions.evaluation_limits import EvaluationLimits
from weir.sparql.recursion import deep_recursion

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from sqlglot import exp

    from weir.compute.relations import Lookup, Statement

DIALECT = "duckdb"
_OUT_OF_MEMORY = "Out of Memory Error"
_ENDED = ("FATAL Error", "INTERNAL Error")
_DEFAULT = EvaluationLimits()
_BATCH = 100_000
"""Rows of a streamed batch: a row group of the files that are written."""


def is_out_of_memory(error: Exception) -> bool:
    """Whether DuckDB ran out of memory, even if Arrow or delta-rs report the error as theirs."""
    return _OUT_OF_MEMORY in str(error)


def has_ended(error: Exception) -> bool:
    """Whether DuckDB failed by a fault of its own, after which the database answers nothing more.

    Arrow and delta-rs may report the error as theirs.
    """
    return any(text in str(error) for text in _ENDED)


class DuckEngine:
    """An engine over one DuckDB connection; relations are tables and views of it.

    Args:
        connection: is closed by `close`.
        functions: of the engine, registered in the database of the connection, and closed by
            `close`; None to register them.
    """

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, functions: DriverFunctions | None = None
    ) -> None:
        self.connection = connection
        self.bindings = Bindings(connection)
        self.functions = functions or DriverFunctions(connection)
        connection.execute(f"CREATE MACRO IF NOT EXISTS {HASH}(value) AS hash(value)")

    @contextmanager
    def until(self, deadline: float | None) -> Iterator[None]:
        """A context in which the engine's functions have a deadline, by `time.monotonic`."""
        before = self.functions.limits
        self.functions.limits = replace(before, deadline=deadline)
        try:
            yield
        finally:
            self.functions.limits = before

    def interrupt(self) -> None:
        """Make the running statement fail; nothing happens if none runs."""
        self.connection.interrupt()

    @contextmanager
    def scope(self) -> Iterator[Self]:
        """This engine, in a context at whose end the relations made in it are dropped."""
        with self.bindings.scope():
            yield self

    def make(self, statement: Statement) -> None:
        """Make a relation: a view, or a table if its rows are stored, or if it can have none."""
        if statement.changes and all(map(self.bindings.is_empty, statement.changes)):
            # Most of what a change touches comes to nothing. No statement after it need compute.
            none = f"SELECT * FROM ({_sql(statement.select)}) WHERE false"
            self.bindings.table(statement.name, none)
            return
        bind = self.bindings.view if statement.keep == "view" else self.bindings.table
        bind(statement.name, _sql(statement.select))

    def load(self, name: str, rows: pa.Table) -> None:
        """Make a table of `rows`."""
        source = f"{name}#source"
        with self.bindings.whole(name):
            self.bindings.rows(source, rows)
            self.bindings.table(name, f"SELECT * FROM {quoted(source)}")
        self.bindings.release(source)

    def arrow(self, relation: str, limit: int | None = None) -> pa.Table:
        """The rows of a relation, at most `limit` of them."""
        cut = "" if limit is None else f" LIMIT {limit}"
        query = f'SELECT * FROM "{relation}"{cut}'
        rows: pa.Table = self.connection.sql(query).to_arrow_table()
        return rows

    def stream(self, query: exp.Query) -> pa.RecordBatchReader:
        """The rows of `query`, computed while they are read; the connection is busy meanwhile."""
        reader: pa.RecordBatchReader = self.connection.sql(_sql(query)).to_arrow_reader(_BATCH)
        return reader

    def columns(self, relation: str) -> list[str]:
        """The columns of a relation."""
        return list(self.connection.table(relation).columns)

    def query_together(self, relations: Sequence[str], statement: str) -> list[tuple[Any, ...]]:
        """The result of a statement that reads the rows of all `relations` as `checked_rows`."""
        rows = " UNION ALL BY NAME ".join(f'SELECT * FROM "{name}"' for name in relations)
        with self.bindings.scope():
            self.bindings.view("checked_rows", rows)
            return self.connection.execute(statement).fetchall()

    def look_up(self, lookup: Lookup) -> bool:
        """False: there is no index."""
        del lookup
        return False

    def count(self, relation: str) -> int:
        """The number of rows of a relation."""
        # All rows are fetched: an unfinished result would block the connection.
        ((rows,),) = self.connection.execute(f'SELECT COUNT(*) FROM "{relation}"').fetchall()
        return int(rows)

    def is_empty(self, relation: str) -> bool:
        """Whether the rows of a relation are stored, and there are none."""
        return self.bindings.is_empty(relation)

    def is_on_driver(self, relation: str) -> bool:
        """True: DuckDB computes every relation."""
        del relation
        return True

    def rows(self, query: exp.Query) -> list[tuple[object, ...]]:
        """The rows of `query`."""
        return self.connection.execute(_sql(query)).fetchall()

    def close(self) -> None:
        """Drop all relations, and free their memory."""
        self.connection.close()
        self.functions.close()


class DriverFunctions:
    """The engine's functions, registered in a DuckDB for all of its connections.

    Args:
        connection: to the database.
        limits: of each call.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        limits: EvaluationLimits = _DEFAULT,
    ) -> None:
        self._matching = MatchingProcess(limits.values_length)
        self.limits = replace(limits, matching=self._matching)

        def register(
            name: str, function: Callable[..., Any], arguments: list[duckdb.sqltypes.DuckDBPyType]
        ) -> None:
            connection.create_function(  # type: ignore[call-overload]
                name, function, arguments, VARCHAR, type="arrow", null_handling="special"
            )

        texts = list_type(VARCHAR)
        register(EVALUATE, lambda a, b: evaluate_batch(a, b, self.limits), [VARCHAR, texts])
        register(AGGREGATE, lambda a, b: aggregate_batch(a, b, self.limits), [VARCHAR, texts])
        register(SORT_KEY, lambda a: sort_keys(a), [VARCHAR])

    def close(self) -> None:
        """End the process that matches regular expressions, if there is one."""
        self._matching.close()


def _sql(query: exp.Query) -> str:
    # No copy, which takes as long as writing: the rewrites that the generator of this dialect does
    # in place mean the same in every dialect (tests/compute/test_duck.py).
    with deep_recursion():
        return query.sql(dialect=DIALECT, copy=False)
