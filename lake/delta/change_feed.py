"""The change feed of a Delta table, with a check that no commit is missing from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from weir.lake.damage.spark_errors import messages_of
from weir.lake.delta.appended import NotAppended, changed_files
from weir.lake.delta.commit_files import commit_file
from weir.lake.delta.datasets import columns_of
from weir.lake.delta.file_rows import rows_of_files
from weir.lake.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CHANGE_TYPE = "_change_type"
INSERT: Final = "insert"
COMMIT_VERSION = "_commit_version"
_LOST = re.compile(
    r"FAILED_READ_FILE\.FILE_NOT_EXIST|PATH_NOT_FOUND|java\.io\.FileNotFoundException"
    r"|DELTA_(?:VERSION|FILE|LOG_FILE|CHANGE_DATA_FILE)_NOT_FOUND|DELTA_MISSING_CHANGE_DATA"
    r"|Object at location .* not found"
    r"|DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_|DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA"
)
"""Messages of Spark, Delta and delta-rs about missing files of a table or its log, and about
commits whose changes Delta cannot compute: the schema differs, or metadata is missing."""


class ChangeFeedGap(Exception):  # noqa: N818  (named after what is wrong)
    """The changes between two versions cannot be computed: the feed lacks some of them."""


@contextmanager
def lost_files_are_a_gap(address: str) -> Iterator[None]:
    """A context for reading the result of `changes_of`, or an old version of the table.

    The log may still name files that were vacuumed. This shows only when rows are read; so does a
    commit whose changes Delta cannot compute.

    Raises:
        ChangeFeedGap: files of the table at `address` are missing, or hold no change feed.
    """
    try:
        yield
    except Exception as error:
        if not any(map(_LOST.search, messages_of(error))):
            raise
        raise ChangeFeedGap(
            f"{address}: files that its log names are no longer there, or held no change feed"
        ) from error


def changes_of(
    spark: SparkSession, address: str, first_version: int, last_version: int
) -> DataFrame:
    """Rows of the commits `first_version`..`last_version`, both included, in no order.

    Columns: those of the table at a folder or URI, of Weir or foreign, then `_change_type` (insert,
    delete, update_preimage, update_postimage), `_commit_version` and `_commit_timestamp`.

    Raises:
        ChangeFeedGap: a commit of the range is no longer in the log. Delta itself would silently
            leave it out. Missing files show when the rows are read (`lost_files_are_a_gap`).
    """
    missing = missing_versions(spark, address, first_version, last_version)
    if missing:
        raise _gap(address, missing, first_version, last_version)
    with lost_files_are_a_gap(address):
        return (
            spark.read.format("delta")
            .option("readChangeFeed", "true")
            .option("startingVersion", first_version)
            .option("endingVersion", last_version)
            .load(address)
        )


@dataclass(frozen=True, slots=True)
class CommittedFiles:
    """The files whose rows a commit inserted or deleted: `kind`, a value of `_change_type`."""

    kind: str
    version: int
    names: Sequence[str]


def feed_by_files(
    lake: Lake, table_name: str, first_version: int, last_version: int
) -> list[CommittedFiles]:
    """The changes of the commits `first_version`..`last_version`, as files of the table.

    Raises:
        ChangeFeedGap: a commit of the range is no longer in the log, or whole files do not show
            what it changed.
    """
    feed: list[CommittedFiles] = []
    for version in range(first_version, last_version + 1):
        try:
            files = changed_files(lake, table_name, version)
        except NotAppended as error:
            raise ChangeFeedGap(f"{lake.location(table_name)}: {error}") from error
        feed += [
            CommittedFiles(kind, version, names)
            for kind, names in ((INSERT, files.added), ("delete", files.removed))
            if names
        ]
    return feed


def local_changes(lake: Lake, table_name: str, feed: Sequence[CommittedFiles]) -> pa.Table:
    """The rows of a feed, read by this process without Spark; with `_change_type`.

    Raises:
        ChangeFeedGap: a file is missing.
        DamagedTable: a file is damaged.
    """
    schema = columns_of(lake.existing(table_name))
    parts = [pa.schema([*schema, pa.field(CHANGE_TYPE, pa.string())]).empty_table()]
    for files in feed:
        with lake.using(table_name):
            try:
                rows = rows_of_files(lake, table_name, files.names, schema).to_table()
            except FileNotFoundError as error:
                raise ChangeFeedGap(
                    f"{lake.location(table_name)}: files that its log names are no longer there"
                ) from error
        parts.append(rows.append_column(CHANGE_TYPE, pa.repeat(files.kind, rows.num_rows)))
    return pa.concat_tables(parts)


def _gap(address: str, missing: list[int], first: int, last: int) -> ChangeFeedGap:
    return ChangeFeedGap(
        f"{address}: the log no longer holds version {missing[0]}"
        f" ({len(missing)} of the versions {first}..{last} are gone)"
    )


def missing_versions(
    spark: SparkSession, address: str, first_version: int, last_version: int
) -> list[int]:
    """The versions of the range without a commit file, in any storage that Hadoop can read."""
    jvm = spark._jvm
    assert jvm is not None, "no session"
    folder = address.rstrip("/")
    files = jvm.org.apache.hadoop.fs.Path(folder).getFileSystem(
        spark._jsparkSession.sessionState().newHadoopConf()
    )
    return [
        version
        for version in range(first_version, last_version + 1)
        if not files.exists(jvm.org.apache.hadoop.fs.Path(f"{folder}/{commit_file(version)}"))
    ]
