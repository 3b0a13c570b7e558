"""The changes of a range of epochs, read from the change feeds of `quads` and `triples`."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from jobs.engine.graph import log_columns
from jobs.engine.relations import EpochRange
from jobs.plan.leaves import Scope
from jobs.progress.watermarks import Transaction
from lake.change_feed import (
    CHANGE_TYPE,
    ChangeFeedGap,
    changes,
    changes_here,
    lost_files_are_a_gap,
)
from lake.lake import Lake
from lake.tables import QUADS, TRIPLES, Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read_changes(
    spark: SparkSession,
    lake: Lake,
    scope: Scope,
    epochs: EpochRange,
    transactions: Sequence[Transaction],
    predicates: frozenset[str] | None,
) -> DataFrame:
    """The log rows (`log_columns`) of `scope` within `epochs`.

    Args:
        spark: the session.
        lake: which holds the tables.
        scope: the union of all graphs, one graph, or each graph by itself.
        epochs: the range.
        transactions: at least those of the range.
        predicates: the predicates to read; None for all.

    Raises:
        ChangeFeedGap: the feed does not hold every commit of the range, or holds something that
            only appending does not explain.
    """
    from pyspark.sql import functions as F  # noqa: N812

    table, first, last = _feed(scope, epochs, transactions)
    feed = changes(spark, lake, table.name, first, last)
    feed = feed.where((F.col("epoch") > epochs.after) & (F.col("epoch") <= epochs.last))
    if scope.graphs is not None:
        feed = feed.where(F.col("graph").isin(*scope.graphs))
    elif scope.each:
        feed = feed.where(F.col("graph") != "")
    if predicates is not None:
        feed = feed.where(F.col("predicate").isin(*sorted(predicates)))
    # Looks at every row, and so opens every file.
    with lost_files_are_a_gap(lake.location(table.name)):
        kinds = {str(row[0]) for row in feed.groupBy(CHANGE_TYPE).agg(F.count("epoch")).collect()}
    _refuse_all_but_inserts(table, kinds)
    return feed.select(*log_columns(scope))


def read_few_changes(
    lake: Lake,
    scope: Scope,
    epochs: EpochRange,
    transactions: Sequence[Transaction],
    predicates: frozenset[str] | None,
) -> pa.Table:
    """`read_changes` without Spark, for few rows.

    Raises:
        ChangeFeedGap: as `read_changes` says.
    """
    table, first, last = _feed(scope, epochs, transactions)
    feed = changes_here(lake, table.name, first, last)
    wanted = (pc.field("epoch") > epochs.after) & (pc.field("epoch") <= epochs.last)
    if scope.graphs is not None:
        wanted &= pc.field("graph").isin([*scope.graphs])
    elif scope.each:
        wanted &= pc.field("graph") != ""
    if predicates is not None:
        wanted &= pc.field("predicate").isin(sorted(predicates))
    # delta-rs gives views of strings, which pyarrow cannot filter.
    text = {pa.string_view(): pa.string()}
    plain = pa.schema([(field.name, text.get(field.type, field.type)) for field in feed.schema])
    rows = feed.cast(plain).filter(wanted)
    _refuse_all_but_inserts(table, {str(kind) for kind in rows[CHANGE_TYPE].unique().to_pylist()})
    return rows.select(list(log_columns(scope)))


def _refuse_all_but_inserts(table: Table, kinds: Set[str]) -> None:
    """The logs are only appended to: any other event means that somebody else wrote them."""
    others = kinds - {"insert"}
    if others:
        raise ChangeFeedGap(f"{table.name} was not only appended to: {', '.join(sorted(others))}")


def _feed(
    scope: Scope, epochs: EpochRange, transactions: Sequence[Transaction]
) -> tuple[Table, int, int]:
    """The table whose feed has the changes of a range, and its first and last version in it.

    Raises:
        ChangeFeedGap: an epoch of the range is not in `transactions`.
    """
    inside = [t for t in transactions if epochs.after < t.epoch <= epochs.last]
    if len(inside) != epochs.last - epochs.after:
        raise ChangeFeedGap(
            f"`transactions` names {len(inside)} of the epochs {epochs.after + 1}..{epochs.last}"
        )
    # An epoch without changes has the version of an earlier commit, whose feed may be gone.
    inside = [t for t in inside if t.changes] or inside
    if scope.graphs is None and not scope.each:
        table, versions = TRIPLES, [t.triples_version for t in inside]
    else:
        table, versions = QUADS, [t.quads_version for t in inside]
    return table, min(versions), max(versions)
