"""Where a relation is computed: by DuckDB in the driver's process, or by Spark.

A run of a few hundred changes works with a few thousand rows. To plan and schedule joins of these,
Spark needs about a second per query, DuckDB some milliseconds. Both run the same statements with
the same result. Relations beyond the limits are computed by Spark.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import pyarrow.compute as pc
from deltalake import DeltaTable

from weir.lake.delta.data_files import files_after, rows_in
from weir.rdf.parser_process import Volume
from weir.settings import Limits


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a stored table may be read; `rows` is None if its log lacks the number."""

    bytes: int
    rows: int | None

    @classmethod
    def of(
        cls, table: DeltaTable, after_epoch: int | None = None, after_instant: int | None = None
    ) -> Self:
        """The extent of a table's files that may have rows after an epoch and an instant."""
        files = files_after(table, after_epoch, instant=after_instant)
        return cls(pc.sum(files["size_bytes"]).as_py() or 0, rows_in(files))

    @classmethod
    def total(cls, extents: Sequence[Self]) -> Self:
        """The extent of several tables together."""
        rows = [extent.rows for extent in extents]
        known = [count for count in rows if count is not None]
        size = sum(extent.bytes for extent in extents)
        return cls(size, sum(known) if len(known) == len(rows) else None)


@dataclass(frozen=True, slots=True)
class Placement:
    """Decides for every relation whether the driver computes it.

    Attributes:
        driver_rows: most rows of a relation that the driver computes with; 0 leaves all to Spark.
        driver_table_bytes: most bytes of a stored table that the driver reads.
        driver_scan_rows: most rows of a stored table that the driver scans, wholly or for some
            epochs; in a larger table it only looks rows up.
        driver_parse_bytes: most bytes of input that the driver parses.
        driver_parsed_bytes: most bytes of the parsed rows.
    """

    driver_rows: int
    driver_table_bytes: int
    driver_scan_rows: int
    driver_parse_bytes: int
    driver_parsed_bytes: int = sys.maxsize

    @classmethod
    def of(cls, limits: Limits) -> Self:
        """The placement by the limits of the configuration."""
        return cls(
            limits.driver_rows,
            limits.driver_table_bytes,
            limits.driver_scan_rows,
            limits.driver_parse_bytes,
            limits.driver_parsed_bytes,
        )

    def parses(self, size: int) -> bool:
        """Whether the driver parses `size` bytes of input."""
        return size <= self.driver_parse_bytes

    @property
    def room_of_parsed(self) -> Volume:
        """The most parsed rows that the driver takes; any number of rows if it computes nothing."""
        return Volume(self.driver_rows or sys.maxsize, self.driver_parsed_bytes)

    def holds(self, rows: int) -> bool:
        """Whether the driver takes a relation of `rows` rows."""
        return 0 < self.driver_rows >= rows

    def exceeds(self, rows: int | None) -> bool:
        """Whether `rows` are known to be too many for a driver that takes any."""
        return rows is not None and 0 < self.driver_rows < rows

    def reads(self, extent: Extent, *, is_slice: bool) -> bool:
        """Whether the driver reads a stored table.

        Args:
            extent: of the files that are read.
            is_slice: whether the rows are those of some epochs, all of which are used; of a whole
                table, a statement may need a few rows only.
        """
        if not self.driver_rows or extent.rows is None or extent.bytes > self.driver_table_bytes:
            return False
        return not is_slice or extent.rows <= max(self.driver_rows, self.driver_scan_rows)

    def reads_all(self, extents: Sequence[Extent]) -> bool:
        """Whether the driver takes all rows of several stored tables into its memory."""
        total = Extent.total(extents)
        return self.reads(total, is_slice=False) and self.holds(total.rows or 0)

    def only_looks_up(self, extent: Extent) -> bool:
        """Whether the driver only looks up rows in a table of this extent; Spark scans it."""
        return extent.rows is None or extent.rows > self.driver_scan_rows
