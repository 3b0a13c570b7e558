"""Delta tables as Spark frames, read by the list of their files if these are few.

Delta's own reader runs several Spark jobs before it reads a row: it computes the state of the table
from its log, and then filters the files. For a table of few files this is most of the time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from weir.lake.delta.change_feed import CHANGE_TYPE, INSERT, CommittedFiles
from weir.lake.delta.data_files import are_the_rows, files_after, names_of
from weir.lake.delta.session import read
from weir.lake.lake import Lake

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from pyspark.sql import DataFrame, SparkSession

_FEW_FILES = 32
"""Spark's driver lists so many files by itself; for more it starts tasks, as Delta does."""


def scan(
    spark: SparkSession,
    lake: Lake,
    table_name: str,
    version: int | None = None,
    after_epoch: int | None = None,
) -> DataFrame:
    """The rows of a table; nothing is read yet.

    Args:
        spark: the session.
        lake: has the table.
        table_name: of the table.
        version: of the table; by default the one that the lake has open.
        after_epoch: files without rows of a later epoch may be left out.
    """
    table = lake.open(table_name, version)
    files = None if table is None else _few_files(table, lake.location(table_name), after_epoch)
    if table is None or files is None:
        return read(spark, lake, table_name, version)
    return _rows_of_files(spark, _schema(table), files)


def scan_feed(
    spark: SparkSession, lake: Lake, table_name: str, feed: Sequence[CommittedFiles]
) -> DataFrame:
    """The rows of a feed, with `_change_type`; nothing is read yet."""
    address, schema = lake.location(table_name).rstrip("/"), _schema(lake.existing(table_name))
    by_kind: dict[str, list[str]] = {INSERT: []}
    for files in feed:
        by_kind.setdefault(files.kind, []).extend(f"{address}/{name}" for name in files.names)
    parts = (
        _rows_of_files(spark, schema, paths).withColumn(CHANGE_TYPE, F.lit(kind))
        for kind, paths in by_kind.items()
    )
    return reduce(lambda upper, lower: upper.unionByName(lower), parts)


def _schema(table: DeltaTable) -> StructType:
    fields: dict[str, Any] = json.loads(table.schema().to_json())
    return StructType.fromJson(fields)


def _rows_of_files(spark: SparkSession, schema: StructType, paths: Sequence[str]) -> DataFrame:
    """The rows of files; one may lack columns that the table got later."""
    if paths:
        # The names are no patterns, even if they contain brackets or stars.
        return spark.read.schema(schema).option("__globPaths__", "false").parquet(*paths)
    # The limit lets the planner know that there is no row.
    return spark.createDataFrame([], schema).limit(0)


def _few_files(table: DeltaTable, address: str, after_epoch: int | None) -> list[str] | None:
    """The addresses of a table's files; None if they are many, or do not determine its rows."""
    files = files_after(table, after_epoch)
    if not are_the_rows(table) or files.num_rows > _FEW_FILES:
        return None
    paths = names_of(files)
    # A cloned table names files of another table by their whole address.
    if any("://" in path or path.startswith("/") for path in paths):
        return None
    return [f"{address.rstrip('/')}/{path}" for path in paths]
