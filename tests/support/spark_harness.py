"""Maintain a query over a history with the engine's Spark side."""

from __future__ import annotations

import duckdb
import pyarrow as pa
from pyspark.sql import SparkSession

from jobs.compute.duck import DuckEngine
from jobs.compute.engine import Engine, SparkShape
from jobs.compute.placement import Placement
from jobs.engine.fixpoint import make
from jobs.engine.plan_delta import plan_delta
from jobs.engine.read_graph import Thresholds, changes_relation, read_neighbourhood
from jobs.engine.relations import EpochRange, Inputs
from jobs.plan.plan import Plan
from lake.lake import Lake
from tests.support.harness import LOOKED_UP, History, Memory


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
        """Take the epochs (after, last] in."""
        assert not initial, "the Spark side takes every epoch in"
        engine = Engine(
            Lake("no tables are stored"),
            lambda: self.spark,
            DuckEngine(duckdb.connect()),
            Placement(self.driver_rows, 10**9, 10**9, 10**9),
            SparkShape(broadcast_rows=10, rows_per_file=10**9),
        )
        try:
            for name in ("quads", "triples", "stored"):
                rows = self.connection.sql(f"SELECT * FROM {name}").to_arrow_table()
                engine.load(name, self.spark.createDataFrame(rows))
            epochs = EpochRange(after, last, after == 0)
            graphs = {}
            for i, scope in enumerate(dict.fromkeys(c.scope for c in self.plan.components)):
                parts = [c for c in self.plan.components if c.scope == scope]
                changes = f"changes{i}"
                changes_relation(engine, scope, epochs, changes)
                read = read_neighbourhood(
                    engine, parts, changes, scope, epochs, thresholds, f"scope{i}"
                )
                graphs[scope] = read.relation
            delta = plan_delta(self.plan, epochs, Inputs(graphs, "stored"), "q")
            for statement in (*delta.statements, delta.result):
                make(engine, statement)
            found = engine.fetch(delta.result.name)
            rows = found if isinstance(found, pa.Table) else found.toArrow()
        finally:
            engine.release()
        self.connection.register("new_rows", rows)
        self.connection.execute("INSERT INTO stored SELECT * FROM new_rows")
        self.connection.unregister("new_rows")
