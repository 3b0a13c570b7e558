"""Table maintenance: compact small files, consolidate logs, delete files that no version needs.

These commits only rearrange files (`dataChange` = false): readers and change feeds see no change.
They carry no metadata of Weir, and `last_metadata` skips them, so that watermarks come only from
the job that owns the table. The epoch up to which a log is consolidated is a property of its table
(`weir.lake.upkeep.consolidated`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Self

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from weir.lake.delta.alteration import alter
from weir.lake.delta.commit import arrow_schema, checkpoint
from weir.lake.delta.file_commits import Overtaken, Replacement, files_of, replace
from weir.lake.delta.session import read
from weir.lake.delta.spark_files import write_frame
from weir.lake.lake import Lake
from weir.lake.tables import Table, feed_retention
from weir.lake.upkeep.consolidated import note_consolidation
from weir.lake.upkeep.small_files import merge_files


@dataclass(frozen=True, slots=True)
class Consolidated:
    """How many rows a log had before and after; equal if nothing was done."""

    before: int
    after: int


def compact_files(lake: Lake, table_name: str, file_bytes: int) -> int:
    """Merge files into larger ones of about `file_bytes`; returns how many fewer there are."""
    # The table may have been replaced since it was opened.
    lake.forget(table_name)
    if not lake.exists(table_name):
        return 0
    checkpoint(f"compact:before:{table_name}")
    merged = merge_files(lake, table_name, file_bytes)
    checkpoint(f"compact:after:{table_name}")
    return merged.removed - merged.added


def consolidate(
    spark: SparkSession,
    lake: Lake,
    table: Table,
    until: int,
    least_share: float,
    rows_per_file: int,
    *,
    noting: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Consolidated:
    """Collapse the changes of a log up to the epoch `until` into the state at `until`.

    Of the changes of each row up to `until`, only the last stays, and only if it is an assertion.
    The state at every epoch from `until` on and all later changes stay the same. `until` is
    recorded first, so that `consolidated_until` is never too early.

    Others may append later epochs meanwhile: the files of one version are read and replaced.

    Args:
        spark: the session.
        lake: has the table.
        table: a log of a set: the weights of a row are +1 and -1 in turn.
        until: the changes up to this epoch are no longer needed.
        least_share: nothing is done if a smaller share of the rows would go.
        rows_per_file: rows of a written file, about.
        noting: a context that keeps others from appending while a property of the table is set:
            Delta refuses an append meanwhile.

    Raises:
        Overtaken: files that were read were merged or rewritten meanwhile; nothing was done.
    """
    rows = read(spark, lake, table.name)
    old = F.col("epoch") <= until
    counted = rows.agg(
        F.count("*").alias("all"), F.count_if(old & (F.col("weight") < 0)).alias("retractions")
    ).first()
    assert counted is not None, "an aggregate has one row"
    # Every retraction follows its assertion, and both go.
    before, after = counted["all"], counted["all"] - 2 * counted["retractions"]
    if before == 0 or (before - after) / before < max(least_share, 1 / before):
        return Consolidated(before, before)
    checkpoint(f"compact:before:{table.name}")
    with noting():
        note_consolidation(lake, table.name, until)
    snapshot = Snapshot.newest(lake, table.name)
    rows = read(spark, lake, table.name, snapshot.version)
    key = [name for name in table.column_names if name not in ("epoch", "weight")]
    newest = F.row_number().over(Window.partitionBy(*key).orderBy(F.desc("epoch")))
    state = (
        rows.filter(old)
        .withColumn("newest", newest)
        .filter((F.col("newest") == 1) & (F.col("weight") > 0))
        .select(*table.column_names)
    )
    kept = state.unionByName(rows.filter(~old).select(*table.column_names))
    files = -(-after // rows_per_file) or 1
    rearrange(kept, lake, table, files, snapshot)
    checkpoint(f"compact:after:{table.name}")
    return Consolidated(before, after)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The version of a table whose rows are read and replaced."""

    version: int
    files: Sequence[tuple[str, int]]

    @classmethod
    def newest(cls, lake: Lake, table_name: str) -> Self:
        """The newest version of a table."""
        lake.follow(table_name)
        table = lake.existing(table_name)
        return cls(table.version(), files_of(table))


def rearrange(rows: DataFrame, lake: Lake, table: Table, files: int, snapshot: Snapshot) -> None:
    """Replace the files of a snapshot by files with `rows`; no change feed shows it.

    Args:
        rows: the rows of the snapshot, or others with the same meaning.
        lake: has the table.
        table: its definition.
        files: how many there are then.
        snapshot: its files are removed; others may have appended since.

    Raises:
        Overtaken: files of the snapshot were merged or rewritten meanwhile; nothing was done.
    """
    written = write_frame(lake, table, arrow_schema(table), rows, files)

    def replacement(newest: DeltaTable) -> Replacement | None:
        if not {*snapshot.files} <= {*files_of(newest)}:
            raise Overtaken(f"{table.name}: its files were rewritten meanwhile")
        return Replacement(snapshot.files, written, changes_data=False)

    replace(lake.existing(table.name), replacement)
    lake.committed(table.name)


def keeps_feed(lake: Lake, table: Table, log_days: int, file_days: int) -> bool:
    """Whether a log keeps its commits and removed files so many days, or does not exist."""
    stored = lake.open(table.name)
    retention = feed_retention(log_days, file_days)
    return stored is None or dict(retention).items() <= stored.metadata().configuration.items()


def keep_feed(lake: Lake, table: Table, log_days: int, file_days: int) -> None:
    """Make a log keep its commits and removed files so many days; nobody may append meanwhile."""
    retention = dict(feed_retention(log_days, file_days))
    alter(lake, table.name, lambda stored: stored.alter.set_table_properties(retention))


def vacuum(lake: Lake, table_name: str) -> int:
    """Delete files that no version within the table's retention needs; returns their number."""
    lake.forget(table_name)
    table = lake.open(table_name)
    return 0 if table is None else lake.storage.vacuum(table_name, table)
