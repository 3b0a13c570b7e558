"""Maintain a query, or a group of queries, over a history with Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

from jobs.compute.engine import Engine, SparkShape
from jobs.compute.placement import Placement
from jobs.engine.fixpoint import make
from jobs.engine.plan_delta import plan_delta
from jobs.engine.read_graph import Thresholds, changes_relation, read_neighbourhood
from jobs.engine.relations import EpochRange
from jobs.plan.plan import Plan
from lake.lake import Lake
from tests.support.duck import DuckOfTest
from tests.support.harness import LOOKED_UP, History, Memory
from tests.support.shared_shapes import GroupMemory


class SparkMemory(Memory):
    """Like `Memory`, with every statement run by Spark (or by both, as `driver_rows` says)."""

    def __init__(
        self, spark: SparkSession, plan: Plan, history: History, driver_rows: int = 0
    ) -> None:
        super().__init__(plan, history)
        self.spark = spark
        self.driver_rows = driver_rows

    def run(
        self, after: int, last: int, *, thresholds: Thresholds = LOOKED_UP, initial: bool = False
    ) -> None:
        """Process the epochs (after, last]."""
        assert not initial, "on Spark every epoch is processed"
        run_on_spark(self, self.spark, EpochRange(after, last, after == 0), thresholds)


class SparkGroupMemory(GroupMemory):
    """Like `GroupMemory`, with every statement run by Spark."""

    def __init__(self, spark: SparkSession, members: Mapping[str, Plan], history: History) -> None:
        super().__init__(members, history)
        self.spark = spark

    def run(
        self, after: int, last: int, *, thresholds: Thresholds = LOOKED_UP, initial: bool = False
    ) -> None:
        """Process the epochs (after, last]."""
        assert not initial, "on Spark every epoch is processed"
        run_on_spark(self, self.spark, EpochRange(after, last, after == 0), thresholds)


@contextmanager
def spark_engine(spark: SparkSession, driver_rows: int = 0) -> Iterator[Engine]:
    """An engine that leaves to Spark what has more than `driver_rows` rows; it stores no tables."""
    engine = Engine(
        Lake("no tables are stored"),
        lambda: spark,
        DuckOfTest(),
        Placement(driver_rows, 10**9, 10**9, 10**9),
        SparkShape(broadcast_rows=10, rows_per_file=10**9),
    )
    try:
        yield engine
    finally:
        engine.release()


def run_on_spark(
    memory: Memory, spark: SparkSession, epochs: EpochRange, thresholds: Thresholds
) -> None:
    """Process the epochs of a range."""
    driver_rows = memory.driver_rows if isinstance(memory, SparkMemory) else 0
    with spark_engine(spark, driver_rows) as engine:
        for name in memory.tables:
            rows = memory.connection.sql(f"SELECT * FROM {name}").to_arrow_table()
            engine.load(name, spark.createDataFrame(rows))
        graphs = {}
        for i, scope in enumerate(dict.fromkeys(c.scope for c in memory.components)):
            parts = [c for c in memory.components if c.scope == scope]
            changes = f"changes{i}"
            changes_relation(engine, scope, epochs, changes)
            read = read_neighbourhood(
                engine, parts, changes, scope, epochs, thresholds, f"scope{i}"
            )
            graphs[scope] = read.relation
        delta = plan_delta(memory.plan, epochs, memory.inputs(graphs), "q")
        for statement in (*delta.statements, delta.result):
            make(engine, statement)
        rows = engine.frame(delta.result.name).toArrow()
    memory.connection.register("new_rows", rows)
    memory.connection.execute("INSERT INTO stored SELECT * FROM new_rows")
    memory.connection.unregister("new_rows")
