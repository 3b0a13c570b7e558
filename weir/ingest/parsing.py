"""Files of change sets to rows: on the driver, or in Spark tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from weir.ingest.rows import SCHEMA, SPARK_SCHEMA, Rows, record_batch, rows_by_tasks, rows_on_driver
from weir.rdf.parser_process import ParserProcess, Volume
from weir.rdf.records import ParsedFile, ParseRequest, Rejection
from weir.settings import Limits

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class FileTask:
    """A file to parse: which change set and which document it is, and what rejections call it."""

    ordinal: int
    document: int
    name: str
    size: int
    request: ParseRequest


def parse_on_driver(
    tasks: Sequence[FileTask], parser: ParserProcess, limits: Limits, room: Volume
) -> tuple[Rows, Volume]:
    """Parse the files here; returns what room is left, too.

    Raises:
        NoRoom: they give more rows than there is room for.
    """
    batches: list[pa.RecordBatch] = []
    for task in tasks:
        parsed = parser.parse(task.request, room)
        room = room.without(parsed.changes, parsed.rejections)
        batches += _file_rows(task, parsed, limits.parsed_batch_rows)
    return rows_on_driver(pa.Table.from_batches(batches, SCHEMA)), room


def parse_by_tasks(
    spark: SparkSession, tasks: Sequence[FileTask], limits: Limits, staging: str
) -> Rows:
    """Parse the files in Spark tasks, into the folder or URI `staging`."""
    groups = _groups(tasks, spark.sparkContext.defaultParallelism, limits.task_bytes)
    parsed = spark.range(0, len(groups), 1, len(groups)).mapInArrow(
        _parse_groups(groups, limits), SPARK_SCHEMA
    )
    return rows_by_tasks(spark, parsed, staging)


def _parse(
    tasks: Sequence[FileTask], parser: ParserProcess, limits: Limits
) -> Iterator[pa.RecordBatch]:
    for task in tasks:
        yield from _file_rows(task, parser.parse(task.request), limits.parsed_batch_rows)


def _file_rows(task: FileTask, parsed: ParsedFile, most: int) -> Iterator[pa.RecordBatch]:
    place = {"ordinal": task.ordinal, "document": task.document}
    for batch in parsed.changes.to_batches(max_chunksize=most):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        yield record_batch("change", batch.num_rows, **place, **columns)
    for batch in parsed.rejections.to_batches(max_chunksize=most):
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        del columns["file"]
        yield record_batch("rejection", batch.num_rows, **place, **columns, file=task.name)
    yield record_batch(
        "file",
        1,
        **place,
        file=task.name,
        **asdict(parsed.header),
        changes=parsed.changes.num_rows,
        rejections=parsed.rejections.num_rows,
        reason=parsed.refusal and _message(parsed.refusal),
        unreadable=parsed.unreadable,
        cut_off=parsed.cut_off,
    )


def _message(refusal: Rejection) -> str:
    if not refusal.line:
        return refusal.reason
    column = f", column {refusal.column}" if refusal.column else ""
    return f"line {refusal.line}{column}: {refusal.reason}"


def _parse_groups(
    groups: Sequence[Sequence[FileTask]], limits: Limits
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def parse_groups(numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with ParserProcess.of(limits) as parser:
            for batch in numbers:
                for number in batch.to_pylist():
                    yield from _parse(groups[number["id"]], parser, limits)

    return parse_groups


def _groups(tasks: Sequence[FileTask], parallelism: int, task_bytes: int) -> list[list[FileTask]]:
    """The tasks in groups of about equal size, the largest files first."""
    total = sum(task.size for task in tasks)
    count = min(len(tasks), max(parallelism, total // task_bytes + 1))
    groups: list[list[FileTask]] = [[] for _ in range(count)]
    sizes = [0] * count
    for task in sorted(tasks, key=lambda task: -task.size):
        smallest = sizes.index(min(sizes))
        groups[smallest].append(task)
        sizes[smallest] += task.size
    return groups
