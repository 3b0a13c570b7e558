"""Rows of incoming changes: on the driver, or in the staging folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from weir.compute.engine import Frame
from weir.ingest.file_rows import SCHEMA
from weir.ingest.netting import QUAD
from weir.lake.delta.staging import stage
from weir.rdf.records import Header

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHANGE_COLUMNS = ("ordinal", "document", "line", "insert", *QUAD, "time")
REJECTION_COLUMNS = ("ordinal", "file", "line", "column", "reason", "raw")

SPARK_SCHEMA = (
    "part STRING, ordinal INT, document INT, line BIGINT, `insert` BOOLEAN, graph STRING,"
    " subject STRING, predicate STRING, object STRING, time STRING, file STRING, `column` BIGINT,"
    " reason STRING, raw STRING, change_id STRING, previous_id STRING, event_time TIMESTAMP,"
    " changes BIGINT, rejections BIGINT, unreadable STRING, cut_off STRING"
)
"""The schema of the rows of files, for Spark."""


@dataclass(frozen=True, slots=True)
class FileResult:
    """A parsed file without its rows; `changes` and `rejections` are numbers of rows.

    name: what rejections call the file. refusal: why the file was rejected as a whole, None if it
    was not. unreadable: why it could not be read, None if it could. cut_off: how it ends in the
    middle, None if it does not.
    """

    ordinal: int
    document: int
    name: str
    header: Header
    changes: int
    rejections: int
    refusal: str | None = None
    unreadable: str | None = None
    cut_off: str | None = None

    @property
    def malformed(self) -> int:
        """Rejected lines of a file that is used: the rest of it counts without them."""
        return self.rejections if self.usable else 0

    @property
    def usable(self) -> bool:
        """Whether the file could be read and was not rejected as a whole."""
        return self.refusal is None and self.unreadable is None


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of some files: `CHANGE_COLUMNS`, `REJECTION_COLUMNS`, and one result per file."""

    changes: tuple[Frame, ...] = ()
    rejections: tuple[Frame, ...] = ()
    results: tuple[FileResult, ...] = ()

    def __add__(self, other: Rows) -> Rows:
        return Rows(
            self.changes + other.changes,
            self.rejections + other.rejections,
            self.results + other.results,
        )


def rows_on_driver(rows: pa.Table) -> Rows:
    """Rows on the driver."""
    return Rows(
        (_part(rows, "change", CHANGE_COLUMNS),),
        (_part(rows, "rejection", REJECTION_COLUMNS),),
        tuple(_result(row) for row in _part(rows, "file", SCHEMA.names).to_pylist()),
    )


def rows_by_tasks(spark: SparkSession, rows: DataFrame, staging: str) -> Rows:
    """Rows that Spark computes once, into the folder or URI `staging`."""
    stage(rows, staging)
    staged = spark.read.schema(SPARK_SCHEMA).parquet(staging)
    files = staged.filter("part = 'file'").collect()
    return Rows(
        (staged.filter("part = 'change'").select(*CHANGE_COLUMNS),),
        (staged.filter("part = 'rejection'").select(*REJECTION_COLUMNS),),
        tuple(_result(row.asDict()) for row in files),
    )


def _part(rows: pa.Table, part: str, columns: Sequence[str]) -> pa.Table:
    return rows.filter(pc.equal(rows["part"], pa.scalar(part))).select(list(columns))


def _result(row: Mapping[str, Any]) -> FileResult:
    return FileResult(
        ordinal=row["ordinal"],
        document=row["document"],
        name=row["file"],
        header=Header(row["change_id"], row["previous_id"], _in_utc(row["event_time"])),
        changes=row["changes"],
        rejections=row["rejections"],
        refusal=row["reason"],
        unreadable=row["unreadable"],
        cut_off=row["cut_off"],
    )


def _in_utc(time: datetime | None) -> datetime | None:
    """A time in UTC: Arrow's has its time zone, Spark's is local without one."""
    return None if time is None else time.astimezone(UTC)
