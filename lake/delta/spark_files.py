"""Data files written by the processes of Spark; this process alone commits them.

So there is one way to commit, with the same checks for every engine and every kind of storage.
(Delta's own writer commits to S3 without a condition: of others' commits some are lost.) A task
that is repeated, or runs twice at once, leaves files that no commit names; a vacuum deletes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from weir.lake.delta.parquet_files import DataFile, written_files
from weir.lake.lake import Lake
from weir.lake.storage.storage import Destination
from weir.lake.tables import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COLUMNS = {"name": "STRING", "size": "BIGINT", "rows": "BIGINT", "statistics": "STRING"}
"""The fields of a `DataFile`, and their types."""


def write_frame(
    lake: Lake, table: Table, schema: pa.Schema, frame: DataFrame, files: int | None = None
) -> list[DataFile]:
    """Write the rows that Spark computes to files of a table, sorted by `cluster_by`.

    Args:
        lake: has the table.
        table: its definition.
        schema: of its rows.
        frame: the rows; columns are taken by name and cast.
        files: how many there are about, by default one per partition of the frame. Several are cut
            by ranges of `cluster_by`, which computes the frame twice.
    """
    rows = frame.selectExpr(*(f"CAST(`{c.name}` AS {c.type}) AS `{c.name}`" for c in table.columns))
    if files == 1:
        rows = rows.coalesce(1)
    elif files is not None and table.cluster_by:
        rows = rows.repartitionByRange(files, *table.cluster_by)
    elif files is not None:
        rows = rows.repartition(files)
    if table.cluster_by:
        rows = rows.sortWithinPartitions(*table.cluster_by)
    write = partial(_write_partition, lake.storage.destination(table.name), schema)
    columns = ", ".join(map(" ".join, _COLUMNS.items()))
    written = rows.mapInArrow(write, columns).collect()
    return [DataFile(row.name, row.size, row.rows, row.statistics) for row in written]


def _write_partition(
    destination: Destination, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Write the rows of a task; the result has a row per file."""
    rows = (
        batch
        for part in batches
        for batch in pa.Table.from_batches([part]).cast(schema).to_batches()
    )
    for file in written_files(destination, schema, rows):
        yield pa.RecordBatch.from_pylist([{name: getattr(file, name) for name in _COLUMNS}])
