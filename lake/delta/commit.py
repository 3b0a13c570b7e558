"""Commits: create a table, append to it or overwrite it; each commit carries its `Metadata`."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pyarrow as pa
from deltalake import DeltaTable, Field, Schema, Transaction
from deltalake.exceptions import DeltaError
from deltalake.schema import PrimitiveType

from weir.lake.delta.commit_files import actions, commit_file
from weir.lake.delta.file_commits import append, overwrite
from weir.lake.delta.metadata import Metadata
from weir.lake.delta.parquet_files import write_files
from weir.lake.interrupts import heed
from weir.lake.lake import Lake
from weir.lake.ledger.fences import Guard
from weir.lake.tables import Column, ColumnType, Table
from weir.lake.upkeep.old_commits import delete_old_commits_as_they_arise
from weir.lake.upkeep.small_files import merge_small_files

if TYPE_CHECKING:  # the ledger and the command line commit without Spark
    from pyspark.sql import DataFrame, DataFrameWriter

KILL_AT = "WEIR_KILL_AT"
"""Environment variable: the checkpoint at which the process kills itself; for tests only."""

LocalRows: TypeAlias = "pa.Table | pa.RecordBatchReader | Sequence[Mapping[str, Any]]"
"""Rows of this process; columns that a mapping lacks become null."""
Rows: TypeAlias = "LocalRows | DataFrame"
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
_ARROW_TYPES: Mapping[ColumnType, pa.DataType] = {
    "STRING": pa.string(),
    "BIGINT": pa.int64(),
    "INT": pa.int32(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
}


def checkpoint(name: str) -> None:
    """A point before or after a commit, at which a process that is to end stops.

    If `WEIR_KILL_AT` is the point's name, the process kills itself. Every commit passes
    `<job>:before:<table>` and `<job>:after:<table>`, so that tests can show that a run that dies
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
    """The table; if it is missing, it is created empty, with columns, comments and properties."""
    stored = lake.open(table.name)
    if stored is not None:
        return stored
    try:
        DeltaTable.create(
            lake.location(table.name),
            _schema(table.columns),
            description=table.comment,
            configuration=dict(table.properties),
            storage_options=lake.storage_options,
        )
    except DeltaError:
        # Another process created it at the same moment.
        if not lake.exists(table.name):
            raise
    return lake.existing(table.name)


def add_missing_columns(lake: Lake, table: Table) -> None:
    """Add to a table of an earlier version the columns of its definition that it lacks."""
    stored = lake.existing(table.name)
    known = {field.name for field in stored.schema().fields}
    missing = [column for column in table.columns if column.name not in known]
    if not missing:
        return
    try:
        stored.alter.add_columns(list(_schema(missing).fields))
    except DeltaError:
        # Another process may have added them at the same moment.
        lake.committed(table.name)
        known = {field.name for field in stored.schema().fields}
        if not known.issuperset(column.name for column in missing):
            raise
    lake.committed(table.name)


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

    A Spark frame is written by Spark, everything else by this process, which takes 5 ms instead of
    150 for a few rows. Columns are taken by name and cast to the table's definition. If the table
    then has many small files, a second commit merges them; if its log has more commits than it
    keeps, old ones are deleted.

    Args:
        lake: has the table.
        table: its definition.
        rows: the rows; a reader is streamed.
        metadata: of the commit.
        mode: `append`, or `overwrite` to replace all rows, and the columns too.
        files: how many files Spark writes, by default one per partition of the frame. Several are
            cut by ranges of `cluster_by`, which computes the frame twice.
        merge_schema: whether columns that the stored table lacks are added to it.

    Raises:
        pyspark.errors.AnalysisException, KeyError: the rows lack a column of the table.
        StorageError: the disk is full, or files cannot be read or written for another reason.
    """
    with lake.using(table.name):
        stored = create_if_missing(lake, table)
        # Others may have rearranged its files since it was opened.
        stored.update_incremental()
        checkpoint(f"{metadata.job}:before:{table.name}")
        match rows:
            case pa.RecordBatchReader() | pa.Table() | Sequence():
                if mode == "overwrite":
                    _overwrite_rows(lake, table, rows, metadata)
                else:
                    if merge_schema:
                        add_missing_columns(lake, table)
                    append_rows(lake, table, rows, metadata=metadata, guard=lake.guard(table.name))
            case _:
                writer = _spark_writer(table, rows, metadata, files).mode(mode)
                if mode == "overwrite":
                    writer = writer.option("overwriteSchema", "true")
                elif merge_schema:
                    writer = writer.option("mergeSchema", "true")
                _save(lake, stored, table, writer)
        checkpoint(f"{metadata.job}:after:{table.name}")
        lake.committed(table.name)
        version = _version_of(lake, table, metadata)
        if mode == "append":
            merge_small_files(lake, table.name)
        delete_old_commits_as_they_arise(lake, table)
    return version


def append_rows(
    lake: Lake,
    table: Table,
    rows: LocalRows,
    *,
    metadata: Metadata | None = None,
    transaction: Transaction | None = None,
    guard: Guard | None = None,
) -> None:
    """Append rows of this process to a table that exists, in one commit.

    Args:
        lake: has the table.
        table: its definition.
        rows: columns are taken by name and cast.
        metadata: of the commit.
        transaction: the commit fails if another one with the same identifier came since the version
            of the table that is open.
        guard: the fences that the commit has to pass.

    Raises:
        CommitFailedError: another commit with the identifier came.
        Superseded: the commit does not pass the fences.
        KeyError: the rows lack a column of the table.
    """
    written = write_files(lake, table.name, arrow_schema(table), _batches(table, rows))
    text = None if metadata is None else metadata.to_json()
    stored = lake.existing(table.name)
    append(stored, written, metadata=text, transaction=transaction, guard=guard)
    lake.committed(table.name)


def _overwrite_rows(lake: Lake, table: Table, rows: LocalRows, metadata: Metadata) -> None:
    written = write_files(lake, table.name, arrow_schema(table), _batches(table, rows))
    stored = lake.existing(table.name)
    names = [field.name for field in stored.schema().fields]
    schema = stored.schema() if names == [*table.column_names] else _schema(table.columns)
    guard = lake.guard(table.name)
    overwrite(stored, written, schema, metadata=metadata.to_json(), guard=guard)


def rows_written(lake: Lake, table_name: str, version: int) -> int:
    """How many rows the commit `version` added."""
    with lake.files(table_name).open_input_stream(commit_file(version)) as stream:
        lines = bytes(stream.read()).splitlines()
    added = (action for kind, action in actions(lines) if kind == "add" and action["dataChange"])
    return sum(
        int(json.loads(action.get("stats") or "{}").get("numRecords", 0)) for action in added
    )


def _batches(table: Table, rows: LocalRows) -> Iterator[pa.RecordBatch]:
    """Rows with the columns of a table, in batches."""
    schema = arrow_schema(table)
    parts: Iterable[pa.Table]
    match rows:
        case pa.RecordBatchReader():
            parts = (pa.Table.from_batches([batch]) for batch in rows)
        case pa.Table():
            parts = [rows]
        case _:
            parts = [pa.Table.from_pylist([dict(row) for row in rows], schema=schema)]
    for part in parts:
        yield from part.select(list(table.column_names)).cast(schema).to_batches()


def _schema(columns: Iterable[Column]) -> Schema:
    return Schema(
        [
            Field(c.name, PrimitiveType(_DELTA_TYPES[c.type]), metadata={"comment": c.comment})
            for c in columns
        ]
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


def _save(lake: Lake, stored: DeltaTable, table: Table, writer: DataFrameWriter) -> None:
    """Let Spark commit, and check that it did.

    Spark uses a transaction identifier to skip repeated commits: it silently leaves out a commit
    whose number is not greater than the last one, and fails if another commit with the identifier
    comes meanwhile. Earlier commits are checked by an append without rows.

    Raises:
        Superseded: the commit does not pass the fences of the lake.
    """
    guard = lake.guard(table.name)
    if not guard.fences:
        writer.save(lake.location(table.name))
        return
    from delta.exceptions.captured import ConcurrentTransactionException

    append(stored, (), guard=guard)
    # Spark takes one identifier, and a stage that writes by Spark holds one claim.
    fence, (transaction, *_) = guard.fences[0], guard.transactions()
    writer = writer.option("txnAppId", fence.application).option("txnVersion", transaction.version)
    try:
        writer.save(lake.location(table.name))
    except ConcurrentTransactionException as error:
        raise fence.give_up(table.name) from error
    stored.update_incremental()
    if stored.transaction_version(fence.application) != transaction.version:
        raise fence.give_up(table.name)


def _version_of(lake: Lake, table: Table, metadata: Metadata) -> int:
    """The version of the newest commit with this metadata; others may have committed since."""
    text = metadata.to_json()
    for commit in lake.commits(table.name):
        if commit.get("userMetadata") == text:
            return int(commit["version"])
    raise LookupError(f"{table.name}: the commit of run {metadata.run_id} is not in the history")
