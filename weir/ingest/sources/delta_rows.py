"""The rows of versions of a Delta table: contents and commits, on Spark.

`delta_rows_here` gives the same of few rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.compute.sql import rows_of, select
from weir.ingest import netting
from weir.ingest.changesets import ChangeSet
from weir.ingest.netting import QUAD
from weir.ingest.reading import SourceReading
from weir.ingest.rows import SCHEMA, SPARK_SCHEMA, rows_by_tasks, rows_on_driver
from weir.ingest.sources.bags import bag_assertions
from weir.ingest.sources.delta import DeltaTable
from weir.ingest.sources.delta_reading import reading_of
from weir.ingest.sources.delta_terms import UNCHECKED, checking, respelling
from weir.lake.delta.change_feed import CHANGE_TYPE, COMMIT_VERSION, changes_of
from weir.settings import Limits

_APPEARED = ("insert", "update_postimage")


def read_versions(
    engine: Engine,
    prefix: str,
    source: DeltaTable,
    change_sets: Mapping[int, ChangeSet],
    document: int,
    limits: Limits,
    staging: str,
) -> SourceReading:
    """The rows of successive change sets of one table, by ordinal.

    Rows whose terms are no terms are rejected without a line.

    Args:
        engine: decides where terms are looked at one by one.
        prefix: ends the names of the relations that are made.
        source: the table.
        change_sets: by ordinal; contents and commits.
        document: the number of the table's content.
        limits: how much of a rejected row is recorded.
        staging: folder or URI for the rows that Spark looks at.

    Raises:
        ChangeFeedGap: commits of the range are gone.
    """
    parts = [
        _content(engine, source, int(each.position), ordinal)
        for ordinal, each in change_sets.items()
        if each.state is not None
    ]
    commits = {
        int(each.position): ordinal for ordinal, each in change_sets.items() if each.state is None
    }
    if commits and source.stream is None:
        parts.append(_commits(engine, prefix, source, commits))
    elif commits:
        parts.append(_events(engine, source, commits))
    unchecked = reduce(DataFrame.unionByName, (part.select(*UNCHECKED) for part in parts))
    check = checking(source.first_name, source.graph_term, document, limits.raw_bytes)
    few = _on_driver(engine, unchecked)
    if few is not None:
        checked = pa.Table.from_batches(check(few.to_batches()), schema=SCHEMA)
        rows = rows_on_driver(checked)
    else:
        rows = rows_by_tasks(engine.spark, unchecked.mapInArrow(check, SPARK_SCHEMA), staging)
    return reading_of(rows, change_sets)


def _content(engine: Engine, source: DeltaTable, version: int, ordinal: int) -> DataFrame:
    stored = _version(engine, source, version)
    table = stored.select(*_terms(source), _time(source, stored)).distinct()
    return table.withColumns({"ordinal": F.lit(ordinal), "line": F.lit(0), "insert": F.lit(True)})


def _commits(
    engine: Engine, prefix: str, source: DeltaTable, ordinals: Mapping[int, int]
) -> DataFrame:
    """What the commits make appear or vanish; what cancels out within a commit is left out.

    Rows are counted by the one spelling of their quad: it holds as long as one of any spelling
    does. `ordinals` is by version.
    """
    last = max(ordinals)
    net = _net(engine, source, ordinals).where("sign <> 0").drop("time")
    changes, near, held = f"changes_of_{prefix}", f"near_of_{prefix}", f"held_of_{prefix}"
    _respell(engine, changes, net, source.graph_term)
    about = _near(_version(engine, source, last).select(*_terms(source)), engine.frame(changes))
    _respell(engine, near, about, source.graph_term)
    engine.make(Statement(held, netting.rows_about(near, changes, QUAD)))
    engine.make(Statement(f"assertions_of_{prefix}", bag_assertions(changes, held)))
    assertions = engine.frame(f"assertions_of_{prefix}")
    return assertions.select("*", F.col("epoch").cast("int").alias("ordinal"), _no_time())


def _events(engine: Engine, source: DeltaTable, ordinals: Mapping[int, int]) -> DataFrame:
    """The rows that commits add; one that a commit writes again is none. `ordinals` by version."""
    return (
        _net(engine, source, ordinals)
        .where("sign > 0")
        .select(
            F.col("epoch").cast("int").alias("ordinal"),
            F.lit(0).alias("line"),
            F.lit(True).alias("insert"),
            *QUAD,
            "time",
        )
    )


def _net(engine: Engine, source: DeltaTable, ordinals: Mapping[int, int]) -> DataFrame:
    """The net changes of commits: epoch, which is the ordinal, QUAD, time, sign.

    sign: how many rows more or fewer the commit leaves. `ordinals` is by version.
    """
    first, last = min(ordinals), max(ordinals)
    feed = changes_of(engine.spark, source.location, first, last)
    sign = F.when(F.col(CHANGE_TYPE).isin(*_APPEARED), 1).otherwise(-1)
    ordinal = F.col(COMMIT_VERSION) - F.lit(first - ordinals[first])
    return (
        feed.select(ordinal.alias("epoch"), sign.alias("one"), *_terms(source), _time(source, feed))
        .groupBy("epoch", *QUAD, "time")
        .agg(F.sum("one").alias("sign"))
    )


def _near(table: DataFrame, changes: DataFrame) -> DataFrame:
    """The rows that may be one of the `changes` in another spelling.

    Subjects and predicates have one spelling but for escapes; a row with one is looked at.
    """
    about = changes.select("subject", "predicate").distinct().withColumn("about", F.lit(True))
    escaped = F.col("subject").contains("\\") | F.col("predicate").contains("\\")
    marked = table.join(about, ["subject", "predicate"], "left")
    return marked.where(F.coalesce("about", F.lit(False)) | escaped).select(*QUAD)


def _on_driver(engine: Engine, rows: DataFrame) -> pa.Table | None:
    """The rows if the driver looks at their terms one by one, which is as much as to parse them."""
    few = engine.collect_few(rows)
    return few if few is not None and engine.placement.parses(few.nbytes) else None


def _respell(engine: Engine, name: str, rows: DataFrame, default_graph: str) -> None:
    """Make `rows` the relation `name`, their terms as Weir's tables spell them."""
    respell = respelling(default_graph)
    few = _on_driver(engine, rows)
    if few is not None:
        engine.load(name, pa.Table.from_batches(respell(few.to_batches()), few.schema))
    else:
        spelled = f"spelled_{name}"
        engine.load(spelled, rows.mapInArrow(respell, rows.schema))
        # Read more than once.
        engine.make(Statement(name, select("*", from_=rows_of(spelled)), "cache"))


def _version(engine: Engine, source: DeltaTable, version: int) -> DataFrame:
    reader = engine.spark.read.format("delta").option("versionAsOf", version)
    return reader.load(source.location)


def _terms(source: DeltaTable) -> list[Any]:
    """The columns of the quad; a term that is null becomes empty, which is none."""
    columns = source.columns
    graph = F.lit("") if columns.graph is None else F.col(columns.graph)
    named = {
        "graph": graph,
        "subject": F.col(columns.subject),
        "predicate": F.col(columns.predicate),
        "object": F.col(columns.object),
    }
    return [F.coalesce(term, F.lit("")).alias(name) for name, term in named.items()]


def _no_time() -> Any:
    return F.lit(None).cast("string").alias("time")


def _time(source: DeltaTable, rows: DataFrame) -> Any:
    """The time of an event as `weir.ingest.instants` reads it; null if no column has it."""
    if source.columns.time is None:
        return _no_time()
    time = F.col(source.columns.time)
    match rows.select(time).dtypes[0][1]:
        case "timestamp":
            time = F.unix_micros(time)
        case "timestamp_ntz":
            time = F.date_format(time, "yyyy-MM-dd'T'HH:mm:ss.SSSSSS")
    return time.cast("string").alias("time")
