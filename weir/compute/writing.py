"""Writing the rows of a relation to a table: streamed from DuckDB, from memory, or by Spark.

Each write is one commit, with the rows in the order of the table. A commit takes Spark seconds and
this process milliseconds, so Spark writes only rows that are too many for this process.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from weir.compute.duck import DuckEngine, is_out_of_memory
from weir.compute.sql import column, rows_of, select
from weir.lake.delta.commit import Rows, SaveMode, rows_written, write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from weir.lake.delta.metadata import Metadata
    from weir.lake.lake import Lake
    from weir.lake.tables import Table

_WITH_ZONE: dict[object, str] = {"TIMESTAMP": "TIMESTAMPTZ"}
"""DuckDB's names of types, where they differ from Spark's."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a table: its version, the number of rows it wrote, its metadata."""

    version: int
    rows: int
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class TableWriter:
    """Writes one commit of a table.

    Attributes:
        lake: has the table.
        table: its definition, whose columns the rows have.
        metadata: of the commit.
        mode: `append`, or `overwrite` all rows.
        merge_schema: whether new columns are added to the stored table.
    """

    lake: Lake
    table: Table
    metadata: Metadata
    mode: SaveMode
    merge_schema: bool

    def write_rows(self, rows: pa.Table) -> Commit:
        """Write rows of this process."""
        if self.table.cluster_by:
            rows = rows.sort_by([(name, "ascending") for name in self.table.cluster_by])
        return Commit(self._write(rows), rows.num_rows, self.metadata)

    def stream(
        self, duckdb: Callable[[], AbstractContextManager[DuckEngine]], name: str
    ) -> Commit | None:
        """Write a relation of DuckDB while it is computed; None if DuckDB runs out of memory.

        Args:
            duckdb: a context for one statement of DuckDB.
            name: of the relation.
        """
        try:
            with duckdb() as engine:
                batches = engine.stream(self._sorted(name))
                first = [*islice(batches, 2)]
                if len(first) > 1:
                    every = chain(first, batches)
                    rows = pa.RecordBatchReader.from_batches(batches.schema, every)
                    return self._counted(self._write(rows))
            # DuckDB has finished: other threads may use it while this one writes the file.
            return self._counted(self._write(pa.Table.from_batches(first, batches.schema)))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            return None

    def write_frame(self, frame: DataFrame, files: int | None) -> Commit:
        """Write a frame by Spark into `files` files; None for one per partition."""
        return self._counted(self._write(frame, files))

    def _sorted(self, name: str) -> exp.Select:
        """The rows of a DuckDB relation with the types and in the order of the table."""
        cells = [
            exp.cast(column(cell.name), _WITH_ZONE.get(cell.type, str(cell.type))).as_(
                cell.name, quoted=True
            )
            for cell in self.table.columns
        ]
        order = [column(key) for key in self.table.cluster_by]
        return select(*cells, from_=rows_of(name), order_by=order)

    def _write(self, rows: Rows, files: int | None = None) -> int:
        return write(
            self.lake,
            self.table,
            rows,
            self.metadata,
            mode=self.mode,
            files=files,
            merge_schema=self.merge_schema,
        )

    def _counted(self, version: int) -> Commit:
        """The commit of a version, whose rows are counted after writing."""
        return Commit(version, rows_written(self.lake, self.table.name, version), self.metadata)
