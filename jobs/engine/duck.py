"""Run the engine's statements on DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duckdb import list_type
from duckdb.sqltypes import VARCHAR

from jobs.engine.conditions import EVALUATE
from jobs.engine.evaluation import evaluate_batch

if TYPE_CHECKING:
    import duckdb
    from sqlglot import exp

    from jobs.engine.relations import Statement

DIALECT = "duckdb"


class DuckEngine:
    """An engine over one DuckDB connection; relations are temporary tables and views."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        connection.create_function(  # type: ignore[call-overload]
            EVALUATE,
            lambda expressions, terms: evaluate_batch(expressions, terms),
            [VARCHAR, list_type(VARCHAR)],
            VARCHAR,
            type="arrow",
            null_handling="special",
        )

    def make(self, statement: Statement) -> None:
        """Make a relation; one that is kept becomes a table."""
        kind = "VIEW" if statement.keep == "view" else "TABLE"
        query = statement.select.sql(dialect=DIALECT)
        self.connection.execute(f'CREATE OR REPLACE TEMP {kind} "{statement.name}" AS {query}')

    def count(self, relation: str) -> int:
        """The number of rows of a relation."""
        found = self.connection.execute(f'SELECT COUNT(*) FROM "{relation}"').fetchone()
        return int(found[0]) if found else 0

    def rows(self, query: exp.Query) -> list[tuple[object, ...]]:
        """The rows of `query`."""
        return self.connection.execute(query.sql(dialect=DIALECT)).fetchall()
