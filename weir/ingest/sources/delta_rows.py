"""The rows of versions of a Delta table, contents and commits: which quads they insert and delete.

The statements are the same for rows of files (`delta_files`) and for rows of Spark (`delta_spark`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
from sqlglot import exp

from weir.compute.engine import Engine, Frame
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    any_of,
    case,
    column,
    columns,
    equal,
    is_not_null,
    left_join,
    matches,
    null_text,
    number,
    one_of,
    rows_of,
    select,
    small_number,
    subquery,
    sum_of,
    union_all,
)
from weir.ingest import netting
from weir.ingest.changesets import ChangeSet
from weir.ingest.file_rows import SCHEMA
from weir.ingest.netting import QUAD
from weir.ingest.reading import ChangeSetReading, SourceReading
from weir.ingest.rows import SPARK_SCHEMA, Rows, rows_by_tasks, rows_on_driver
from weir.ingest.sources.bags import bag_assertions
from weir.ingest.sources.delta_terms import UNCHECKED, checking, respelling
from weir.lake.delta.change_feed import CHANGE_TYPE, COMMIT_VERSION
from weir.settings import Limits

if TYPE_CHECKING:
    from weir.ingest.sources.delta import DeltaTable
    from weir.ingest.sources.delta_files import FileRows
    from weir.ingest.sources.delta_spark import SparkRows

_APPEARED = ("insert", "update_postimage")


VersionRows: TypeAlias = "FileRows | SparkRows"
"""Reads the rows of a table as it holds them.

Their columns are QUAD, where a term that is null is empty, which is none, and `time`, text that
`weir.ingest.instants` reads, null if no column has it; of changes CHANGE_TYPE and COMMIT_VERSION,
too. Of the rows `near` some changes, those that `_near` leaves out may be missing.
"""


def read_versions(
    engine: Engine,
    source: DeltaTable,
    rows: VersionRows,
    change_sets: Mapping[int, ChangeSet],
    document: int,
    limits: Limits,
    staging: str,
) -> SourceReading:
    """The rows of successive change sets of one table, by ordinal.

    Rows whose terms are no terms are rejected without a line.

    Args:
        engine: decides where terms are looked at one by one.
        source: the table.
        rows: reads it.
        change_sets: by ordinal; contents and commits.
        document: the number of the table's content.
        limits: how much of a rejected row is recorded.
        staging: folder or URI for the rows that Spark looks at.

    Raises:
        ChangeFeedGap: commits of the range, or files of theirs, are gone.
    """
    with engine.scope() as own:
        unchecked = f"unchecked_of_{source.name}"
        own.make(Statement(unchecked, union_all(_parts(own, source, rows, change_sets))))
        check = checking(source.first_name, source.graph_term, document, limits.raw_bytes)
        few = _few(own, unchecked)
        if few is not None:
            checked = rows_on_driver(pa.Table.from_batches(check(few.to_batches()), SCHEMA))
        else:
            frame = rows.many(own, unchecked).mapInArrow(check, SPARK_SCHEMA)
            checked = rows_by_tasks(own.spark, frame, staging)
    return _reading(checked, change_sets)


def _parts(
    engine: Engine,
    source: DeltaTable,
    rows: VersionRows,
    change_sets: Mapping[int, ChangeSet],
) -> list[exp.Query]:
    """What the change sets insert and delete: `UNCHECKED`."""
    parts: list[exp.Query] = []
    ordinals: dict[int, int] = {}
    for ordinal, change_set in change_sets.items():
        version = int(change_set.position)
        if change_set.state is None:
            ordinals[version] = ordinal
            continue
        content = f"content_{ordinal}_of_{source.name}"
        engine.load(content, rows.content(version))
        parts.append(_inserted(content, number(ordinal), is_distinct=True))
    if ordinals:
        first, last = min(ordinals), max(ordinals)
        feed, net = f"feed_of_{source.name}", f"net_of_{source.name}"
        engine.load(feed, rows.changes(first, last))
        engine.make(Statement(net, _net(feed, first - ordinals[first])))
        if source.stream is None:
            parts.append(_commits(engine, source, rows, last, net))
        else:
            # A row that a commit writes again is none.
            parts.append(_inserted(net, column("epoch"), column("sign") > number(0)))
    return parts


def _net(feed: str, before_first: int) -> exp.Select:
    """The net changes of commits: epoch, which is the ordinal, QUAD, time, sign.

    sign: how many rows more or fewer the commit leaves.
    """
    appeared = one_of(column(CHANGE_TYPE), _APPEARED)
    one = case((appeared, small_number(1)), otherwise=small_number(-1))
    return select(
        alias(column(COMMIT_VERSION) - number(before_first), "epoch"),
        *columns((*QUAD, "time")),
        alias(sum_of(one), "sign"),
        from_=rows_of(feed),
        group_by=columns((COMMIT_VERSION, *QUAD, "time")),
        having=sum_of(one).neq(number(0)),
    )


def _inserted(
    rows: str, ordinal: exp.Expr, *where: exp.Expr, is_distinct: bool = False
) -> exp.Select:
    return select(
        alias(ordinal, "ordinal"),
        alias(number(0), "line"),
        alias(exp.true(), "insert"),
        *columns((*QUAD, "time")),
        from_=rows_of(rows),
        where=where,
        distinct=is_distinct,
    )


def _commits(
    engine: Engine, source: DeltaTable, rows: VersionRows, last: int, net: str
) -> exp.Select:
    """What commits make appear or vanish.

    Rows are counted by the one spelling of their quad: it holds as long as one of any spelling
    does.
    """
    changes, version = f"changes_of_{source.name}", f"version_of_{source.name}"
    near, spelled = f"near_of_{source.name}", f"spelled_of_{source.name}"
    held, assertions = f"held_of_{source.name}", f"assertions_of_{source.name}"
    _respell(engine, source, rows, net, changes)
    engine.load(version, rows.near(engine, last, changes))
    engine.make(Statement(near, _near(version, changes)))
    _respell(engine, source, rows, near, spelled)
    engine.make(Statement(held, netting.rows_about(spelled, changes, QUAD)))
    engine.make(Statement(assertions, bag_assertions(changes, held)))
    return select(
        alias(column("epoch"), "ordinal"),
        *columns(UNCHECKED[1:-1]),
        null_text("time"),
        from_=rows_of(assertions),
    )


def _near(version: str, changes: str) -> exp.Select:
    """The rows that may be one of the `changes` in another spelling.

    Subjects and predicates have one spelling but for escapes; a row with one is looked at.
    """
    key = ("subject", "predicate")
    about = select(*columns(key), alias(exp.true(), "about"), from_=rows_of(changes), distinct=True)
    return select(
        *columns(QUAD, "version"),
        from_=rows_of(version, "version"),
        joins=[left_join(subquery(about, "about"), *equal(key, "version", "about"))],
        where=[
            any_of(
                [
                    is_not_null(column("about", "about")),
                    *(matches(column(name, "version"), r"\\") for name in key),
                ]
            )
        ],
    )


def _few(engine: Engine, relation: str) -> pa.Table | None:
    """The rows if the driver looks at their terms one by one, which is as much as to parse them."""
    few = engine.fetch_few(relation)
    return few if few is not None and engine.placement.parses(few.nbytes) else None


def _respell(
    engine: Engine, source: DeltaTable, rows: VersionRows, relation: str, name: str
) -> None:
    """Make the rows of `relation` the relation `name`, their terms as Weir's tables spell them."""
    respell = respelling(source.graph_term)
    few = _few(engine, relation)
    if few is not None:
        engine.load(name, pa.Table.from_batches(respell(few.to_batches()), few.schema))
    else:
        frame = rows.many(engine, relation)
        # Read more than once.
        engine.load(name, frame.mapInArrow(respell, frame.schema), "cache")


def _reading(rows: Rows, change_sets: Mapping[int, ChangeSet]) -> SourceReading:
    """The reading of change sets, by ordinal, whose `rows` are one frame each."""
    changes, rejections = (_by_ordinal(frame) for (frame,) in (rows.changes, rows.rejections))
    return SourceReading(
        rows,
        {
            ordinal: ChangeSetReading(
                change_set.change_id,
                change_set.event_time,
                changes[ordinal],
                rejections[ordinal],
                malformed=rejections[ordinal],
            )
            for ordinal, change_set in change_sets.items()
        },
    )


def _by_ordinal(frame: Frame) -> Counter[int]:
    """The number of rows of each change set."""
    if isinstance(frame, pa.Table):
        ordinals: list[Any] = frame["ordinal"].to_pylist()
        return Counter(ordinals)
    counts = frame.groupBy("ordinal").count().collect()
    return Counter({row["ordinal"]: row["count"] for row in counts})
