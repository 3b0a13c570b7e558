"""Run statements where their input is: what is small on the driver, all else on Spark.

A run of some hundred changes has a neighbourhood of some thousand rows. Spark needs about a second
per query to plan and schedule joins of such relations, DuckDB some milliseconds, and both run the
same statements with the same result (law 7). So a relation that is read again and has at most
`driver_rows` rows is fetched to the driver, and a statement that reads only such relations is run
there. A statement that reads anything else runs on Spark, with the small relations sent to it: that
is the distributed path, which every relation beyond the limit takes by itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from sqlglot import exp

from jobs.engine.duck import DuckEngine

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from jobs.engine.relations import Keep, Statement
    from jobs.engine.spark import SparkEngine


class HybridEngine:
    """Two engines and the knowledge of which relations are on the driver.

    Args:
        spark: the session, or what starts it: it is asked for where a statement needs it.
        driver_rows: most rows of a relation on the driver; 0 sends everything to Spark.
    """

    def __init__(self, spark: SparkSession | Callable[[], SparkSession], driver_rows: int) -> None:
        self._spark = spark
        self._remote: SparkEngine | None = None
        self.local = DuckEngine(duckdb.connect())
        self.driver_rows = driver_rows
        self._on_driver: set[str] = set()
        self._sent: set[str] = set()
        self._stored: dict[str, Callable[[], DataFrame]] = {}
        # DuckDB takes one statement of a connection at a time.
        self._driver = threading.RLock()

    @property
    def remote(self) -> SparkEngine:
        """The engine on Spark."""
        from jobs.engine.spark import SparkEngine

        with self._driver:
            if self._remote is None:
                spark = self._spark() if callable(self._spark) else self._spark
                self._remote = SparkEngine(spark)
            return self._remote

    def make(self, statement: Statement) -> None:
        """Make a relation on the side that its input decides."""
        read = {table.name for table in statement.select.find_all(exp.Table)}
        if read <= self._on_driver and self.driver_rows:
            try:
                with self._driver:
                    self.local.make(statement)
                self._on_driver.add(statement.name)
            except duckdb.OutOfMemoryException:
                # Small relations with a large join: Spark can spill to the disks of a cluster.
                self._make_remote(statement, read)
        else:
            self._make_remote(statement, read)

    def register(self, name: str, frame: DataFrame, keep: Keep = "view") -> None:
        """Make a frame known as relation `name`; fetched if it is kept and small."""
        if keep != "view" and self.driver_rows:
            rows = frame.limit(self.driver_rows + 1).toArrow()
            if rows.num_rows <= self.driver_rows:
                self.load(name, rows)
                return
        self.remote.register(name, frame, keep)

    def register_stored(
        self, name: str, rows: ds.Dataset | pa.Table, frame: Callable[[], DataFrame]
    ) -> None:
        """Make a stored table known that the driver can read; `frame` is for what Spark must do."""
        with self._driver:
            self.local.connection.register(name, rows)
        self._stored[name] = frame
        self._on_driver.add(name)

    def load(self, name: str, rows: pa.Table) -> None:
        """Make rows of the driver known as relation `name`."""
        with self._driver:
            self.local.load(name, rows)
        self._on_driver.add(name)

    def count(self, relation: str) -> int:
        """The number of rows of a relation."""
        if relation in self._on_driver:
            with self._driver:
                return self.local.count(relation)
        return self.remote.count(relation)

    def rows(self, query: exp.Query) -> list[tuple[object, ...]]:
        """The rows of a query whose result is small by construction."""
        read = {table.name for table in query.find_all(exp.Table)}
        if read <= self._on_driver:
            with self._driver:
                return self.local.rows(query)
        self._send(read)
        return self.remote.rows(query)

    def fetched(self, relation: str) -> pa.Table | None:
        """The rows of a relation that is on the driver, None if it is not."""
        if relation not in self._on_driver:
            return None
        with self._driver:
            return self.local.arrow(relation)

    def frame(self, relation: str) -> DataFrame:
        """The frame of a relation, sent to Spark if it is on the driver."""
        self._send({relation})
        return self.remote.spark.table(relation)

    def release(self) -> None:
        """Forget all relations that were made."""
        if self._remote is not None:
            self._remote.release()
        self.local.connection.close()

    def _make_remote(self, statement: Statement, read: set[str]) -> None:
        self._send(read)
        self.register(statement.name, self.remote.frame(statement.select), statement.keep)

    def _send(self, names: set[str]) -> None:
        """Make relations of the driver known to Spark; they are small, so every task gets them."""
        for name in (names & self._on_driver) - self._sent:
            if name in self._stored:
                self.remote.register(name, self._stored[name]())
            else:
                with self._driver:
                    rows = self.local.arrow(name)
                self.remote.send(name, rows)
            self._sent.add(name)
