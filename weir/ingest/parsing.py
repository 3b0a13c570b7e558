"""Files of change sets to rows: on the driver, or in Spark tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from weir.ingest.file_rows import SCHEMA, FileTask, file_rows, parse_groups
from weir.ingest.rows import SPARK_SCHEMA, Rows, rows_by_tasks, rows_on_driver
from weir.rdf.limits import ParseLimits
from weir.rdf.parser_process import ParserProcess, Volume
from weir.settings import Limits, Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
        batches += file_rows(task, parsed, limits.parsed_batch_rows)
    return rows_on_driver(pa.Table.from_batches(batches, SCHEMA)), room


def parse_by_tasks(
    spark: SparkSession, tasks: Sequence[FileTask], settings: Settings, staging: str
) -> Rows:
    """Parse the files in Spark tasks, into the folder or URI `staging`."""
    limits = settings.limits
    groups = _groups(tasks, spark.sparkContext.defaultParallelism, limits.task_bytes)
    parse = parse_groups(groups, ParseLimits.of(limits), limits.parsed_batch_rows, settings.store)
    parsed = spark.range(0, len(groups), 1, len(groups)).mapInArrow(parse, SPARK_SCHEMA)
    return rows_by_tasks(spark, parsed, staging)


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
