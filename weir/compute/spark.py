"""Relations on Spark; the only module, except for sources of ingest, that computes with Spark."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import count
from operator import add
from typing import TYPE_CHECKING, Any, assert_never
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.functions import arrow_udf
from sqlglot import exp

from weir.compute.functions import (
    AGGREGATE,
    EVALUATE,
    SORT_KEY,
    aggregate_batch,
    evaluate_batch,
    sort_keys,
)
from weir.compute.matching import LinearMatching
from weir.compute.plan_size import STORED_TABLE, PlanSize
from weir.errors import WeirError
from weir.lake.delta.session import NO_ANSWER, answers
from weir.lake.delta.staging import remove, stage
from weir.sparql.functions.evaluation_limits import EvaluationLimits
from weir.sparql.recursion import deep_recursion

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from weir.compute.relations import Keep, Statement

DIALECT = "spark"
_DEFAULT = EvaluationLimits()
_ENDED = (
    "Nothing is lost: the next run goes on. If Spark says `OutOfMemoryError` above, give it more"
    " memory: `driver_memory` under `[spark]` in weir.toml."
)

_MOST_NODES = 120
"""Most nodes of a statement's plan: if it has more, views that it reads are cut, largest first."""
_PLAIN_NODES = 4
"""A view with at most so many nodes reads a stored table; Spark reads it again instead of storing
its rows."""
_MOST_DEPTH = 120
"""Most nodes in a chain that one job computes: if it has more, an earlier job computes what it
reads. A task contains its whole chain, which Java deserializes by recursion; its stack overflows at
about 300 nodes."""
_MORE_SHORT_ROWS = 5
"""So many times `broadcast_rows` are sent to every task if they are short."""
_BYTES_SENT = 16_000_000
"""The most bytes of such rows, as text."""
_DEPTH_OF_CUT = 10
"""Nodes by which storing the rows of a plan makes the chain longer."""


@dataclass(slots=True)
class _View:
    """A relation on Spark.

    Attributes:
        frame: computes it.
        size: of its plan.
        on_disk: whether stored rows are kept on disk alone.
        stored: the rows of a cut plan, as Spark's planner has them (a Java RDD); None if it is not
            cut.
        rows: how many it has, once they are counted.
        reads: how often statements have read it.
        cutting: held while its plan is cut, or its rows are counted.
    """

    frame: DataFrame
    size: PlanSize
    on_disk: bool = False
    stored: Any = None
    rows: int | None = None
    reads: int = 0
    cutting: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_cut(self) -> bool:
        """Whether its rows are stored, or will be stored by the first job that reads them."""
        return self.size.nodes == 1


class SparkEngine:
    """Relations as temporary views of a session.

    Spark expands every view that a statement reads before it plans: plans of relations over
    relations would grow exponentially, and each statement would compute the views that it shares
    with others. So the plan of a view is *cut* when it is large or read again: the first job that
    needs the rows stores them, and later jobs read the stored rows
    (docs/decisions/0050-plans-of-spark-are-cut-without-their-statistics.md).

    Temporary views belong to the whole session, so a session has one engine at a time.

    Args:
        spark: the session.
        broadcast_rows: most rows of a relation that is stored in one partition or sent to every
            task.
        staging: folder or URI for driver rows that are more than this; removed by `release`.
        limits: of each call of a function of the engine.
        job: what Spark says its jobs are for: the stage.
    """

    def __init__(
        self,
        spark: SparkSession,
        broadcast_rows: int,
        staging: str | None = None,
        limits: EvaluationLimits = _DEFAULT,
        job: str = "weir",
    ) -> None:
        self.spark = spark
        self._job = job
        self._broadcast_rows, self._staging = broadcast_rows, staging
        self._views: dict[str, _View] = {}
        self._numbers = count()
        # Queries are computed in threads, which share relations.
        self._reading = threading.Lock()
        if staging is not None:
            # A run that died may have left staged rows.
            remove(spark, staging)
        for name, function in _functions(limits).items():
            registered = arrow_udf(function, "string")  # type: ignore[call-overload]
            spark.udf.register(name, registered)

    @contextmanager
    def cancellable(self) -> Iterator[Callable[[], None]]:
        """A context whose value is a function that cancels the jobs started by this thread in it.

        A cancelled task ends with its Python process, even within a function.

        Raises:
            WeirError: Spark ended.
        """
        context, group = self.spark.sparkContext, f"weir-{uuid4().hex}"
        before = {name: context.getLocalProperty(name) for name in _JOB_GROUP}
        context.setJobGroup(group, self._job, interruptOnCancel=True)
        try:
            yield lambda: context.cancelJobGroup(group)
        except Exception as error:
            if not answers(self.spark):
                raise WeirError(f"Spark ended during {self._job}", "", _ENDED) from error
            raise
        finally:
            with suppress(*NO_ANSWER):
                for name, value in before.items():
                    context.setLocalProperty(name, value)  # type: ignore[arg-type]

    def make(self, statement: Statement) -> None:
        """Make a relation; it is computed when it is read, unless its rows are stored."""
        frame, size = self.planned(statement.select)
        self.register(statement.name, frame, statement.keep, size)

    def register(
        self,
        name: str,
        frame: DataFrame,
        keep: Keep = "view",
        size: PlanSize = STORED_TABLE,
        *,
        on_disk: bool = False,
    ) -> None:
        """Make a relation of a frame.

        Args:
            name: of the relation.
            frame: its rows.
            keep: how they are stored.
            size: of its plan, from `planned`.
            on_disk: whether they may be so many that they are stored on disk alone.
        """
        view = _View(frame, size, on_disk)
        if keep != "view":
            self._describe(name)
        match keep:
            case "cache":
                self._cut(view)
            case "small" | "broadcast":
                self._store(view, eager=False)
                rows = self._count_stored(view)
                if keep == "broadcast" and rows and self._is_sent(view.frame, rows):
                    view.frame = F.broadcast(view.frame)
            case "view":
                pass
            case _:
                assert_never(keep)
        # Never replaces a view: a name means one relation, in the whole session.
        view.frame.createTempView(name)
        self._views[name] = view

    def gathered(self, frame: DataFrame, rows: int | None) -> DataFrame:
        """A frame of at most so many rows, in one partition if these are few.

        Joins of such relations need neither shuffle nor broadcast, and a statement that reads
        nothing else is one task.
        """
        is_few = rows is not None and rows <= self._broadcast_rows
        return frame.coalesce(1) if is_few else frame

    def _is_sent(self, frame: DataFrame, rows: int) -> bool:
        """Whether so many stored rows are sent to every task."""
        if rows <= self._broadcast_rows:
            return True
        if rows > _MORE_SHORT_ROWS * self._broadcast_rows:
            return False
        texts = [
            F.coalesce(F.octet_length(F.col(n).cast("string")), F.lit(0)) for n in frame.columns
        ]
        size = frame.agg(F.sum(reduce(add, texts))).collect()[0][0]
        return int(size) <= _BYTES_SENT

    def send(self, rows: pa.Table) -> DataFrame:
        """The frame of driver rows: few are sent with the plan, many are staged in files.

        Rows in a plan are copied into every plan that reads them.
        """
        frame = self.spark.createDataFrame(rows)
        if rows.num_rows <= self._broadcast_rows or self._staging is None:
            return F.broadcast(frame)
        folder = f"{self._staging}/rows-{next(self._numbers)}"
        stage(frame, folder)
        return self.spark.read.schema(frame.schema).parquet(folder)

    def keyed(self, frame: DataFrame, key: str, value: str, columns: Sequence[str]) -> DataFrame:
        """A frame with these columns, null where missing, and a column `key` with `value`."""
        cells = (
            F.col(name) if name in frame.columns else F.lit(None).cast("string").alias(name)
            for name in columns
        )
        return frame.select(F.lit(value).alias(key), *cells)

    def planned(self, query: exp.Query) -> tuple[DataFrame, PlanSize]:
        """The frame of a query and the size of its plan; cuts views that it reads if needed."""
        size = self._cut_inputs(query)
        with deep_recursion():
            text = query.sql(dialect=DIALECT)
        return self.spark.sql(text), size

    def frame(self, query: exp.Query) -> DataFrame:
        """The frame of a query."""
        return self.planned(query)[0]

    def _cut_inputs(self, query: exp.Query) -> PlanSize:
        """Cut views that a query reads again or that are too large; returns the plan's new size.

        The plan then has at most `_MOST_NODES` and `_MOST_DEPTH`, unless the query alone has more.
        """
        own = sum(1 for _ in query.find_all(exp.Select, exp.SetOperation, exp.Join, exp.Subquery))
        named = Counter(table.name for table in query.find_all(exp.Table))
        with self._reading:
            views = {name: self._views[name] for name in named if name in self._views}
            for name, view in views.items():
                view.reads += named[name]
        total = own + sum(view.size.nodes * named[name] for name, view in views.items())
        for name in sorted(views, key=lambda name: -views[name].size.nodes * named[name]):
            view = views[name]
            # Only this view is locked: adaptive execution runs the shuffles of a cut plan at once.
            with view.cutting:
                is_read_again = view.reads > 1 and view.size.nodes > _PLAIN_NODES
                is_deep = view.size.depth > 0 and own + view.size.depth > _MOST_DEPTH
                if not view.is_cut and (is_read_again or is_deep or total > _MOST_NODES):
                    self._describe(name)
                    total -= (view.size.nodes - 1) * named[name]
                    self._cut(view)
                    # Replaces the view by the same rows with another plan.
                    view.frame.createOrReplaceTempView(name)
                if is_deep and view.size.depth > 0:
                    self._describe(name)
                    view.frame.count()
                    view.size = STORED_TABLE
        return PlanSize(total, own + max((view.size.depth for view in views.values()), default=0))

    def count(self, relation: str) -> int:
        """The number of rows of a relation, counted once; counting stores those of a cut view."""
        view = self._views[relation]
        with view.cutting:
            if view.rows is not None:
                return view.rows
            self._describe(relation)
            if view.stored is None:
                view.rows = view.frame.count()
                return view.rows
            rows = self._count_stored(view)
            # The same rows, which now are known to be few or none.
            view.frame.createOrReplaceTempView(relation)
            return rows

    def is_empty(self, relation: str) -> bool:
        """False: to know it takes a job."""
        del relation
        return False

    def is_on_driver(self, relation: str) -> bool:
        """Always false."""
        del relation
        return False

    def rows(self, query: exp.Query) -> list[tuple[object, ...]]:
        """The rows of a query whose result is small by construction."""
        return [tuple(row) for row in self.frame(query).collect()]

    def forget(self, name: str) -> None:
        """Drop a relation."""
        self.spark.catalog.dropTempView(name)
        del self._views[name]

    def release(self) -> None:
        """Drop all relations, and remove staged rows, as far as Spark goes on."""
        if not answers(self.spark):
            return
        for name in [*self._views]:
            self.forget(name)
        if self._staging is not None:
            remove(self.spark, self._staging)

    def _describe(self, relation: str) -> None:
        """Have Spark say of the next jobs of this thread which rows they compute."""
        self.spark.sparkContext.setJobDescription(f"{self._job}: {relation}")

    def _cut(self, view: _View) -> None:
        """Cut the plan of a view: a deep one is computed now, others when a job needs them."""
        depth = view.size.depth + _DEPTH_OF_CUT
        is_deep = depth > _MOST_DEPTH
        self._store(view, eager=is_deep)
        view.size = PlanSize(depth=0 if is_deep else depth)

    def _count_stored(self, view: _View) -> int:
        """Compute and count the rows of a cut view, by one job.

        They are computed by any number of tasks: the size of a lookup is not known before. Of no
        rows the planner knows: it leaves out what reads them.
        """
        rows = view.rows = int(view.stored.count())
        view.frame = self.gathered(view.frame, rows) if rows else view.frame.limit(0)
        view.size = STORED_TABLE
        return rows

    def _store(self, view: _View, *, eager: bool) -> None:
        """Cut the plan of a view.

        It drops the statistics of the plan, which Spark's checkpoint keeps: the estimated size of a
        join is the product of those of its sides, and its digits would double with each iteration.

        Args:
            view: its frame is replaced.
            eager: whether the rows are stored now, or by the first job that reads them.
        """
        from pyspark import StorageLevel
        from pyspark.sql import DataFrame as Frame

        # Python's name of this level stands for bytes, Java's for objects: millions of them keep
        # the collector busy. Of what is in memory and on disk, Spark takes all bytes of a partition
        # into memory to read it, and has none left for those of many rows.
        level = StorageLevel.DISK_ONLY if view.on_disk else StorageLevel.MEMORY_AND_DISK
        stored = view.frame.localCheckpoint(eager, level)
        plan = stored._jdf.queryExecution().logical()
        session, view.stored = self.spark._jsparkSession, plan.rdd()
        frame = Frame(
            session.internalCreateDataFrame(view.stored, plan.schema(), False), self.spark
        )
        # The planner does not know how many partitions there are, unless there is one by its plan.
        view.frame = frame.coalesce(1) if view.stored.getNumPartitions() == 1 else frame


_JOB_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


def _functions(limits: EvaluationLimits) -> dict[str, Callable[..., Any]]:
    """The engine's functions for Spark's Python processes.

    These are killed with their tasks, so a regular expression needs no deadline of its own.
    """
    limits = replace(limits, deadline=None, matching=LinearMatching())

    # Spark reads the kind of a function from its annotations: plain Arrow arrays.
    def sparql_eval(expressions: pa.Array, terms: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        return evaluate_batch(expressions, terms, limits)

    def sparql_sort_key(terms: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        return sort_keys(terms)

    def sparql_aggregate(specifications: pa.Array, items: pa.Array) -> pa.Array:  # type: ignore[type-arg]
        return aggregate_batch(specifications, items, limits)

    return {EVALUATE: sparql_eval, SORT_KEY: sparql_sort_key, AGGREGATE: sparql_aggregate}
