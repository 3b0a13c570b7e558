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

from weir.lake.delta.alteration import alter
from weir.lake.delta.commit_files import actions
from weir.lake.delta.file_commits import append, overwrite
from weir.lake.delta.metadata import Metadata
from weir.lake.delta.parquet_files import DataFile, write_files
from weir.lake.delta.stored_table import StoredTable
from weir.lake.interrupts import heed
from weir.lake.lake import Lake
from weir.lake.tables import Column, ColumnType, Decimals, SimpleType, Table
from weir.lake.upkeep.old_commits import delete_old_commits_as_they_arise
from weir.lake.upkeep.small_files import merge_small_files

if TYPE_CHECKING:  # the ledger and the command line commit without Spark
    from pyspark.sql import DataFrame

KILL_AT = "WEIR_KILL_AT"
"""Environment variable: the checkpoint at which the process kills itself; for tests only."""

LocalRows: TypeAlias = "pa.Table | pa.RecordBatchReader | Sequence[Mapping[str, Any]]"
"""Rows of this process; columns that a mapping lacks become null."""
Rows: TypeAlias = "LocalRows | DataFrame"
"""Rows of this process, or rows that Spark computes."""
SaveMode = Literal["append", "overwrite"]

_DELTA_TYPES: Mapping[SimpleType, str] = {
    "STRING": "string",
    "BIGINT": "long",
    "INT": "integer",
    "DOUBLE": "double",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
}
_ARROW_TYPES: Mapping[SimpleType, pa.DataType] = {
    "STRING": pa.string(),
    "BIGINT": pa.int64(),
    "INT": pa.int32(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "DATE": pa.date32(),
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
    return pa.schema([(column.name, arrow_type(column.type)) for column in table.columns])


def arrow_type(type_: ColumnType) -> pa.DataType:
    """The Arrow type of a column."""
    if isinstance(type_, Decimals):
        return pa.decimal128(38, type_.scale)
    return _ARROW_TYPES[type_]


def _delta_type(type_: ColumnType) -> str:
    if isinstance(type_, Decimals):
        return f"decimal(38,{type_.scale})"
    return _DELTA_TYPES[type_]


def create_if_missing(lake: Lake, table: Table) -> DeltaTable:
    """The table; if it is missing, it is created empty, with columns, comments and properties."""
    stored = lake.open(table.name)
    if stored is not None:
        return stored
    try:
        with lake.storage.committing(table.name):
            DeltaTable.create(
                str(lake.folder(table.name)),
                schema_of(table.columns),
                description=table.comment,
                configuration=dict(table.properties),
            )
    except DeltaError:
        # Another process created it at the same moment.
        if not lake.exists(table.name):
            raise
    return lake.existing(table.name)


def add_missing_columns(lake: Lake, table: Table) -> None:
    """Add to a table of an earlier version the columns of its definition that it lacks."""

    def add(stored: StoredTable) -> None:
        missing = _missing(stored, table)
        if missing:
            stored.alter.add_columns(list(schema_of(missing).fields))

    if not _missing(lake.existing(table.name), table):
        return
    try:
        alter(lake, table.name, add)
    except DeltaError:
        # Another process may have added them at the same moment.
        lake.forget(table.name)
        if _missing(lake.existing(table.name), table):
            raise


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

    The files of a Spark frame are written by the processes of Spark, everything else by this
    process. Columns are taken by name and cast to the table's definition. If the table then has
    many small files, a second commit merges them; if its log has more commits than it keeps, old
    ones are deleted.

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
        ValueError: the stored table lacks a column, and `merge_schema` is false.
        StorageError: the disk is full, or files cannot be read or written for another reason.
    """
    with lake.using(table.name):
        stored = create_if_missing(lake, table)
        # Others may have rearranged its files since it was opened.
        stored.update_incremental()
        checkpoint(f"{metadata.job}:before:{table.name}")
        written = _written(lake, table, rows, files)
        if mode == "overwrite":
            _overwrite(lake, table, written, metadata)
        else:
            if merge_schema:
                add_missing_columns(lake, table)
            stored = lake.existing(table.name)
            _require_columns(stored, table)
            guard = lake.guard(table.name)
            append(stored, written, metadata=metadata.to_json(), guard=guard)
        checkpoint(f"{metadata.job}:after:{table.name}")
        lake.committed(table.name)
        version = _version_of(lake, table, metadata)
        if mode == "append":
            merge_small_files(lake, table.name)
        delete_old_commits_as_they_arise(lake, table)
    return version


def append_rows(
    lake: Lake, table: Table, rows: LocalRows, *, transaction: Transaction | None = None
) -> None:
    """Append rows of this process to a table that exists, in one commit without metadata.

    Args:
        lake: has the table.
        table: its definition.
        rows: columns are taken by name and cast.
        transaction: the commit fails if another one with the same identifier came since the version
            of the table that is open.

    Raises:
        CommitFailedError: another commit with the identifier came.
        KeyError: the rows lack a column of the table.
    """
    written = _written(lake, table, rows, None)
    append(lake.existing(table.name), written, transaction=transaction)
    lake.committed(table.name)


def _written(lake: Lake, table: Table, rows: Rows, files: int | None) -> list[DataFile]:
    match rows:
        case pa.RecordBatchReader() | pa.Table() | Sequence():
            return write_files(lake, table.name, arrow_schema(table), _batches(table, rows))
        case _:
            from weir.lake.delta.spark_files import write_frame

            return write_frame(lake, table, arrow_schema(table), rows, files)


def _require_columns(stored: DeltaTable, table: Table) -> None:
    """Refuse rows with columns that the table lacks: nobody would see them."""
    missing = ", ".join(column.name for column in _missing(stored, table))
    if missing:
        raise ValueError(f"{table.name}: the stored table lacks the columns {missing}")


def _missing(stored: DeltaTable, table: Table) -> list[Column]:
    """The columns of a table's definition that the stored one lacks."""
    known = {field.name for field in stored.schema().fields}
    return [column for column in table.columns if column.name not in known]


def _overwrite(lake: Lake, table: Table, written: list[DataFile], metadata: Metadata) -> None:
    stored = lake.existing(table.name)
    names = [field.name for field in stored.schema().fields]
    schema = stored.schema() if names == [*table.column_names] else schema_of(table.columns)
    guard = lake.guard(table.name)
    overwrite(stored, written, schema, metadata=metadata.to_json(), guard=guard)


def rows_written(lake: Lake, table_name: str, version: int) -> int:
    """How many rows the commit `version` added."""
    lines = lake.commit(table_name, version).splitlines()
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


def schema_of(columns: Iterable[Column]) -> Schema:
    """Columns as Delta's log has them, with their comments."""
    return Schema(
        [
            Field(c.name, PrimitiveType(_delta_type(c.type)), metadata={"comment": c.comment})
            for c in columns
        ]
    )


def _version_of(lake: Lake, table: Table, metadata: Metadata) -> int:
    """The version of the newest commit with this metadata; others may have committed since."""
    text = metadata.to_json()
    for commit in lake.commits(table.name):
        if commit.get("userMetadata") == text:
            return int(commit["version"])
    raise LookupError(f"{table.name}: the commit of run {metadata.run_id} is not in the history")
