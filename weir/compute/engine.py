"""Named relations over the tables of the lake, computed where `Placement` decides.

A small relation that is read again is fetched to the driver, and a statement that reads only
such relations is run there by DuckDB. A statement that reads anything else runs on Spark, with the
relations of the driver sent to it: that is the distributed path, which every relation beyond the
limits takes by itself.

A statement over small relations may have a large result. It stays in DuckDB, which spills, and is
streamed from there into a table; if Spark has to read it and it has more than `driver_rows` rows,
or DuckDB runs out of memory, Spark computes it again.

What is computed for one query has a budget (`within`): a statement beyond it is interrupted,
wherever it runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, Self, TypeAlias, assert_never

import duckdb
import pyarrow as pa
from sqlglot import exp

from weir.compute.budget import Budget, Watch, limit_of
from weir.compute.duck import DuckEngine
from weir.compute.lost_rows import LostRowsError, are_lost
from weir.compute.placement import Extent, Placement
from weir.compute.plan_size import STORED_TABLE, PlanSize
from weir.compute.relations import Keep, LakeQuery, Statement, StoredTable, StoredTables
from weir.compute.sql import rows_of, select
from weir.compute.writing import Commit, TableWriter
from weir.lake.delta.bindings import NameIsBound
from weir.lake.delta.change_feed import changes, changes_here
from weir.lake.delta.commit import SaveMode
from weir.lake.delta.scan import Part, attach, attach_all
from weir.lake.delta.staging import staging_folder

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from pyspark.sql import DataFrame, SparkSession

    from weir.compute.database import Database
    from weir.compute.session import Session
    from weir.compute.spark import SparkEngine
    from weir.lake.delta.metadata import Metadata
    from weir.lake.lake import Lake
    from weir.lake.tables import Table
    from weir.settings import Limits

Frame: TypeAlias = "pa.Table | DataFrame"
"""Rows that the driver has, or that Spark will compute."""


@dataclass(frozen=True, slots=True)
class SparkShape:
    """Sizes of what Spark keeps and writes.

    Attributes:
        broadcast_rows: most rows of a relation that is in one partition or sent to every task.
        rows_per_file: of a table.
        staging: folder or URI for rows of the driver that are too many for a plan of Spark.
    """

    broadcast_rows: int
    rows_per_file: int
    staging: str | None = None


@dataclass(slots=True)
class _Remote:
    """The relations on Spark of an engine and of all that share it; None before it is needed."""

    engine: SparkEngine | None = None


@dataclass(frozen=True, slots=True)
class _Stored:
    """A stored table, or the rows of it that meet `where`."""

    table_name: str
    version: int | None
    where: exp.Expr | None


@dataclass(slots=True)
class _Relation:
    """What the engine knows of a relation.

    Attributes:
        on_driver: whether DuckDB has it.
        origin: the statement or the stored table that Spark can make it from; None for rows of the
            driver.
        only_looked_up: whether the driver only looks rows up in it; Spark computes over all of it.
        on_spark: whether Spark has it.
    """

    on_driver: bool
    origin: Statement | _Stored | None = None
    only_looked_up: bool = False
    on_spark: bool = False


@dataclass(frozen=True)
class RowsOnDriver:
    """The rows of relations with the same columns, where DuckDB has them."""

    duck: DuckEngine
    lock: threading.RLock
    names: Sequence[str]

    @cached_property
    def column_names(self) -> Sequence[str]:
        """Their columns."""
        with self.lock:
            return self.duck.columns(self.names[0])

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """The result of a statement of DuckDB that reads all of them as `checked_rows`."""
        with self.lock:
            return self.duck.query_together(self.names, statement)


class Engine:
    """Relations by name, made by the same statements on DuckDB and on Spark.

    Args:
        lake: the tables.
        session: gives the Spark session; started where a statement needs it.
        local: the DuckDB of the driver; closed by `release`.
        placement: decides where a relation is computed.
        shape: of what Spark keeps and writes.
    """

    def __init__(
        self,
        lake: Lake,
        session: Session,
        local: DuckEngine,
        placement: Placement,
        shape: SparkShape,
    ) -> None:
        self.placement = placement
        self._lake, self._session, self._shape = lake, session, shape
        self._remote = _Remote()
        self._local = local
        self._budget: Budget | None = None
        self._watch = Watch()
        self._relations: dict[str, _Relation] = {}
        self._names: set[str] = set()
        self._made: list[str] = []
        # DuckDB takes one statement of a connection at a time.
        self._driver = threading.RLock()

    @classmethod
    def of(cls, lake: Lake, session: Session, database: Database, limits: Limits, job: str) -> Self:
        """The engine of a stage."""
        shape = SparkShape(
            limits.broadcast_rows, limits.rows_per_file, staging_folder(lake.root, job)
        )
        return cls(lake, session, database.engine(), Placement.of(limits), shape)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def within(self, budget: Budget) -> Self:
        """This engine, with the same relations, for the statements of one query in one thread.

        They raise `QueryLimitError` if they take more than `budget`.
        """
        bounded = copy(self)
        bounded._budget = budget
        return bounded

    @contextmanager
    def scope(self) -> Iterator[Self]:
        """This engine, with the same relations; those that are made by what it gives are forgotten.

        So their names are free again: one that is in use cannot be given to another relation.
        """
        inner = copy(self)
        inner._made = []
        try:
            yield inner
        except BaseException:
            with suppress(Exception):
                inner._forget_made()
            raise
        inner._forget_made()

    @property
    def spark(self) -> SparkSession:
        """The Spark session, which may have to be started."""
        return self._spark.spark

    def start_spark(self) -> None:
        """Start Spark now rather than at the first statement that needs it."""
        self.spark.version  # noqa: B018

    @property
    def _spark(self) -> SparkEngine:
        from weir.compute.spark import SparkEngine

        with self._driver:
            if self._remote.engine is None:
                self._remote.engine = SparkEngine(
                    self._session(),
                    self._shape.broadcast_rows,
                    self._shape.staging,
                    self._local.functions.limits,
                )
            return self._remote.engine

    @contextmanager
    def _here(self) -> Iterator[DuckEngine]:
        """DuckDB for one statement, within what is left of the budget."""
        with (
            self._driver,
            self._limited(self._local.interrupt) as deadline,
            self._local.until(deadline),
        ):
            yield self._local

    @contextmanager
    def _there(self) -> Iterator[SparkEngine]:
        """Spark for the jobs of one statement, within what is left of the budget."""
        remote = self._spark
        if self._budget is not None:
            self._budget.on_spark = True
        with remote.cancellable() as cancel, self._limited(cancel):
            yield remote

    @contextmanager
    def _limited(self, interrupt: Callable[[], None]) -> Iterator[float | None]:
        """Interrupt a statement at the deadline that it gives.

        Raises:
            QueryLimitError: the statement takes more than it may.
            LostRowsError: rows that it reads are gone.
        """
        budget = self._budget
        with (
            nullcontext() if budget is None else budget.spent() as deadline,
            self._watch.until(deadline, interrupt) as watched,
        ):
            try:
                yield deadline
            except Exception as error:
                if are_lost(error):
                    raise LostRowsError from error
                exceeded = limit_of(error, budget, was_interrupted=watched.was_interrupted)
                if exceeded is None:
                    raise
                raise exceeded from error

    def open(
        self,
        name: str,
        table_name: str,
        *,
        version: int | None = None,
        where: exp.Expr | None = None,
    ) -> None:
        """Name a stored table; nothing is read yet.

        Args:
            name: of the relation.
            table_name: of the table in the lake.
            version: of the table; by default the newest.
            where: the rows that are meant. A lower bound of `epoch` in it (`epoch > n`) lets the
                files of older epochs be skipped; those with rows of earlier instants only do not
                count where `instant` has one.

        Raises:
            FileNotFoundError: there is no such table.
        """
        self._check(name)
        table, after = self._table(table_name, version), _after_epoch(where)
        extent = Extent.of(table, after, _lower_bound(where, "instant"))
        stored = _Stored(table_name, version, where)
        if not self.placement.reads(extent, is_slice=after is not None):
            self._open_on_spark(name, stored)
            return
        with self._here() as local:
            if where is None:
                attach(local.bindings, name, table)
            else:
                # No relation of a caller can have such a name.
                whole = f"{name}#whole"
                with local.bindings.whole(name):
                    attach(local.bindings, whole, table, after)
                    chosen = select("*").from_(rows_of(whole)).where(where)
                    local.make(Statement(name, chosen))
        only_looked_up = self.placement.only_looks_up(extent)
        self._bind(name, _Relation(True, stored, only_looked_up))

    @property
    def few_rows(self) -> int:
        """Most rows that this process takes from Spark."""
        return self._shape.broadcast_rows

    def extent(self, stored: StoredTable) -> Extent:
        """How much of a stored table is read.

        Raises:
            FileNotFoundError: there is no such table.
        """
        return Extent.of(self._table(stored.table, stored.version), _after_epoch(stored.where))

    def open_all(self, stored: StoredTables) -> None:
        """Name the rows of several stored tables; nothing is read yet.

        Raises:
            FileNotFoundError: one of the tables does not exist.
        """
        self._check(stored.name)
        tables = {key: self._table(t.table, t.version) for key, t in stored.tables.items()}
        after = {key: _after_epoch(t.where) for key, t in stored.tables.items()}
        extents = [Extent.of(table, after[key]) for key, table in tables.items()]
        if not self.placement.reads_all(extents):
            frames = (self._keyed_frame(stored, key) for key in stored.tables)
            self._spark.register(stored.name, reduce(lambda a, b: a.unionByName(b), frames))
            self._bind(stored.name, _Relation(False, on_spark=True))
            return
        parts = {key: Part(table, after[key]) for key, table in tables.items()}
        with self._here() as local, local.bindings.whole(stored.name):
            attach_all(local.bindings, stored.name, stored.key, stored.columns, parts)
        self._bind(stored.name, _Relation(True))

    def query(self, name: str, query: LakeQuery, keep: Keep = "view") -> None:
        """Make a relation by a query over stored tables, which are opened if they are not yet."""
        for table in query.tables:
            known = self._relations.get(table.name)
            if known is None or known.origin != _Stored(table.table, table.version, table.where):
                self.open(table.name, table.table, version=table.version, where=table.where)
        self.make(Statement(name, query.select, keep))

    def open_feed(
        self, name: str, table_name: str, first_version: int, last_version: int, rows: int
    ) -> None:
        """Name the change feed of a table: its columns, `_change_type`, `_commit_version`.

        Args:
            name: of the relation.
            table_name: of the table in the lake.
            first_version: the first commit of the feed.
            last_version: the last one, included.
            rows: about how many changes these commits hold.

        Raises:
            ChangeFeedGap: a commit of the range is no longer in the log. Files that are lost may
                show only when the rows are read (`lost_files_are_a_gap`).
        """
        self._check(name)
        versions = (table_name, first_version, last_version)
        if self.placement.holds(rows):
            self._load_here(name, changes_here(self._lake, *versions))
        else:
            self._spark.register(name, changes(self.spark, self._lake, *versions))
            self._bind(name, _Relation(False, on_spark=True))

    def load(self, name: str, frames: Frame | Sequence[Frame], keep: Keep = "view") -> None:
        """Name rows: those of all `frames`, which have the same columns.

        Rows of Spark are fetched if they are few and `keep` stores them.
        """
        self._check(name)
        parts = [*frames] if isinstance(frames, Sequence) else [frames]
        here = [part for part in parts if isinstance(part, pa.Table)]
        if len(here) == len(parts):
            rows = pa.concat_tables(here)
            if self.placement.holds(rows.num_rows):
                self._load_here(name, rows)
                return
        with self._there() as remote:
            sent = [remote.send(p) if isinstance(p, pa.Table) else p for p in parts]
            self._register(name, reduce(lambda one, other: one.unionByName(other), sent), keep)

    def make(self, statement: Statement) -> None:
        """Make a relation on the side that its input decides."""
        self._check(statement.name)
        read = [self._relations[name] for name in _read_by(statement.select)]
        reads_large = any(relation.only_looked_up for relation in read)
        # "cache" may be as large as what it is made of.
        takes_all = reads_large and statement.keep == "cache"
        on_driver = all(relation.on_driver for relation in read)
        if not self.placement.driver_rows or takes_all or not on_driver:
            self._make_on_spark(statement)
            return
        try:
            with self._here() as local:
                local.make(statement)
        except duckdb.OutOfMemoryException:
            # Small relations with a large join: Spark can spill to the disks of a cluster.
            self._make_on_spark(statement)
            return
        only_looked_up = reads_large and statement.keep == "view"
        self._bind(statement.name, _Relation(True, statement, only_looked_up))

    def staging(self, name: str) -> str:
        """A folder or URI for rows of this engine that are too many for the driver."""
        return f"{self._shape.staging}/{name}"

    def count(self, name: str) -> int:
        """The number of rows of a relation."""
        if self._relations[name].on_driver:
            with self._here() as local:
                return local.count(name)
        with self._there() as remote:
            return remote.count(name)

    def is_on_driver(self, relation: str) -> bool:
        """Whether DuckDB computes a relation."""
        return self._relations[relation].on_driver

    def rows(self, query: exp.Query) -> list[tuple[object, ...]]:
        """The rows of a query whose result is small by construction."""
        read = _read_by(query)
        if all(self._relations[name].on_driver for name in read):
            with self._here() as local:
                return local.rows(query)
        with self._there() as remote:
            self._send(read)
            return remote.rows(query)

    def collect_few(self, frame: DataFrame) -> pa.Table | None:
        """The rows of a frame of Spark if they are as few as the driver takes."""
        most = self.placement.driver_rows
        if not most:
            return None
        rows = frame.limit(most + 1).toArrow()
        return rows if self.placement.holds(rows.num_rows) else None

    def held(self, names: Sequence[str]) -> RowsOnDriver | None:
        """The rows of relations, which stay in DuckDB; None if Spark has to take one of them."""
        relations = [self._relations[name] for name in names]
        if any(held.only_looked_up or not held.on_driver for held in relations):
            return None
        return RowsOnDriver(self._local, self._driver, names)

    def fetch_few(self, name: str, rows: int) -> pa.Table | None:
        """The rows of a relation in this process, wherever it is; None if they are too many.

        Args:
            name: of the relation.
            rows: how many it has.
        """
        if self._relations[name].on_driver:
            return self._few(name)
        if rows > self.few_rows:
            return None
        with self._there() as remote:
            return remote.spark.table(name).toArrow()

    def frame(self, name: str) -> DataFrame:
        """The frame of a relation; one of the driver is sent to Spark or made there again."""
        self._send({name})
        return self.spark.table(name)

    def write(
        self,
        table: Table,
        name: str,
        metadata: Metadata,
        *,
        mode: SaveMode = "append",
        rows: int | None = None,
        merge_schema: bool = False,
    ) -> Commit:
        """Write a relation to a table in one commit, sorted as the table is.

        Few rows of Spark are written by this process: Spark takes seconds for a commit.

        Args:
            table: the definition, whose columns the relation has.
            name: of the relation.
            metadata: of the commit.
            mode: `append`, or `overwrite` all rows.
            rows: how many there are, so that files of Spark have `rows_per_file` each; None if
                they were not computed yet.
            merge_schema: whether new columns are added to the stored table.
        """
        writer = TableWriter(self._lake, table, metadata, mode, merge_schema)
        if self._relations[name].on_driver:
            streamed = writer.stream(self._here, name)
            if streamed is not None:
                return streamed
        elif rows is not None:
            few = self.fetch_few(name, rows)
            if few is not None:
                return writer.write_rows(few)
        files = None if rows is None else max(1, -(-rows // self._shape.rows_per_file))
        with self._there():
            return writer.write_frame(self.frame(name), files)

    def write_rows(
        self,
        table: Table,
        rows: pa.Table,
        metadata: Metadata,
        *,
        mode: SaveMode = "append",
        merge_schema: bool = False,
    ) -> Commit:
        """Write rows of this process to a table in one commit, sorted as the table is."""
        return TableWriter(self._lake, table, metadata, mode, merge_schema).write_rows(rows)

    def release(self) -> None:
        """Forget all relations."""
        if self._remote.engine is not None:
            self._remote.engine.release()
        self._watch.close()
        self._local.close()
        self._relations.clear()
        self._names.clear()

    def _check(self, name: str) -> None:
        if name.lower() in self._names:
            raise NameIsBound(f"the name {name} stands for another relation of this engine")

    def _bind(self, name: str, relation: _Relation) -> None:
        self._names.add(name.lower())
        self._relations[name] = relation
        self._made.append(name)

    def _forget_made(self) -> None:
        for name in reversed(self._made):
            relation = self._relations.pop(name)
            if relation.on_driver:
                with self._driver:
                    self._local.bindings.release(name)
            if relation.on_spark:
                self._spark.forget(name)
            self._names.discard(name.lower())

    def _table(self, name: str, version: int | None) -> DeltaTable:
        table = self._lake.open(name, version)
        if table is None:
            raise FileNotFoundError(self._lake.location(name))
        return table

    def _keyed_frame(self, stored: StoredTables, key: str) -> DataFrame:
        """The rows of one of several tables."""
        table = stored.tables[key]
        frame = self._stored_frame(_Stored(table.table, table.version, table.where))
        return self._spark.keyed(frame, stored.key, key, stored.columns)

    def _open_on_spark(self, name: str, stored: _Stored) -> None:
        self._spark.register(name, self._stored_frame(stored))
        self._bind(name, _Relation(False, stored, on_spark=True))

    def _stored_frame(self, stored: _Stored) -> DataFrame:
        from weir.lake.delta.spark_scan import scan

        after = _after_epoch(stored.where)
        frame = scan(self.spark, self._lake, stored.table_name, stored.version, after)
        return frame if stored.where is None else frame.where(stored.where.sql(dialect="spark"))

    def _make_on_spark(self, statement: Statement) -> None:
        with self._there() as remote:
            self._send(_read_by(statement.select))
            frame, size = remote.planned(statement.select)
            self._register(statement.name, frame, statement.keep, size)

    def _register(
        self, name: str, frame: DataFrame, keep: Keep, size: PlanSize = STORED_TABLE
    ) -> None:
        """Name a frame; it is fetched if it is small and `keep` stores it."""
        rows = None if keep == "view" else self.collect_few(frame)
        if rows is not None:
            self._load_here(name, rows)
            return
        self._spark.register(name, frame, keep, size)
        self._bind(name, _Relation(False, on_spark=True))

    def _load_here(self, name: str, rows: pa.Table) -> None:
        with self._here() as local:
            local.load(name, rows)
        self._bind(name, _Relation(True))

    def _few(self, name: str) -> pa.Table | None:
        """The rows of a relation if the driver has them and they are not too many."""
        if not self._relations[name].on_driver:
            return None
        try:
            with self._here() as local:
                rows = local.arrow(name, self.placement.driver_rows + 1)
        except duckdb.OutOfMemoryException:
            return None
        return rows if self.placement.holds(rows.num_rows) else None

    def _send(self, names: set[str]) -> None:
        """Name relations of the driver on Spark too."""
        for name in names:
            relation = self._relations[name]
            if relation.on_spark:
                continue
            match relation.origin:
                case None:
                    with self._here() as local:
                        rows = local.arrow(name)
                    self._spark.register(name, self._spark.send(rows))
                case _Stored() as stored:
                    self._spark.register(name, self._stored_frame(stored))
                case Statement() as statement:
                    few = None if relation.only_looked_up else self._few(name)
                    if few is not None:
                        self._spark.register(name, self._spark.send(few))
                    else:
                        self._send(_read_by(statement.select))
                        keep: Keep = "view" if statement.keep == "view" else "cache"
                        self._spark.make(replace(statement, keep=keep))
                case _:
                    assert_never(relation.origin)
            relation.on_spark = True


def _after_epoch(where: exp.Expr | None) -> int | None:
    return _lower_bound(where, "epoch")


def _lower_bound(where: exp.Expr | None, name: str) -> int | None:
    """The lower bound of a column in a conjunction, exclusive; None if it has none."""
    if where is None or where.find(exp.Or, exp.Not) is not None:
        return None
    bounds = [
        -int(literal.name) if bound.expression.find(exp.Neg) else int(literal.name)
        for bound in where.find_all(exp.GT)
        if bound.this.name == name and (literal := bound.expression.find(exp.Literal)) is not None
    ]
    return max(bounds, default=None)


def _read_by(query: exp.Query) -> set[str]:
    """The names of the relations that a query reads."""
    defined = {cte.alias for cte in query.find_all(exp.CTE)}
    return {table.name for table in query.find_all(exp.Table)} - defined
