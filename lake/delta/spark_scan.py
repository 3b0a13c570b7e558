"""Delta tables as Spark frames, read by the list of their files if these are few.

Delta's own reader runs several Spark jobs before it reads a row: it computes the state of the table
from its log, and then filters the files. For a table of few files this is most of the time.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import StructType

from weir.lake.delta.data_files import are_the_rows, files_after, is_pattern, names_of
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
    fields: dict[str, Any] = json.loads(table.schema().to_json())
    schema = StructType.fromJson(fields)
    # A file may lack columns that the table got later.
    return spark.read.schema(schema).parquet(*files) if files else spark.createDataFrame([], schema)


def _few_files(table: DeltaTable, address: str, after_epoch: int | None) -> list[str] | None:
    """The addresses of a table's files; None if they are many, or do not determine its rows."""
    files = files_after(table, after_epoch)
    if not are_the_rows(table) or files.num_rows > _FEW_FILES:
        return None
    paths = names_of(files)
    # A cloned table names files of another table by their whole address.
    if any("://" in path or path.startswith("/") for path in paths) or is_pattern(address):
        return None
    return [f"{address.rstrip('/')}/{path}" for path in paths]
