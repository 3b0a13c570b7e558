"""Commits: create a table, append to it, overwrite it; each commit carries its `Metadata`."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from deltalake import (
    CommitProperties,
    DeltaTable,
    Field,
    Schema,
    WriterProperties,
    write_deltalake,
)
from deltalake.exceptions import DeltaError
from deltalake.schema import PrimitiveType

from lake.lake import Lake
from lake.metadata import Metadata
from lake.tables import ColumnType, Table

if TYPE_CHECKING:  # the ledger and the command line commit without Spark
    from pyspark.sql import DataFrame, DataFrameWriter

KILL_AT = "WEIR_KILL_AT"
"""Environment variable: the checkpoint at which the process kills itself; for tests only."""

_DELTA_TYPES: Mapping[ColumnType, str] = {
    "STRING": "string",
    "BIGINT": "long",
    "INT": "integer",
    "DOUBLE": "double",
    "BOOLEAN": "boolean",
    "TIMESTAMP": "timestamp",
}
WRITER = WriterProperties(compression="SNAPPY", max_row_group_size=100_000)
"""How files are written; statistics of small groups let readers skip more of a sorted file."""
_ARROW_TYPES: Mapping[ColumnType, pa.DataType] = {
    "STRING": pa.string(),
    "BIGINT": pa.int64(),
    "INT": pa.int32(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
}


def checkpoint(name: str) -> None:
    """The fault-injection point `name`: dies by SIGKILL here if `WEIR_KILL_AT` names it.

    Every commit passes `<job>:before:<table>` and `<job>:after:<table>`, so that a test can show
    that a run that died there loses nothing and does nothing twice.
    """
    if os.environ.get(KILL_AT) == name:
        os.kill(os.getpid(), signal.SIGKILL)


def arrow_schema(table: Table) -> pa.Schema:
    """The Arrow schema of a table's rows."""
    return pa.schema([(column.name, _ARROW_TYPES[column.type]) for column in table.columns])


def create_if_missing(lake: Lake, table: Table) -> DeltaTable:
    """The table; created as defined (columns, comments, properties), empty, if it is missing."""
    stored = lake.open(table.name)
    if stored is not None:
        return stored
    fields = [
        Field(c.name, PrimitiveType(_DELTA_TYPES[c.type]), metadata={"comment": c.comment})
        for c in table.columns
    ]
    try:
        DeltaTable.create(
            lake.location(table.name),
            Schema(fields),
            description=table.comment,
            configuration=dict(table.properties),
            storage_options=lake.storage_options,
        )
    except DeltaError:
        # Somebody else created it at the same moment.
        if not lake.exists(table.name):
            raise
    return lake.existing(table.name)


def append(
    lake: Lake,
    table: Table,
    frame: DataFrame,
    metadata: Metadata,
    *,
    files: int | None = None,
    merge_schema: bool = False,
) -> int:
    """Append the rows of a Spark frame in one commit and return its version.

    Creates a missing table. Columns are taken by name and cast to the table's definition; each
    file is sorted by `table.cluster_by`.

    Args:
        files: how many files to write; more than one are cut by ranges of `cluster_by`, which
            computes `frame` twice. By default as many as `frame` has partitions.
        merge_schema: whether columns that the stored table does not have are added to it.

    Raises:
        pyspark.errors.AnalysisException: `frame` lacks a column of the table.
    """
    create_if_missing(lake, table)
    writer = _writer(table, frame, metadata, files).mode("append")
    if merge_schema:
        writer = writer.option("mergeSchema", "true")
    return _save(lake, table, writer, metadata)


def overwrite(
    lake: Lake, table: Table, frame: DataFrame, metadata: Metadata, *, files: int | None = None
) -> int:
    """Replace all rows, and the columns too, in one commit and return its version."""
    create_if_missing(lake, table)
    writer = (
        _writer(table, frame, metadata, files).mode("overwrite").option("overwriteSchema", "true")
    )
    return _save(lake, table, writer, metadata)


def append_rows(
    lake: Lake,
    table: Table,
    rows: pa.Table | Sequence[Mapping[str, Any]],
    metadata: Metadata,
) -> int:
    """Append some rows without Spark in one commit and return its version; creates a missing table.

    For the small tables: 5 ms instead of 150. Mappings may leave columns out; they become null.
    """
    if not isinstance(rows, pa.Table):
        rows = pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema(table))
    return _write_rows(lake, table, rows, metadata, "append")


def overwrite_rows(lake: Lake, table: Table, rows: pa.Table, metadata: Metadata) -> int:
    """`overwrite` without Spark, for rows that the driver has."""
    return _write_rows(lake, table, rows, metadata, "overwrite")


def _write_rows(
    lake: Lake,
    table: Table,
    rows: pa.Table,
    metadata: Metadata,
    mode: Literal["append", "overwrite"],
) -> int:
    stored = create_if_missing(lake, table)
    # Others may have rearranged its files since it was opened.
    stored.update_incremental()
    names = [field.name for field in stored.schema().fields]
    # Replacing the columns would take their comments away.
    replaces_columns = mode == "overwrite" and names != list(table.column_names)
    checkpoint(f"{metadata.job}:before:{table.name}")
    write_deltalake(
        stored,
        rows.select(list(table.column_names)).cast(arrow_schema(table)),
        mode=mode,
        schema_mode="overwrite" if replaces_columns else None,
        writer_properties=WRITER,
        commit_properties=CommitProperties(custom_metadata={"userMetadata": metadata.to_json()}),
    )
    checkpoint(f"{metadata.job}:after:{table.name}")
    return _version_of(lake, table, metadata)


def _writer(
    table: Table, frame: DataFrame, metadata: Metadata, files: int | None
) -> DataFrameWriter:
    rows = frame.selectExpr(*(f"CAST(`{c.name}` AS {c.type}) AS `{c.name}`" for c in table.columns))
    if files == 1:
        rows = rows.coalesce(1)
    elif files is not None and table.cluster_by:
        rows = rows.repartitionByRange(files, *table.cluster_by)
    elif files is not None:
        rows = rows.repartition(files)
    if table.cluster_by:
        rows = rows.sortWithinPartitions(*table.cluster_by)
    return rows.write.format("delta").option("userMetadata", metadata.to_json())


def _save(lake: Lake, table: Table, writer: DataFrameWriter, metadata: Metadata) -> int:
    checkpoint(f"{metadata.job}:before:{table.name}")
    writer.save(lake.location(table.name))
    checkpoint(f"{metadata.job}:after:{table.name}")
    return _version_of(lake, table, metadata)


def _version_of(lake: Lake, table: Table, metadata: Metadata) -> int:
    """The version of the newest commit with this metadata: others may have committed since."""
    lake.committed(table.name)
    text = metadata.to_json()
    for commit in lake.commits(table.name):
        if commit.get("userMetadata") == text:
            return int(commit["version"])
    raise LookupError(f"{table.name}: the commit of run {metadata.run_id} is not in the history")


def rows_written(lake: Lake, table_name: str, version: int) -> int:
    """How many rows the commit `version` wrote, by its commit information; 0 if that is silent."""
    for commit in lake.commits(table_name):
        if commit["version"] == version:
            return int(commit.get("operationMetrics", {}).get("numOutputRows", 0))
    return 0
