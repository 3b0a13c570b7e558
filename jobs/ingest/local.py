"""Small batches on the driver: DuckDB works them out, delta-rs reads and writes.

The start of Spark and its first jobs cost more than all of a small batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
from sqlglot import exp
from sqlglot.expressions import select

from jobs.compute.connection import connect
from jobs.compute.duck import DuckEngine
from jobs.compute.relations import Statement
from jobs.compute.sql import column
from jobs.ingest import netting
from jobs.ingest.engine import Frame
from jobs.ingest.netting import QUAD
from jobs.settings import Settings
from lake.commit import arrow_schema, write
from lake.lake import Lake
from lake.metadata import Metadata
from lake.tables import QUADS, Table

_LOG = [*QUAD, "epoch", "weight"]


class LocalEngine:
    """Relations in a DuckDB of this process."""

    def __init__(self, settings: Settings, lake: Lake) -> None:
        self._settings, self._lake = settings, lake
        self.relations = DuckEngine(connect(settings))

    def register(self, name: str, frames: Sequence[Frame]) -> None:
        """Make Arrow tables known as one relation."""
        tables = [frame for frame in frames if isinstance(frame, pa.Table)]
        assert len(tables) == len(frames), "a small batch has no Spark frames"
        self.relations.load(name, pa.concat_tables(tables))

    def make(self, statement: Statement) -> None:
        """Make a relation."""
        self.relations.make(statement)

    def rows(self, query: exp.Query) -> list[tuple[object, ...]]:
        """The rows of a query."""
        return self.relations.rows(query)

    def open(self, name: str, table: Table, **only: Sequence[str]) -> None:
        """Read a small stored table, or some of its rows."""
        filters = ds.scalar(True)
        for column_name, values in only.items():
            filters &= ds.field(column_name).isin(pa.array([*values], pa.string()))
        self.relations.load(name, self._read(table, filters, [*table.column_names]))

    def quads_about(self, name: str, operations: str, until: int) -> None:
        """Read the stored quads with the subjects and predicates of the operations, then join."""
        filters = ds.field("epoch") <= until
        for term in ("predicate", "subject"):
            wanted = self._values(select(column(term)).distinct().from_(operations))
            filters &= ds.field(term).isin(wanted)
        self.relations.load(f"{name}_near", self._quads(filters))
        self.make(Statement(name, netting.rows_about(f"{name}_near", operations)))

    def quads_of(self, name: str, source: str, owners: str, until: int) -> None:
        """Read the graphs of the source."""
        owned = select(column("graph")).from_(owners)
        graphs = self._values(owned.where(column("source").eq(exp.Literal.string(source))))
        filters = (ds.field("epoch") <= until) & ds.field("graph").isin(graphs)
        self.relations.load(name, self._quads(filters))

    def quads_between(self, name: str, after: int, until: int) -> None:
        """Read some epochs."""
        self.relations.load(
            name, self._quads((ds.field("epoch") > after) & (ds.field("epoch") <= until))
        )

    def append(self, table: Table, query: exp.Query, metadata: Metadata, rows: int) -> int:
        """Append the rows of a query, sorted as the table is."""
        del rows
        if table.cluster_by:
            query = (
                select("*").from_(query.subquery("rows")).order_by(*map(column, table.cluster_by))
            )
        found = self._arrow(query)
        return write(self._lake, table, found, metadata)

    def release(self) -> None:
        """Forget all relations."""
        self.relations.connection.close()
        self.relations = DuckEngine(connect(self._settings))

    def _arrow(self, query: exp.Query) -> pa.Table:
        self.relations.make(Statement("fetched", query))
        return self.relations.arrow("fetched")

    def _values(self, query: exp.Query) -> pa.Array[Any]:
        values = self._arrow(query).column(0).combine_chunks()
        assert isinstance(values, pa.Array)
        return values

    def _quads(self, filters: ds.Expression) -> pa.Table:
        return self._read(QUADS, filters, _LOG)

    def _read(self, table: Table, filters: ds.Expression, names: list[str]) -> pa.Table:
        stored = self._lake.open(table.name)
        if stored is None or not stored.file_uris():
            return arrow_schema(table).empty_table().select(names)
        dataset: ds.Dataset = stored.to_pyarrow_dataset()
        return dataset.to_table(columns=names, filter=filters)
