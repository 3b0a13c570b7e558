"""Maintain a query over streams with Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

from tests.support.spark_harness import spark_engine
from tests.support.streams.memory import StreamMemory
from weir.timeline.legs import Leg
from weir.timeline.timeline import Timeline


class SparkStreamMemory(StreamMemory):
    """Like `StreamMemory`, with every statement run by `spark`."""

    spark: SparkSession

    def new_rows(self, timeline: Timeline, leg: Leg) -> list[tuple[object, ...]]:
        """The rows that a leg stores."""
        inputs = {**self.inputs(leg), "stored": "SELECT * FROM stored"}
        with spark_engine(self.spark) as engine:
            for name, query in inputs.items():
                rows = self.connection.sql(query).to_arrow_table()
                engine.load(name, self.spark.createDataFrame(rows))
            table = engine.frame(self.made(engine, timeline, leg)).toArrow()
        return [tuple(row.values()) for row in table.to_pylist()]
