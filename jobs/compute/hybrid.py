"""Run statements where their input is: what is small on the driver, all else on Spark.

A run of some hundred changes has a neighbourhood of some thousand rows. Spark needs about a second
per query to plan and schedule joins of such relations, DuckDB some milliseconds, and both run the
same statements with the same result (law 7). So a relation that is read again and has at most
`driver_rows` rows is fetched to the driver, and a statement that reads only such relations is run
there. A statement that reads anything else runs on Spark, with the small relations sent to it: that
is the distributed path, which every relation beyond the limit takes by itself.

A statement over small relations may have a large result. It stays in DuckDB, which spills; if it is
wanted elsewhere and has more than `fetched_rows` rows, or DuckDB has not the memory, Spark makes it
again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
from sqlglot import exp

from jobs.compute.duck import DuckEngine

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from jobs.compute.relations import Keep, Statement
    from jobs.compute.spark import SparkEngine


@dataclass(frozen=True, slots=True)
class DriverLimits:
    """What the driver computes.

    Attributes:
        rows: most rows of a relation that it computes with; 0 leaves everything to Spark.
        fetched_rows: most rows of a result that leave DuckDB.
        sent_rows: most rows of a relation that Spark keeps in one partition.
    """

    rows: int
    fetched_rows: int
    sent_rows: int


class HybridEngine:
    """Two engines and the knowledge of which relations are on the driver.

    Args:
        spark: the session, or what starts it: it is asked for where a statement needs it.
        connection: the DuckDB of the driver; closed by `release`.
        limits: what the driver computes.
    """

    def __init__(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        connection: duckdb.DuckDBPyConnection,
        limits: DriverLimits,
    ) -> None:
        self._spark = spark
        self._remote: SparkEngine | None = None
        self.local = DuckEngine(connection)
        self.driver_rows = limits.rows
        self._fetched_rows = limits.fetched_rows
        self._sent_rows = limits.sent_rows
        self._on_driver: set[str] = set()
        self._made: dict[str, Statement] = {}
        self._sent: set[str] = set()
        self._stored: dict[str, Callable[[], DataFrame]] = {}
        self._large: set[str] = set()
        # DuckDB takes one statement of a connection at a time.
        self._driver = threading.RLock()

    @property
    def remote(self) -> SparkEngine:
        """The engine on Spark."""
        from jobs.compute.spark import SparkEngine

        with self._driver:
            if self._remote is None:
                spark = self._spark() if callable(self._spark) else self._spark
                self._remote = SparkEngine(spark, self._sent_rows)
            return self._remote

    def make(self, statement: Statement) -> None:
        """Make a relation on the side that its input decides."""
        read = _read_by(statement.select)
        reads_large = not read.isdisjoint(self._large)
        # What is kept and no small relation may be as large as what it is made of.
        if (
            read <= self._on_driver
            and self.driver_rows
            and not (reads_large and statement.keep == "cache")
        ):
            if reads_large and statement.keep == "view":
                self._large.add(statement.name)
            try:
                with self._driver:
                    self.local.make(statement)
                self._on_driver.add(statement.name)
                self._made[statement.name] = statement
            except duckdb.OutOfMemoryException:
                # Small relations with a large join: Spark can spill to the disks of a cluster.
                self._make_remote(statement)
        else:
            self._make_remote(statement)

    def register(self, name: str, frame: DataFrame, keep: Keep = "view") -> None:
        """Make a frame known as relation `name`; fetched if it is kept and small."""
        if keep != "view" and self.driver_rows:
            rows = frame.limit(self.driver_rows + 1).toArrow()
            if rows.num_rows <= self.driver_rows:
                self.load(name, rows)
                return
        self.remote.register(name, frame, keep)

    def register_stored(
        self,
        name: str,
        attach: Callable[[duckdb.DuckDBPyConnection, str], None],
        frame: Callable[[], DataFrame],
        *,
        is_large: bool = False,
    ) -> None:
        """Make a stored table known that the driver can read; `frame` is for what Spark must do.

        Of a large one the driver looks rows up, which it can do without keeping it; what takes
        all of it is made by Spark.
        """
        with self._driver:
            attach(self.local.connection, name)
        self._stored[name] = frame
        self._on_driver.add(name)
        if is_large:
            self._large.add(name)

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
        read = _read_by(query)
        if read <= self._on_driver:
            with self._driver:
                return self.local.rows(query)
        self._send(read)
        return self.remote.rows(query)

    def fetched(self, relation: str) -> pa.Table | None:
        """The rows of a relation if they are on the driver and not too many, else None."""
        if relation not in self._on_driver:
            return None
        try:
            with self._driver:
                rows = self.local.arrow(relation, self._fetched_rows + 1)
        except duckdb.OutOfMemoryException:
            return None
        return rows if rows.num_rows <= self._fetched_rows else None

    def frame(self, relation: str) -> DataFrame:
        """The frame of a relation; if it is on the driver, sent to Spark or made there again."""
        self._send({relation})
        return self.remote.spark.table(relation)

    def release(self) -> None:
        """Forget all relations that were made."""
        if self._remote is not None:
            self._remote.release()
        self.local.connection.close()

    def _make_remote(self, statement: Statement) -> None:
        self._send(_read_by(statement.select))
        self.register(statement.name, self.remote.frame(statement.select), statement.keep)

    def _send(self, names: set[str]) -> None:
        """Make relations of the driver known to Spark; the small ones every task gets."""
        for name in (names & self._on_driver) - self._sent:
            if name in self._stored:
                self.remote.register(name, self._stored[name]())
            elif (statement := self._made.get(name)) is None:
                with self._driver:
                    rows = self.local.arrow(name)
                self.remote.send(name, rows)
            elif name not in self._large and (fetched := self.fetched(name)) is not None:
                self.remote.send(name, fetched)
            else:
                self._send(_read_by(statement.select))
                keep: Keep = "view" if statement.keep == "view" else "cache"
                self.remote.register(name, self.remote.frame(statement.select), keep)
            self._sent.add(name)


def _read_by(query: exp.Query) -> set[str]:
    """The names of the relations that a query reads."""
    return {table.name for table in query.find_all(exp.Table)}
