"""Maintain a query, or a group of queries, over a history with Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

from tests.support.duck import DuckOfTest
from tests.support.harness import LOOKED_UP, History, Memory
from tests.support.shared_shapes import GroupMemory
from weir.compute.budget import Budget
from weir.compute.engine import Engine, SparkShape
from weir.compute.placement import Placement
from weir.engine.thresholds import Thresholds
from weir.lake.lake import Lake
from weir.plan.plan import Plan
from weir.settings import Limits


class _OnSpark(Memory):
    """Statements are run by Spark, or by both engines, as `driver_rows` says."""

    spark: SparkSession
    driver_rows = 0

    def run(
        self, after: int, last: int, *, thresholds: Thresholds = LOOKED_UP, initial: bool = False
    ) -> None:
        """Process the epochs (after, last]; with `initial`, from nothing."""
        with spark_engine(self.spark, self.driver_rows) as engine:
            for name in self.tables:
                rows = self.connection.sql(f"SELECT * FROM {name}").to_arrow_table()
                engine.load(name, self.spark.createDataFrame(rows))
            made = self.made(engine, after, last, thresholds, initial=initial)
            rows = engine.frame(made).toArrow()
        self.connection.register("new_rows", rows)
        self.connection.execute("INSERT INTO stored SELECT * FROM new_rows")
        self.connection.unregister("new_rows")


class SparkMemory(_OnSpark):
    """Like `Memory`, with every statement run by Spark (or by both, as `driver_rows` says)."""

    def __init__(
        self, spark: SparkSession, plan: Plan, history: History, driver_rows: int = 0
    ) -> None:
        super().__init__(plan, history)
        self.spark = spark
        self.driver_rows = driver_rows


class SparkGroupMemory(_OnSpark, GroupMemory):
    """Like `GroupMemory`, with every statement run by Spark."""

    def __init__(self, spark: SparkSession, members: Mapping[str, Plan], history: History) -> None:
        super().__init__(members, history)
        self.spark = spark


@contextmanager
def spark_engine(spark: SparkSession, driver_rows: int = 0) -> Iterator[Engine]:
    """An engine that leaves to Spark what has more than `driver_rows` rows; it stores no tables.

    Its statements together may take `query_seconds`.
    """
    with Engine(
        Lake("no tables are stored"),
        lambda: spark,
        DuckOfTest(),
        Placement(driver_rows, 10**9, 10**9, 10**9),
        SparkShape(broadcast_rows=10, rows_per_file=10**9),
    ) as engine:
        yield engine.within(Budget(Limits().query_seconds))
