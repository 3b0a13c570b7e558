"""Large batches on Spark: the same statements, over frames of any size."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import count

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp
from sqlglot.expressions import select

from jobs.compute.relations import Statement
from jobs.compute.spark import SparkEngine
from jobs.compute.sql import column
from jobs.ingest import netting
from jobs.ingest.engine import Frame
from jobs.settings import Settings
from lake.commit import write
from lake.lake import Lake
from lake.metadata import Metadata
from lake.session import read
from lake.staging import remove
from lake.tables import QUADS, Table


class DistributedEngine:
    """Relations as temporary views of a Spark session.

    `staging` is the folder or URI for rows of the driver that are too many for a plan.
    """

    def __init__(self, spark: SparkSession, settings: Settings, lake: Lake, staging: str) -> None:
        self.spark = spark
        self.relations = SparkEngine(spark, settings.limits.broadcast_rows)
        self._staging = staging
        # A run that died may have left something.
        remove(spark, staging)
        self._limits = settings.limits
        self._lake = lake
        self._numbers = count()

    def register(self, name: str, frames: Sequence[Frame]) -> None:
        """Make frames known as one relation; many rows of the driver are staged first."""
        parts = [self._frame(frame) for frame in frames]
        self.relations.register(name, reduce(DataFrame.unionByName, parts))

    def make(self, statement: Statement) -> None:
        """Make a relation."""
        self.relations.make(statement)

    def rows(self, query: exp.Query) -> list[tuple[object, ...]]:
        """The rows of a query."""
        return self.relations.rows(query)

    def open(self, name: str, table: Table, **only: Sequence[str]) -> None:
        """Make a stored table known, or some of its rows."""
        rows = read(self.spark, self._lake, table.name)
        for column_name, values in only.items():
            rows = rows.filter(rows[column_name].isin(*values))
        self.relations.register(name, rows)

    def quads_about(self, name: str, operations: str, until: int) -> None:
        """Join the stored quads with the operations, in one scan."""
        distinct = select(column("predicate")).distinct().from_(operations)
        most = self._limits.literal_predicates
        found = [str(row[0]) for row in self.rows(distinct.limit(most + 1))]
        few = found if len(found) <= most else None
        self.quads_between(f"{name}_all", 0, until)
        about = netting.rows_about(f"{name}_all", operations, predicates=few)
        self.make(Statement(name, about))

    def quads_of(self, name: str, source: str, owners: str, until: int) -> None:
        """Join the stored quads with the source's graphs."""
        self.quads_between(f"{name}_all", 0, until)
        owned = (
            select(column("graph"))
            .from_(owners)
            .where(column("source").eq(exp.Literal.string(source)))
        )
        in_graphs = (
            select("stored.*")
            .from_(exp.to_table(f"{name}_all", alias="stored"))
            .join(
                owned.subquery("owned"),
                on=column("graph", "stored").eq(column("graph", "owned")),
                join_type="left semi",
            )
        )
        self.make(Statement(name, in_graphs))

    def quads_between(self, name: str, after: int, until: int) -> None:
        """Read some epochs.

        Delta reads the newest version whenever a frame is computed; the epochs tell what was there
        when the batch began.
        """
        quads = read(self.spark, self._lake, QUADS.name)
        self.relations.register(name, quads.filter(f"epoch > {after} AND epoch <= {until}"))

    def append(self, table: Table, query: exp.Query, metadata: Metadata, rows: int) -> int:
        """Append the rows of a query, in files of about `limits.rows_per_file` rows."""
        return write(
            self._lake,
            table,
            self.relations.frame(query),
            metadata,
            files=-(-rows // self._limits.rows_per_file) or 1,
        )

    def release(self) -> None:
        """Forget all relations and remove what was staged."""
        self.relations.release()
        remove(self.spark, self._staging)

    def _frame(self, frame: Frame) -> DataFrame:
        if not isinstance(frame, pa.Table):
            return frame
        rows = self.spark.createDataFrame(frame)
        if frame.num_rows <= self._limits.broadcast_rows:
            return rows
        folder = f"{self._staging}/driver-{next(self._numbers)}"
        rows.write.parquet(folder)
        return self.spark.read.schema(rows.schema).parquet(folder)
