"""Run a SELECT over Delta tables: in the driver's own process if they are small, else on Spark.

A Spark job over a dozen rows costs a second of planning per table; DuckDB over the same files takes
milliseconds. It is the same statement, so the rows are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from jobs.compute.connection import connect
from jobs.settings import Settings
from lake.lake import Lake
from lake.scan import attach
from lake.session import read

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Relation:
    """A Delta table under the name that a statement has for it.

    Names are unique among all statements that run at the same time.
    """

    name: str
    table: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A SELECT and the relations that it names."""

    query: exp.Query
    relations: tuple[Relation, ...]

    def on_driver(self, settings: Settings, lake: Lake) -> pa.Table:
        """The rows, computed by DuckDB."""
        connection = connect(settings)
        for relation in self.relations:
            table = _open(lake, relation)
            attach(connection, relation.name, table)
        rows: pa.Table = connection.sql(self.query.sql(dialect="duckdb")).to_arrow_table()
        return rows

    def on_spark(self, spark: SparkSession, lake: Lake) -> DataFrame:
        """The rows, as a Spark frame."""
        for relation in self.relations:
            frame = read(spark, lake, relation.table, relation.version)
            frame.createOrReplaceTempView(relation.name)
        rows = spark.sql(self.query.sql(dialect="spark"))
        # The frame has the tables in its plan; it needs the names no more.
        for relation in self.relations:
            spark.catalog.dropTempView(relation.name)
        return rows


@dataclass(frozen=True, slots=True)
class SmallTable:
    """A table that the driver may read, and how many rows it has."""

    table: DeltaTable
    rows: int


def is_small(
    settings: Settings, lake: Lake, relation: Relation, after_epoch: int, rows: int
) -> bool:
    """Whether a table is so small that the driver may read it, and has few rows after an epoch.

    By what the log says of the files: their sizes, and the rows of those that may have such rows.
    """
    files = pa.table(_open(lake, relation).get_add_actions(flatten=True))
    if (pc.sum(files["size_bytes"]).as_py() or 0) > settings.limits.local_table_bytes:
        return False
    return _rows_after(files, after_epoch) <= rows


def small_table(settings: Settings, lake: Lake, table_name: str) -> SmallTable | None:
    """A table for the driver to read; None if it is not small, or there is none."""
    stored = lake.open(table_name)
    if stored is None:
        return None
    files = pa.table(stored.get_add_actions(flatten=True))
    if not files.num_rows:
        return SmallTable(stored, 0)
    size, rows = (pc.sum(files[name]).as_py() for name in ("size_bytes", "num_records"))
    if rows is None or size > settings.limits.local_table_bytes:
        return None
    return SmallTable(stored, rows)


def has_few_new_rows(lake: Lake, relation: Relation, after_epoch: int, rows: int) -> bool:
    """Whether a table, large or small, has few rows after an epoch, in files of their own."""
    files = pa.table(_open(lake, relation).get_add_actions(flatten=True))
    return _rows_after(files, after_epoch) <= rows


def _rows_after(files: pa.Table, after_epoch: int) -> int:
    """At most so many rows have a later epoch."""
    if not files.num_rows or "max.epoch" not in files.column_names:
        return int(pc.sum(files["num_records"]).as_py() or 0) if files.num_rows else 0
    newest = files["max.epoch"]
    later = pc.or_kleene(pc.is_null(newest), pc.greater(newest, pa.scalar(after_epoch)))
    return int(pc.sum(files.filter(later)["num_records"]).as_py() or 0)


def _open(lake: Lake, relation: Relation) -> DeltaTable:
    table = lake.open(relation.table, relation.version)
    assert table is not None, f"{relation.table} was there a moment ago"
    return table
