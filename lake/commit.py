"""Commits: create a table, append to it or overwrite it; each commit carries its `Metadata`."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

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

from lake.interrupts import heed
from lake.lake import Lake
from lake.metadata import Metadata
from lake.old_commits import delete_old_commits_as_they_arise
from lake.small_files import merge_small_files
from lake.storage_errors import storage_errors
from lake.tables import ColumnType, Table

if TYPE_CHECKING:  # the ledger and the command line commit without Spark
    from pyspark.sql import DataFrame, DataFrameWriter

KILL_AT = "WEIR_KILL_AT"
"""Environment variable: the checkpoint at which the process kills itself; for tests only."""

Rows: TypeAlias = "pa.Table | pa.RecordBatchReader | Sequence[Mapping[str, Any]] | DataFrame"
"""Rows of this process, or rows that Spark computes."""
SaveMode = Literal["append", "overwrite"]

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
    """The point `name` before or after a commit, where a process that is to end ends.

    It dies by SIGKILL here if `WEIR_KILL_AT` names the point. Every commit passes
    `<job>:before:<table>` and `<job>:after:<table>`, so that a test can show that a run that died
    there loses nothing and does nothing twice.

    Raises:
        KeyboardInterrupt: the user has interrupted the process.
    """
    heed()
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
        # Another process created it at the same moment.
        if not lake.exists(table.name):
            raise
    return lake.existing(table.name)


def write(
    lake: Lake,
    table: Table,
    rows: Rows,
    metadata: Metadata,
    *,
    mode: SaveMode = "append",
    files: int | None = None,
    merge_schema: bool = False,
) -> int:
    """Write rows in one commit and return its version; creates a missing table.

    A Spark frame is written by Spark, everything else by delta-rs in this process, which takes 5 ms
    instead of 150 for a few rows. Columns are taken by name and cast to the table's definition.
    If the table then has many small files, these are merged in a second commit, and if its log has
    more commits than it keeps, old ones are deleted.

    Args:
        lake: which holds the table.
        table: its definition.
        rows: the rows; a reader is streamed, and mappings may leave columns out, which become null.
        metadata: of the commit.
        mode: `append`, or `overwrite` all rows, and the columns too.
        files: how many files Spark writes; more than one are cut by ranges of `cluster_by`, which
            computes the frame twice. By default as many as the frame has partitions.
        merge_schema: whether columns that the stored table does not have are added to it.

    Raises:
        pyspark.errors.AnalysisException, KeyError: the rows lack a column of the table.
        StorageError: the disk is full, or files cannot be read or written for another reason.
    """
    with storage_errors(lake.location(table.name)):
        stored = create_if_missing(lake, table)
        # Others may have rearranged its files since it was opened.
        stored.update_incremental()
        checkpoint(f"{metadata.job}:before:{table.name}")
        match rows:
            case pa.RecordBatchReader() | pa.Table():
                _write_here(stored, table, rows, metadata, mode, merge_schema=merge_schema)
            case Sequence():
                dicts = [dict(row) for row in rows]
                taken = pa.Table.from_pylist(dicts, schema=arrow_schema(table))
                _write_here(stored, table, taken, metadata, mode, merge_schema=merge_schema)
            case _:
                writer = _spark_writer(table, rows, metadata, files).mode(mode)
                if mode == "overwrite":
                    writer = writer.option("overwriteSchema", "true")
                elif merge_schema:
                    writer = writer.option("mergeSchema", "true")
                writer.save(lake.location(table.name))
        checkpoint(f"{metadata.job}:after:{table.name}")
        lake.committed(table.name)
        version = _version_of(lake, table, metadata)
        if mode == "append" and merge_small_files(lake.existing(table.name), WRITER):
            lake.committed(table.name)
        delete_old_commits_as_they_arise(lake, table)
    return version


def rows_written(lake: Lake, table_name: str, version: int) -> int:
    """How many rows the commit `version` wrote, by its commit information; 0 if that is silent."""
    for commit in lake.commits(table_name):
        if commit["version"] == version:
            metrics = commit.get("operationMetrics", {})
            # Spark's name, then that of delta-rs.
            return int(metrics.get("numOutputRows", metrics.get("num_added_rows", 0)))
    return 0


def _write_here(
    stored: DeltaTable,
    table: Table,
    rows: pa.Table | pa.RecordBatchReader,
    metadata: Metadata,
    mode: SaveMode,
    *,
    merge_schema: bool,
) -> None:
    if isinstance(rows, pa.Table):
        rows = rows.select(list(table.column_names)).cast(arrow_schema(table))
    schema_mode: Literal["overwrite", "merge"] | None = "merge" if merge_schema else None
    if mode == "overwrite":
        names = [field.name for field in stored.schema().fields]
        # Replacing the columns would remove their comments.
        schema_mode = "overwrite" if names != list(table.column_names) else None
    write_deltalake(
        stored,
        rows,
        mode=mode,
        schema_mode=schema_mode,
        writer_properties=WRITER,
        commit_properties=CommitProperties(custom_metadata={"userMetadata": metadata.to_json()}),
    )


def _spark_writer(
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


def _version_of(lake: Lake, table: Table, metadata: Metadata) -> int:
    """The version of the newest commit with this metadata: others may have committed since."""
    text = metadata.to_json()
    for commit in lake.commits(table.name):
        if commit.get("userMetadata") == text:
            return int(commit["version"])
    raise LookupError(f"{table.name}: the commit of run {metadata.run_id} is not in the history")
