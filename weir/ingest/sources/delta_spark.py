"""The rows of a Delta table as Spark reads them, however many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import (
    DataFrame,
    SparkSession,
)
from pyspark.sql import (
    functions as F,  # noqa: N812
)

from weir.compute.engine import Engine
from weir.ingest.netting import QUAD
from weir.lake.delta.change_feed import CHANGE_TYPE, COMMIT_VERSION, changes_of

if TYPE_CHECKING:
    from weir.ingest.sources.delta import Columns


@dataclass(frozen=True, slots=True)
class SparkRows:
    """Reads a table by Spark."""

    spark: SparkSession
    location: str
    columns: Columns

    def content(self, version: int) -> DataFrame:
        """The rows of a version."""
        reader = self.spark.read.format("delta").option("versionAsOf", version)
        stored = reader.load(self.location)
        return stored.select(*self._quads(stored))

    def changes(self, first: int, last: int) -> DataFrame:
        """The rows that commits changed."""
        feed = changes_of(self.spark, self.location, first, last)
        return feed.select(CHANGE_TYPE, COMMIT_VERSION, *self._quads(feed))

    def near(self, engine: Engine, version: int, changes: str) -> DataFrame:
        """All rows of a version, which are more than those near the `changes`."""
        del engine, changes
        return self.content(version)

    def many(self, engine: Engine, relation: str) -> DataFrame:
        """A relation with more rows than the driver looks at one by one."""
        return engine.frame(relation)

    def _quads(self, rows: DataFrame) -> list[Any]:
        terms = [
            F.lit("") if name is None else F.coalesce(F.col(name), F.lit(""))
            for name in self.columns.of_quad
        ]
        named = [term.alias(name) for term, name in zip(terms, QUAD, strict=True)]
        return [*named, self._time(rows).cast("string").alias("time")]

    def _time(self, rows: DataFrame) -> Any:
        if self.columns.time is None:
            return F.lit(None)
        time = F.col(self.columns.time)
        match rows.select(time).dtypes[0][1]:
            case "timestamp":
                return F.unix_micros(time)
            case "timestamp_ntz":
                return F.date_format(time, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS")
            case _:
                return time
