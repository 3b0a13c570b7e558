"""A foreign Delta table: its content and its commits as rows, the terms checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from jobs.compute.relations import Statement
from jobs.ingest import netting
from jobs.ingest.changesets import ChangeSet
from jobs.ingest.distributed import DistributedEngine
from jobs.ingest.engine import Frame
from jobs.ingest.netting import QUAD
from jobs.ingest.rows import (
    SCHEMA,
    SPARK_SCHEMA,
    FileResult,
    Rows,
    rows_by_tasks,
    rows_of,
    rows_on_driver,
)
from jobs.ingest.sources.declared import DeltaTable
from jobs.rdf.blank_nodes import scoped_label
from jobs.rdf.records import Header
from jobs.rdf.terms import POSITIONS, TermError, canonical_term
from jobs.settings import Limits
from lake.change_feed import CHANGE_TYPE, COMMIT_VERSION, changes_of

_UNCHECKED = ("ordinal", "line", "insert", *QUAD)
_APPEARED = ("insert", "update_postimage")
Batches = Iterable[pa.RecordBatch]


def foreign_rows(
    engine: DistributedEngine,
    prefix: str,
    source: DeltaTable,
    change_sets: Sequence[tuple[int, ChangeSet]],
    document: int,
    limits: Limits,
    staging: str,
) -> Rows:
    """The rows of successive change sets of one table, each with its ordinal.

    `document` is the number of the table's content. Rows whose terms are no terms are rejected
    without a line.

    Raises:
        ChangeFeedGap: commits of the range are gone.
    """
    parts = [
        _content(engine, source, each.version, ordinal)
        for ordinal, each in change_sets
        if each.kind == "content"
    ]
    commits = {each.version: ordinal for ordinal, each in change_sets if each.kind == "commit"}
    if commits:
        parts.append(_commits(engine, prefix, source, commits, limits.broadcast_rows))
    unchecked = reduce(DataFrame.unionByName, (part.select(*_UNCHECKED) for part in parts))
    check = _checking(source, document, limits.raw_bytes)
    few = unchecked.limit(limits.broadcast_rows + 1).toArrow()
    if few.num_rows <= limits.broadcast_rows:
        checked = pa.Table.from_batches(check(few.to_batches()), schema=SCHEMA)
        rows = rows_on_driver(checked)
    else:
        rows = rows_by_tasks(engine.spark, unchecked.mapInArrow(check, SPARK_SCHEMA), staging)
    return Rows(rows.changes, rows.rejections, _results(rows, change_sets, document))


def _content(
    engine: DistributedEngine, source: DeltaTable, version: int, ordinal: int
) -> DataFrame:
    table = _table(engine, source, version).distinct()
    return table.withColumns({"ordinal": F.lit(ordinal), "line": F.lit(0), "insert": F.lit(True)})


def _commits(
    engine: DistributedEngine,
    prefix: str,
    source: DeltaTable,
    ordinals: dict[int, int],
    broadcast_rows: int,
) -> DataFrame:
    """What the commits made appear or vanish; what cancels out within a commit is not looked at.

    Rows are counted by the one spelling of their quad: it is there as long as one of any spelling
    is.
    """
    first, last = min(ordinals), max(ordinals)
    feed = changes_of(engine.spark, source.location, first, last)
    sign = F.when(F.col(CHANGE_TYPE).isin(*_APPEARED), 1).otherwise(-1)
    epoch = F.col(COMMIT_VERSION) - F.lit(first - ordinals[first])
    net = (
        feed.select(epoch.alias("epoch"), sign.alias("one"), *_terms(source))
        .groupBy("epoch", *QUAD)
        .agg(F.sum("one").alias("sign"))
        .where("sign <> 0")
    )
    changes, near = f"{prefix}_changes", f"{prefix}_near"
    _respell(engine, changes, net, source.graph_term, broadcast_rows)
    about = _near(_table(engine, source, last), engine.spark.table(changes))
    _respell(engine, near, about, source.graph_term, broadcast_rows)
    engine.make(Statement(f"{prefix}_held", netting.rows_about(near, changes, QUAD)))
    bag = netting.bag_operations(changes, f"{prefix}_held")
    return engine.relations.frame(bag).withColumn("ordinal", F.col("epoch").cast("int"))


def _near(table: DataFrame, changes: DataFrame) -> DataFrame:
    """The rows that may be one of the `changes` in another spelling.

    Subjects and predicates have one spelling but for escapes; a row with one is looked at.
    """
    about = changes.select("subject", "predicate").distinct().withColumn("about", F.lit(True))
    escaped = F.col("subject").contains("\\") | F.col("predicate").contains("\\")
    marked = table.join(about, ["subject", "predicate"], "left")
    return marked.where(F.coalesce("about", F.lit(False)) | escaped).select(*QUAD)


def _respell(
    engine: DistributedEngine, name: str, rows: DataFrame, default_graph: str, broadcast_rows: int
) -> None:
    """Make `rows` known as the relation `name`, their terms as the tables spell them."""
    respelled = _respelling(default_graph)
    few = rows.limit(broadcast_rows + 1).toArrow()
    if few.num_rows <= broadcast_rows:
        batches = respelled(few.to_batches())
        engine.register(name, [pa.Table.from_batches(batches, schema=few.schema)])
    else:
        # Read more than once.
        engine.relations.register(name, rows.mapInArrow(respelled, rows.schema), "cache")


def _table(engine: DistributedEngine, source: DeltaTable, version: int) -> DataFrame:
    reader = engine.spark.read.format("delta").option("versionAsOf", version)
    return reader.load(source.location).select(*_terms(source))


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


def _respelling(default_graph: str) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The function that gives quads their one spelling; rows that are no quads stay as they are."""

    def respelled(row: dict[str, Any]) -> dict[str, Any]:
        try:
            return row | _canonical(row, default_graph)
        except TermError:
            return row

    def respell(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [respelled(row) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, schema=batch.schema)

    return respell


def _checking(
    source: DeltaTable, document: int, raw_bytes: int
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The function that turns unchecked rows into changes and rejections."""
    scope, default_graph = source.name, source.graph_term

    def check(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            good: list[dict[str, object]] = []
            bad: list[dict[str, object]] = []
            for row in batch.to_pylist():
                try:
                    good.append(row | _scoped(_canonical(row, default_graph), scope))
                except TermError as error:
                    raw = " ".join(row[name] for name in QUAD[1:] + QUAD[:1])
                    cut = raw.encode()[:raw_bytes].decode(errors="ignore")
                    bad.append({"ordinal": row["ordinal"], "reason": str(error), "raw": cut})
            yield _rows("change", good, _UNCHECKED, document=document)
            yield _rows("rejection", bad, ("ordinal", "reason", "raw"), file="", line=0, column=0)

    return check


def _canonical(row: dict[str, str], default_graph: str) -> dict[str, str]:
    terms: dict[str, str] = {}
    for position in POSITIONS:
        try:
            terms[position] = canonical_term(row[position], position)
        except TermError as error:
            raise TermError(f"{position}: {error}") from None
    return terms | {"graph": terms["graph"] or default_graph}


def _scoped(terms: dict[str, str], scope: str) -> dict[str, str]:
    """The quad with the labels that its blank nodes have in the tables."""
    return {
        position: scoped_label(scope, term) if term.startswith("_:") else term
        for position, term in terms.items()
    }


def _rows(
    part: str, rows: list[dict[str, object]], columns: Sequence[str], **same: object
) -> pa.RecordBatch:
    arrays = {
        name: pa.array([row[name] for row in rows], SCHEMA.field(name).type) for name in columns
    }
    return rows_of(part, len(rows), **arrays, **same)


def _results(
    rows: Rows, change_sets: Sequence[tuple[int, ChangeSet]], document: int
) -> tuple[FileResult, ...]:
    changes, rejections = (_by_ordinal(frame) for (frame,) in (rows.changes, rows.rejections))
    return tuple(
        FileResult(
            ordinal,
            document,
            Header(None, None, each.event_time),
            changes=changes[ordinal],
            rejections=rejections[ordinal],
        )
        for ordinal, each in change_sets
    )


def _by_ordinal(frame: Frame) -> Counter[int]:
    """The number of rows of each change set."""
    if isinstance(frame, pa.Table):
        return Counter(row["ordinal"] for row in frame.select(["ordinal"]).to_pylist())
    return Counter(
        {row["ordinal"]: row["count"] for row in frame.groupBy("ordinal").count().collect()}
    )
