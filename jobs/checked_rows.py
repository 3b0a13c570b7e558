"""The rows that the suites of `expectations` check, as Spark frames with the suites' columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Literal, assert_never

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from jobs.plan.operators import ANSWER
from jobs.settings import Settings
from jobs.sparql.algebra import Ask, Construct, Query, Select
from jobs.unpublished import Unpublished
from lake.session import read
from lake.tables import QUADS, TRANSACTIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """What the suite `answers` has to know of a query."""

    form: Literal["select", "ask", "construct"]
    is_set: bool
    max_rows: int | None

    @classmethod
    def of(cls, query: Query, *, is_set: bool, max_rows: int | None) -> AnswerRules:
        """The rules of a query."""
        match query.form:
            case Select():
                return cls("select", is_set, max_rows)
            case Ask():
                return cls("ask", is_set, max_rows)
            case Construct():
                return cls("construct", is_set, max_rows)
            case _:
                assert_never(query.form)


def quad_rows(spark: SparkSession, settings: Settings, from_epoch: int, to_epoch: int) -> DataFrame:
    """The quads that changed in (from_epoch, to_epoch]; columns of the suite `quads`."""
    changes = read(spark, settings.lake, QUADS.name).where(_in_range(from_epoch, to_epoch))
    return _bounded(changes, "", from_epoch, to_epoch)


def transaction_rows(
    spark: SparkSession, settings: Settings, quads: DataFrame, from_epoch: int, to_epoch: int
) -> DataFrame:
    """All transactions, with the numbers of rows that `quads` has of each epoch of the range."""
    found = quads.groupBy("epoch").agg(
        F.count_if(F.col("weight") > 0).alias("found_inserted"),
        F.count_if(F.col("weight") < 0).alias("found_deleted"),
    )
    rows = read(spark, settings.lake, TRANSACTIONS.name).join(F.broadcast(found), "epoch", "left")
    # An epoch that changed nothing has no quads.
    return _bounded(rows.fillna(0, ["found_inserted", "found_deleted"]), "", from_epoch, to_epoch)


def answer_rows(
    spark: SparkSession, settings: Settings, work: Sequence[tuple[Unpublished, AnswerRules]]
) -> DataFrame:
    """The unpublished rows of several queries, and one row for each answer as a whole.

    Columns of the suites `embeddings` and `answers`; the scope is the query.
    """
    return reduce(
        DataFrame.unionByName,
        (_answer_rows(spark, settings, item, rules) for item, rules in work),
    )


def _answer_rows(
    spark: SparkSession, settings: Settings, work: Unpublished, rules: AnswerRules
) -> DataFrame:
    variables = [f"v{number}" for _, number in work.columns]
    stored = read(spark, settings.lake, f"embeddings/{work.query}", work.snapshot).where(
        F.col("node") == ANSWER
    )
    changes = stored.where(_in_range(work.from_epoch, work.to_epoch)).select(
        *variables, "epoch", "weight"
    )
    if work.anew:
        changes = changes.withColumn("held_before", F.lit(0).cast("bigint"))
    else:
        before = stored.where(F.col("epoch") <= work.from_epoch)
        changes = _with_multiplicity_before(changes, before, variables)
    rows = changes.select(
        F.array(*variables).alias("terms"),
        "epoch",
        F.col("weight").cast("bigint").alias("weight"),
        "held_before",
        F.lit(False).alias("is_total"),
    )
    total = spark.range(1).select(
        F.lit(None).cast("array<string>").alias("terms"),
        F.lit(work.to_epoch).cast("bigint").alias("epoch"),
        F.lit(0).cast("bigint").alias("weight"),
        F.lit(0).cast("bigint").alias("held_before"),
        F.lit(True).alias("is_total"),
    )
    facts = {
        "node": F.lit(ANSWER),
        "form": F.lit(rules.form),
        "is_set": F.lit(rules.is_set),
        "max_rows": F.lit(rules.max_rows).cast("bigint"),
        "rows_before": F.lit(work.rows_before).cast("bigint"),
    }
    return _bounded(
        rows.unionByName(total).withColumns(facts), work.query, work.from_epoch, work.to_epoch
    )


def _with_multiplicity_before(
    changes: DataFrame, before: DataFrame, variables: list[str]
) -> DataFrame:
    """`changes` with `held_before`: how often each row was there; unbound values are equal."""
    held = (
        _matching(before, "leftsemi", changes, variables)
        .groupBy(*variables)
        .agg(F.sum("weight").cast("bigint").alias("held_before"))
    )
    return _matching(changes, "left", held, variables, "held_before").fillna(0, ["held_before"])


def _matching(
    rows: DataFrame, how: str, others: DataFrame, variables: list[str], *kept: str
) -> DataFrame:
    """Join with the few `others` that have the same values, unbound ones alike; adds `kept`."""
    # Both may come from one table, where columns of the same name cannot be told apart.
    other = {name: f"other_{name}" for name in variables}
    few = others.select(*(F.col(old).alias(new) for old, new in other.items()), *kept).distinct()
    same = [F.col(old).eqNullSafe(F.col(new)) for old, new in other.items()]
    return rows.join(F.broadcast(few), same, how).drop(*other.values())


def _in_range(from_epoch: int, to_epoch: int) -> Column:
    return (F.col("epoch") > from_epoch) & (F.col("epoch") <= to_epoch)


def _bounded(rows: DataFrame, scope: str, from_epoch: int, to_epoch: int) -> DataFrame:
    return rows.withColumns(
        {
            "scope": F.lit(scope),
            "from_epoch": F.lit(from_epoch).cast("bigint"),
            "to_epoch": F.lit(to_epoch).cast("bigint"),
        }
    )
