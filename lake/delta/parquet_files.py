"""Writing data files: Parquet with checksums of its pages, and of its content in its name."""

from __future__ import annotations

import json
import math
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.transaction import AddAction

from weir.lake.delta.checksums import BEGIN, Checksums, file_checksum, footer_checksum
from weir.lake.lake import Lake
from weir.lake.storage.storage import Destination

ROW_GROUP = 100_000
"""Rows of a row group; statistics of small groups let readers skip more of a sorted file."""
FILE_BYTES = 128 << 20
"""A larger result is written as several files of about this size."""
_STATISTICS = 32
"""The first columns have statistics in the log, as many as by Delta's default."""
_PREFIX = 256
"""Characters of the least and greatest text in the log; IRIs share long prefixes."""
_GREATEST = "\U0010ffff"
_MILLISECOND = timedelta(microseconds=999)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A data file in the folder of its table, which no commit names yet.

    Attributes:
        name: its path below the folder.
        size: in bytes.
        rows: how many it has.
        statistics: as Delta's log has them, JSON.
    """

    name: str
    size: int
    rows: int
    statistics: str

    def added(self, *, changes_data: bool = True) -> AddAction:
        """The action of a commit that adds the file; `changes_data` is false if rows only move."""
        now = time.time_ns() // 1_000_000
        return AddAction(self.name, self.size, {}, now, changes_data, self.statistics)


def write_files(
    lake: Lake,
    table_name: str,
    schema: pa.Schema,
    rows: Iterable[pa.RecordBatch],
    file_bytes: int = FILE_BYTES,
    begin: str = BEGIN,
) -> list[DataFile]:
    """Write rows, in their order, to files of a table; none if there are no rows.

    If the process dies, it leaves files that no commit names; a vacuum deletes them.
    """
    return [*written_files(lake.storage.destination(table_name), schema, rows, file_bytes, begin)]


def written_files(
    destination: Destination,
    schema: pa.Schema,
    rows: Iterable[pa.RecordBatch],
    file_bytes: int = FILE_BYTES,
    begin: str = BEGIN,
) -> Iterator[DataFile]:
    """Write rows, in their order, to files of a table; each is there when it is returned.

    `begin` is how the names of the files begin.
    """
    groups = _groups(schema, rows)
    for first in groups:
        written = _write(destination.folder, schema, first, groups, file_bytes)
        name, size = written.checksums.name(begin), written.path.stat().st_size
        destination.place(written.path, name)
        yield DataFile(name, size, written.statistics.rows, written.statistics.to_json())


@dataclass(frozen=True, slots=True)
class _Written:
    """A file without its final name."""

    path: Path
    checksums: Checksums
    statistics: _Statistics


class _Statistics:
    """The statistics of a file for the log, summed up over its row groups.

    Every column with a value has a least and a greatest value: without them, delta-rs would assume
    that it has no values, and skip the file. If one can have none, no column has.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self.rows = 0
        self._schema = schema.names[:_STATISTICS]
        self._nulls = dict.fromkeys(self._schema, 0)
        self._least, self._greatest = dict[str, Any](), dict[str, Any]()
        self._unbounded = False

    def add(self, group: pa.Table) -> None:
        """Add the rows of a group."""
        self.rows += group.num_rows
        for name in self._schema:
            column = group[name]
            self._nulls[name] += column.null_count
            bounds: Any = pc.min_max(column).as_py()
            least, greatest = bounds["min"], bounds["max"]
            if pa.types.is_floating(column.type) and not _all_finite(column):
                # JSON has no infinite number, and NaN is neither less nor greater.
                self._unbounded = True
            elif least is not None:
                self._least[name] = min(self._least.get(name, least), least)
                self._greatest[name] = max(self._greatest.get(name, greatest), greatest)

    def to_json(self) -> str:
        """The statistics as JSON, in the form of Delta's log."""
        if self._unbounded:
            return json.dumps({"numRecords": self.rows})
        return json.dumps(
            {
                "numRecords": self.rows,
                "minValues": {name: _lower(value) for name, value in self._least.items()},
                "maxValues": {name: _upper(value) for name, value in self._greatest.items()},
                "nullCount": self._nulls,
            },
            ensure_ascii=False,
        )


def _write(
    folder: Path,
    schema: pa.Schema,
    first: pa.Table,
    later: Iterator[pa.Table],
    file_bytes: int,
) -> _Written:
    """Write row groups to a file until it has about `file_bytes`, or there are no more."""
    path, statistics = folder / f"part-{uuid.uuid4().hex}.unfinished", _Statistics(schema)
    try:
        with pq.ParquetWriter(
            path, schema, compression="snappy", write_page_checksum=True, store_schema=False
        ) as writer:
            group: pa.Table | None = first
            while group is not None:
                writer.write_table(group, row_group_size=ROW_GROUP)
                statistics.add(group)
                group = next(later, None) if path.stat().st_size < file_bytes else None
        checksums = Checksums(file_checksum(path), footer_checksum(path))
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return _Written(path, checksums, statistics)


def _groups(schema: pa.Schema, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The rows in tables of `ROW_GROUP` rows; the last may have fewer."""
    gathered, count = list[pa.RecordBatch](), 0
    for batch in rows:
        while batch.num_rows:
            part = batch.slice(0, ROW_GROUP - count)
            gathered.append(part)
            count, batch = count + part.num_rows, batch.slice(part.num_rows)
            if count == ROW_GROUP:
                yield pa.Table.from_batches(gathered, schema)
                gathered, count = [], 0
    if count:
        yield pa.Table.from_batches(gathered, schema)


def _lower(value: Any) -> Any:
    """A shorter text or time that is not greater than a value."""
    match value:
        case str():
            return value[:_PREFIX]
        case datetime():
            return _milliseconds(value)
        case date():
            return value.isoformat()
        case Decimal():
            return math.nextafter(float(value), -math.inf)
        case _:
            return value


def _upper(value: Any) -> Any:
    """A shorter text or time that is not less than a value."""
    match value:
        case str():
            return value if len(value) <= _PREFIX else value[:_PREFIX] + _GREATEST
        case datetime():
            latest = datetime.max.replace(tzinfo=value.tzinfo) - _MILLISECOND
            return _milliseconds(min(value, latest) + _MILLISECOND)
        case date():
            return value.isoformat()
        case Decimal():
            return math.nextafter(float(value), math.inf)
        case _:
            return value


def _all_finite(column: Any) -> bool:
    return bool(pc.all(pc.is_finite(column)).as_py() in (True, None))


def _milliseconds(instant: datetime) -> str:
    """A time in the form of Delta's log, rounded down to milliseconds."""
    utc = instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    return f"{utc.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
