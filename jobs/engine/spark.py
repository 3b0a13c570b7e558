"""Run the engine's statements on Spark; the only Spark file of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf

from jobs.engine.evaluation import (
    AGGREGATE,
    EVALUATE,
    SORT_KEY,
    aggregate_batch,
    evaluate_batch,
    sort_keys,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from sqlglot import exp

    from jobs.engine.relations import Keep, Statement

DIALECT = "spark"


class SparkEngine:
    """An engine over one session; relations are temporary views, some of them persisted.

    Temporary views belong to the whole session, so every relation's name must be the run's own.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self._views: list[str] = []
        self._persisted: list[DataFrame] = []

        for name, function in _FUNCTIONS.items():
            registered = arrow_udf(function, "string")  # type: ignore[call-overload]
            spark.udf.register(name, registered)

    def make(self, statement: Statement) -> None:
        """Make a relation; nothing is computed before it is read."""
        self.register(statement.name, self.frame(statement.select), statement.keep)

    def register(self, name: str, frame: DataFrame, keep: Keep = "view") -> None:
        """Make a frame known as relation `name`."""
        match keep:
            case "cache":
                frame = self._persist(frame)
            case "small":
                frame = _cut(frame)
            case "broadcast":
                frame = F.broadcast(_cut(frame))
            case _:
                pass
        frame.createOrReplaceTempView(name)
        self._views.append(name)

    def send(self, name: str, rows: pa.Table) -> None:
        """Make rows of the driver known as relation `name`; few, so every task gets them all."""
        self.register(name, F.broadcast(self.spark.createDataFrame(rows)))

    def frame(self, query: exp.Query) -> DataFrame:
        """The frame of a query."""
        return self.spark.sql(query.sql(dialect=DIALECT))

    def count(self, relation: str) -> int:
        """The number of rows of a relation; computes it if it is kept."""
        return self.spark.table(relation).count()

    def rows(self, query: exp.Query) -> list[tuple[object, ...]]:
        """The rows of a query whose result is small by construction."""
        return [tuple(row) for row in self.frame(query).collect()]

    def release(self) -> None:
        """Forget all relations that were made."""
        for frame in self._persisted:
            frame.unpersist()
        for view in self._views:
            self.spark.catalog.dropTempView(view)
        self._persisted.clear()
        self._views.clear()

    def _persist(self, frame: DataFrame) -> DataFrame:
        self._persisted.append(frame.persist())
        return frame


def _cut(frame: DataFrame) -> DataFrame:
    """The rows of `frame` in one partition, with its plan cut off.

    Joins of relations in one partition need neither shuffle nor broadcast. Without the cut, Spark
    would analyse the plans of all relations that a relation was made from wherever it is named:
    with three hops and five patterns that is exponential, and took minutes.
    """
    return frame.coalesce(1).localCheckpoint(eager=True)


# Spark reads the kind of a function from its annotations: plain Arrow arrays.
def _sparql_eval(expressions: pa.Array, terms: pa.Array) -> pa.Array:  # type: ignore[type-arg]
    return evaluate_batch(expressions, terms)


def _sparql_sort_key(terms: pa.Array) -> pa.Array:  # type: ignore[type-arg]
    return sort_keys(terms)


def _sparql_aggregate(specifications: pa.Array, items: pa.Array) -> pa.Array:  # type: ignore[type-arg]
    return aggregate_batch(specifications, items)


_FUNCTIONS = {
    EVALUATE: _sparql_eval,
    SORT_KEY: _sparql_sort_key,
    AGGREGATE: _sparql_aggregate,
}
