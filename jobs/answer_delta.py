"""The rows that a publication appends to an answer table, as a Spark frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from jobs.plan.operators import ANSWER
from jobs.settings import Settings
from jobs.unpublished import Unpublished
from lake.reader import open_table
from lake.session import read
from lake.tables import ANSWER_COLUMNS, TRANSACTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def event_times(spark: SparkSession, settings: Settings, work: Sequence[Unpublished]) -> DataFrame:
    """epoch, event_time of the transactions that the rows of `work` may come from."""
    first = min(item.from_epoch for item in work)
    transactions = read(spark, settings.lake, TRANSACTIONS.name)
    return transactions.where(F.col("epoch") > first).select("epoch", "event_time")


def published_columns(settings: Settings, work: Unpublished) -> tuple[str, ...]:
    """The columns of the answer table: those of the query, then those of its earlier texts.

    A column that differs from an earlier one by case only keeps the earlier spelling: Delta takes
    the two for one.
    """
    stored = _stored_columns(settings, work.query)
    spelling = {name.lower(): name for name in stored}
    now = tuple(spelling.get(name.lower(), name) for name, _ in work.columns)
    return (*now, *(name for name in stored if name not in now))


def answer_delta(
    spark: SparkSession, settings: Settings, work: Unpublished, times: DataFrame
) -> DataFrame:
    """epoch, weight, the published columns, event_time.

    Anew: at the base, the state there minus what is published; then the rows after the base.
    Else: the rows after the published watermark.
    """
    columns = published_columns(settings, work)
    numbers = [number for _, number in work.columns]
    stored = read(spark, settings.lake, f"embeddings/{work.query}", work.snapshot)
    rows = stored.where((F.col("node") == ANSWER) & (F.col("epoch") <= work.to_epoch)).select(
        "epoch",
        "weight",
        *(F.col(f"v{number}").alias(name) for name, number in zip(columns, numbers, strict=False)),
        *(F.lit(None).cast("string").alias(name) for name in columns[len(numbers) :]),
    )
    if work.published is None:
        delta = rows
    elif work.anew:
        start = max(work.maintained.metadata.base, work.published.watermark)
        state = rows.where(F.col("epoch") <= start)
        published = read(spark, settings.lake, f"answers/{work.query}")
        known = {name.lower() for name in published.columns}
        gone = published.select(
            (-F.col("weight")).alias("weight"),
            *(
                F.col(name) if name.lower() in known else F.lit(None).cast("string").alias(name)
                for name in columns
            ),
        )
        difference = (
            state.select(*columns, "weight")
            .unionByName(gone)
            .groupBy(*columns)
            .agg(F.sum("weight").alias("weight"))
            .where(F.col("weight") != 0)
            .withColumn("epoch", F.lit(start).cast("bigint"))
        )
        delta = difference.unionByName(rows.where(F.col("epoch") > start))
    else:
        delta = rows.where(F.col("epoch") > work.from_epoch)
    return delta.join(F.broadcast(times), "epoch", "left")


def _stored_columns(settings: Settings, query: str) -> tuple[str, ...]:
    table = open_table(settings.lake, f"answers/{query}", settings.storage_options or None)
    if table is None:
        return ()
    return tuple(field.name for field in table.schema().fields if field.name not in ANSWER_COLUMNS)
