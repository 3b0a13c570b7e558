"""A foreign Delta table: its content and its commits as rows, the terms checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from jobs.engine import netting
from jobs.engine.netting import QUAD
from jobs.engine.relations import Statement
from jobs.ingest.changesets import ChangeSet
from jobs.ingest.distributed import DistributedEngine
from jobs.ingest.engine import Frame
from jobs.ingest.rows import (
    SCHEMA,
    SPARK_SCHEMA,
    FileResult,
    Rows,
    rows_by_tasks,
    rows_of,
    rows_on_driver,
)
from jobs.rdf.blank_nodes import scoped_label
from jobs.rdf.records import Header
from jobs.rdf.terms import Position, TermError, canonical_term
from jobs.settings import Limits
from jobs.sources import DeltaTable
from lake.change_feed import CHANGE_TYPE, COMMIT_VERSION, changes_of

_POSITIONS: tuple[Position, ...] = ("graph", "subject", "predicate", "object")
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
        parts.append(_commits(engine, prefix, source, commits))
    unchecked = reduce(DataFrame.unionByName, (part.select(*_UNCHECKED) for part in parts))
    check = _checking(source, document, limits.raw_bytes)
    few = unchecked.limit(limits.local_rows + 1).toArrow()
    if few.num_rows <= limits.local_rows:
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
    engine: DistributedEngine, prefix: str, source: DeltaTable, ordinals: dict[int, int]
) -> DataFrame:
    """What the commits made appear or vanish; what cancels out within a commit is not looked at."""
    first, last = min(ordinals), max(ordinals)
    feed = changes_of(engine.spark, source.location, first, last)
    sign = F.when(F.col(CHANGE_TYPE).isin(*_APPEARED), 1).otherwise(-1)
    changes = feed.select(
        (F.col(COMMIT_VERSION) - F.lit(first - ordinals[first])).alias("epoch"),
        sign.alias("sign"),
        *_terms(source),
    )
    engine.relations.register(f"{prefix}_changes", changes, "cache")
    engine.register(f"{prefix}_table", [_table(engine, source, last)])
    held = netting.rows_about(f"{prefix}_table", f"{prefix}_changes", QUAD)
    engine.make(Statement(f"{prefix}_held", held))
    bag = netting.bag_operations(f"{prefix}_changes", f"{prefix}_held")
    operations = engine.relations.frame(bag)
    # Two spellings of one quad in one commit: it is there if one of them is.
    return operations.withColumns(
        {"ordinal": F.col("epoch").cast("int"), "line": F.col("insert").cast("bigint")}
    )


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
                    good.append(row | _canonical(row, scope, default_graph))
                except TermError as error:
                    raw = " ".join(row[name] for name in QUAD[1:] + QUAD[:1])
                    cut = raw.encode()[:raw_bytes].decode(errors="ignore")
                    bad.append({"ordinal": row["ordinal"], "reason": str(error), "raw": cut})
            yield _rows("change", good, _UNCHECKED, document=document)
            yield _rows("rejection", bad, ("ordinal", "reason", "raw"), file="", line=0, column=0)

    return check


def _canonical(row: dict[str, str], scope: str, default_graph: str) -> dict[str, str]:
    terms: dict[str, str] = {}
    for position in _POSITIONS:
        try:
            term = canonical_term(row[position], position)
        except TermError as error:
            raise TermError(f"{position}: {error}") from None
        terms[position] = scoped_label(scope, term) if term.startswith("_:") else term
    return terms | {"graph": terms["graph"] or default_graph}


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
