"""Named relations over the tables of the lake, computed by DuckDB or Spark as `Placement` decides.

A small relation whose rows are stored is fetched to the driver; a statement that reads only such
relations is run by DuckDB. Any other statement runs on Spark, to which the relations of the driver
are sent. So every relation beyond the limits is computed by Spark.

A statement over small relations may have a large result. It stays in DuckDB, which spills, and is
streamed from DuckDB into a table. If Spark has to read it and it has more than `driver_rows` rows,
or DuckDB runs out of memory, Spark computes it again.

Computing one query has a budget (`within`): a statement that exceeds it is interrupted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, Any, Self, TypeAlias, assert_never

import duckdb
import pyarrow as pa
from sqlglot import exp

from weir.compute.budget import Budget, Watch, limit_of
from weir.compute.duck import DuckEngine
from weir.compute.lost_rows import raise_if_lost
from weir.compute.placement import Extent, Placement
from weir.compute.plan_size import STORED_TABLE, PlanSize
from weir.compute.relations import Keep, LakeQuery, Lookup, Statement, StoredTable, StoredTables
from weir.compute.sql import columns, rows_of, select, subquery, union_all
from weir.compute.writing import Commit, TableWriter
from weir.lake.delta.bindings import NameIsBound
from weir.lake.delta.change_feed import feed_by_files, local_changes
from weir.lake.delta.commit import SaveMode
from weir.lake.delta.scan import Part, attach, attach_all
from weir.lake.delta.staging import staging_folder

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from pyspark.sql import DataFrame, SparkSession

    from weir.compute.database import Database
    from weir.compute.indexes import Indexes
    from weir.compute.session import Session
    from weir.compute.spark import SparkEngine
    from weir.lake.delta.metadata import Metadata
    from weir.lake.lake import Lake
    from weir.lake.tables import Table
    from weir.settings import Limits

_MANY = 1_000_000
"""Of more rows, a partition may be too large for the memory of a task."""
Frame: TypeAlias = "pa.Table | DataFrame"
"""Rows of the driver, or rows that Spark will compute."""


@dataclass(frozen=True, slots=True)
class SparkShape:
    """Limits of what Spark stores and writes, and what it says that its jobs are for.

    Attributes:
        broadcast_rows: most rows of a relation that is in one partition or sent to every task.
        rows_per_file: rows of a written file of a table.
        staging: folder or URI for driver rows that are too many for a Spark plan.
        job: the stage.
    """

    broadcast_rows: int
    rows_per_file: int
    staging: str | None = None
    job: str = "weir"


@dataclass(slots=True)
class _SharedSpark:
    """The Spark engine that copies of an engine share; None until it is needed."""

    engine: SparkEngine | None = None


@dataclass(frozen=True, slots=True)
class _Stored:
    """A stored table, or its rows that meet `where`; with the rows of a relation that it gets."""

    table_name: str
    version: int | None
    where: exp.Expr | None
    pending: str | None = None


@dataclass(slots=True)
class _Relation:
    """Where a relation is and how it was made.

    Attributes:
        on_driver: whether DuckDB has it.
        origin: the statement or the stored table from which Spark can make it; None for rows of the
            driver.
        only_looked_up: whether the driver only looks up rows in it, and Spark scans it.
        on_spark: whether Spark has it.
        is_large: whether it has more rows than the driver computes, or is made of such a relation.
        is_many: whether it may have more than `_MANY` rows, or is made of such a relation.
        attach: names the stored table in DuckDB, once a statement reads it: its files are verified
            then, which takes as long as reading them.
        sending: held by the thread that makes it on Spark too.
    """

    on_driver: bool
    origin: Statement | _Stored | None = None
    only_looked_up: bool = False
    on_spark: bool = False
    is_large: bool = False
    is_many: bool = False
    attach: Callable[[DuckEngine], None] | None = None
    sending: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)


@dataclass(frozen=True)
class RowsOnDriver:
    """The rows of relations in DuckDB that have the same columns."""

    duck: DuckEngine
    lock: threading.RLock
    names: Sequence[str]

    @cached_property
    def column_names(self) -> Sequence[str]:
        """The column names that the relations share."""
        with self.lock:
            return self.duck.columns(self.names[0])

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """The result of a DuckDB statement that reads all rows as `checked_rows`."""
        with self.lock:
            return self.duck.query_together(self.names, statement)


class Engine:
    """Relations by name, made by the same statements on DuckDB and on Spark.

    Args:
        lake: has the tables.
        session: returns the Spark session; called when a statement needs Spark.
        duck: the DuckDB of the driver; closed by `release`.
        placement: decides where a relation is computed.
        shape: limits of what Spark stores and writes.
        indexes: of the lake; None if there are none.
    """

    def __init__(
        self,
        lake: Lake,
        session: Session,
        duck: DuckEngine,
        placement: Placement,
        shape: SparkShape,
        indexes: Indexes | None = None,
    ) -> None:
        self.placement = placement
        self._indexes = indexes
        self._lake, self._session, self._shape = lake, session, shape
        self._shared_spark = _SharedSpark()
        self._duck = duck
        self._budget: Budget | None = None
        self._watch = Watch()
        self._pending: Mapping[str, str] = {}
        self._relations: dict[str, _Relation] = {}
        self._names: set[str] = set()
        self._created: list[str] = []
        # A DuckDB connection runs one statement at a time.
        self._driver = threading.RLock()

    @classmethod
    def of(
        cls,
        lake: Lake,
        session: Session,
        database: Database,
        limits: Limits,
        job: str,
        indexes: Indexes | None = None,
    ) -> Self:
        """The engine of a stage."""
        shape = SparkShape(
            limits.broadcast_rows, limits.rows_per_file, staging_folder(lake.root, job), job
        )
        return cls(lake, session, database.engine(), Placement.of(limits), shape, indexes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def within(self, budget: Budget) -> Self:
        """A copy of this engine, sharing its relations, for one query in one thread.

        Statements raise `QueryLimitError` once they exceed `budget`.
        """
        bounded = copy(self)
        bounded._budget = budget
        return bounded

    def with_pending(self, pending: Mapping[str, str]) -> Self:
        """A copy of this engine, sharing its relations, to which tables have further rows.

        All that is opened of their newest versions, or looked up in them, has these rows, too;
        feeds of changes do not.

        Args:
            pending: by the name of a table, which need not be there, the relation of the rows, with
                the columns of the table, that are not committed.
        """
        ahead = copy(self)
        ahead._pending = pending
        return ahead

    @property
    def has_pending(self) -> bool:
        """Whether tables have rows that are not committed."""
        return bool(self._pending)

    @contextmanager
    def scope(self) -> Iterator[Self]:
        """A context whose value is a copy of this engine, sharing its relations.

        At the end, relations made by the copy are dropped, so that their names are free again.
        """
        inner = copy(self)
        inner._created = []
        try:
            yield inner
        except BaseException:
            with suppress(Exception):
                inner._drop_created()
            raise
        inner._drop_created()

    @property
    def spark(self) -> SparkSession:
        """The Spark session, started if necessary."""
        return self._spark.spark

    @property
    def _spark(self) -> SparkEngine:
        from weir.compute.spark import SparkEngine

        with self._driver:
            if self._shared_spark.engine is None:
                self._shared_spark.engine = SparkEngine(
                    self._session(),
                    self._shape.broadcast_rows,
                    self._shape.staging,
                    self._duck.functions.limits,
                    self._shape.job,
                )
            return self._shared_spark.engine

    @contextmanager
    def _on_driver(self, *read: str) -> Iterator[DuckEngine]:
        """DuckDB for one statement that reads some relations, within the rest of the budget."""
        with (
            self._driver,
            self._limited(self._duck.interrupt) as deadline,
            self._duck.until(deadline),
        ):
            for relation in [self._relations[name] for name in read]:
                if relation.attach is not None:
                    relation.attach(self._duck)
                    relation.attach = None
            yield self._duck

    @contextmanager
    def _on_spark(self) -> Iterator[SparkEngine]:
        """Spark for the jobs of one statement, within the rest of the budget."""
        spark = self._spark
        if self._budget is not None:
            self._budget.on_spark = True
        with spark.cancellable() as cancel, self._limited(cancel):
            yield spark

    @contextmanager
    def _limited(self, interrupt: Callable[[], None]) -> Iterator[float | None]:
        """A context for a statement that is interrupted at the deadline, which is its value.

        Raises:
            QueryLimitError: the statement exceeds a limit.
            LostRowsError: rows that it reads are lost.
        """
        budget = self._budget
        with (
            nullcontext() if budget is None else budget.spent() as deadline,
            self._watch.until(deadline, interrupt) as watched,
        ):
            try:
                yield deadline
            except Exception as error:
                raise_if_lost(error)
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
        """Make a relation of a stored table; no row is read yet.

        Args:
            name: of the relation.
            table_name: of the table in the lake.
            version: of the table; by default the newest.
            where: condition of the rows. With a lower bound of `epoch` (`epoch > n`), files of
                older epochs are skipped; with a lower bound of `instant`, files of earlier instants
                do not count for the placement.

        Raises:
            FileNotFoundError: there is no such table.
        """
        self._check(name)
        stored = self._stored(table_name, version, where)
        pending = stored.pending
        if pending is not None and not self._lake.exists(table_name):
            self.make(Statement(name, _filtered(rows_of(pending), where)))
            return
        table, after = self._table(table_name, version), _after_epoch(where)
        extent = Extent.of(table, after, _lower_bound(where, "instant"))
        on_driver = self.placement.reads(extent, is_slice=after is not None)
        on_driver = on_driver and (pending is None or self._relations[pending].on_driver)

        def attached(duck: DuckEngine) -> None:
            if where is None and pending is None:
                attach(duck.bindings, name, table)
                return
            # No relation of a caller can have such a name.
            whole = f"{name}#whole"
            rows: exp.Expr = rows_of(whole)
            if pending is not None:
                names = [field.name for field in table.schema().fields]
                both = (whole, pending)
                parts = [select(*columns(names), from_=rows_of(part)) for part in both]
                rows = subquery(union_all(parts), "rows")
            with duck.bindings.whole(name):
                attach(duck.bindings, whole, table, after)
                duck.make(Statement(name, _filtered(rows, where)))

        only_looked_up = on_driver and self.placement.only_looks_up(extent)
        relation = _Relation(on_driver, stored, only_looked_up, is_many=_are_many(extent.rows))
        relation.attach = attached if on_driver else None
        self._bind(name, relation)

    @property
    def few_rows(self) -> int:
        """The most rows that this process fetches from Spark."""
        return self._shape.broadcast_rows

    def extent(self, stored: StoredTable) -> Extent:
        """How much of a stored table is read.

        Raises:
            FileNotFoundError: there is no such table.
        """
        return Extent.of(self._table(stored.table, stored.version), _after_epoch(stored.where))

    def open_all(self, stored: StoredTables) -> None:
        """Make a relation of the rows of several stored tables; no row is read yet.

        Raises:
            FileNotFoundError: one of the tables does not exist.
        """
        self._check(stored.name)
        tables = {key: self._table(t.table, t.version) for key, t in stored.tables.items()}
        after = {key: _after_epoch(t.where) for key, t in stored.tables.items()}
        extents = [Extent.of(table, after[key]) for key, table in tables.items()]
        if not self.placement.reads_all(extents):
            frames = (self._keyed_frame(stored, key) for key in stored.tables)
            frame = reduce(lambda upper, lower: upper.unionByName(lower), frames)
            rows = Extent.total(extents).rows
            self._spark.register(stored.name, self._spark.gathered(frame, rows))
            self._bind(stored.name, _Relation(False, on_spark=True, is_many=_are_many(rows)))
            return
        parts = {key: Part(table, after[key]) for key, table in tables.items()}
        with self._on_driver() as duck, duck.bindings.whole(stored.name):
            attach_all(duck.bindings, stored.name, stored.key, stored.columns, parts)
        self._bind(stored.name, _Relation(True))

    def has_index(self, extent: Extent) -> bool:
        """Whether a table of an extent has an index, by which its rows can be looked up."""
        return self._indexes is not None and self._indexes.has_one(extent.rows)

    def look_up(self, lookup: Lookup) -> bool:
        """Make a relation of some rows of a stored log, by its index.

        Returns:
            Whether it is made. Else a scan has to find the rows.
        """
        self._check(lookup.name)
        read = _read_by(lookup.wanted)
        if self._indexes is None or not all(self._relations[n].on_driver for n in read):
            return False
        if lookup.whole is not None:
            whole = self._relations.get(lookup.whole)
            if whole is None or whole.origin != self._stored(lookup.table):
                return False
        pending = self._pending.get(lookup.table)
        if pending is not None and not self._relations[pending].on_driver:
            return False
        most = min(self._indexes.most_keys(lookup.table), self.placement.driver_rows)
        if not most:
            return False
        with self._on_driver(*read) as duck:
            wanted = select("*").from_(lookup.wanted.subquery("wanted")).limit(most + 1)
            wanted_rows = duck.rows(wanted)
        if len(wanted_rows) > most:
            return False
        values = [[None if v is None else str(v) for v in row] for row in wanted_rows]
        if lookup.null_is_any:
            values = [row[:-1] if row[-1] is None else row for row in values]
        rows = self._indexes.rows_with(lookup.table, lookup.key, values)
        if rows is None or not self.placement.holds(rows.num_rows):
            return False
        if pending is None:
            self._load_on_driver(lookup.name, rows)
            return True
        stored = f"{lookup.name}_stored"
        self._load_on_driver(stored, rows)
        names = rows.column_names
        committed = select(*columns(names), from_=rows_of(stored))
        self.make(Statement(lookup.name, union_all([committed, lookup.scan(pending, names)])))
        return True

    def query(self, name: str, query: LakeQuery, keep: Keep = "view") -> None:
        """Make a relation by a query over stored tables, and open these if necessary."""
        for table in query.tables:
            known = self._relations.get(table.name)
            stored = self._stored(table.table, table.version, table.where)
            if known is None or known.origin != stored:
                self.open(table.name, table.table, version=table.version, where=table.where)
        self.make(Statement(name, query.select, keep))

    def open_feed(
        self, name: str, table_name: str, first_version: int, last_version: int, rows: int
    ) -> set[str]:
        """Make a relation of what commits changed: the table's columns, `_change_type`.

        Args:
            name: of the relation.
            table_name: of the table in the lake.
            first_version: the first commit.
            last_version: the last one, included.
            rows: about how many changes these commits hold.

        Returns:
            Values of `_change_type`; of some there may be no row.

        Raises:
            ChangeFeedGap: a commit of the range is no longer in the log. Missing files may show
                only when the rows are read (`lost_files_are_a_gap`).
        """
        self._check(name)
        feed = feed_by_files(self._lake, table_name, first_version, last_version)
        if self.placement.holds(rows):
            self._load_on_driver(name, local_changes(self._lake, table_name, feed))
        else:
            from weir.lake.delta.spark_scan import scan_feed

            frame = scan_feed(self.spark, self._lake, table_name, feed)
            self._spark.register(name, self._spark.gathered(frame, rows))
            self._bind(name, _Relation(False, on_spark=True, is_many=_are_many(rows)))
        return {files.kind for files in feed}

    def load(
        self,
        name: str,
        frames: Frame | Sequence[Frame],
        keep: Keep = "view",
        most: int | None = None,
    ) -> None:
        """Make a relation of the rows of all `frames`, which have the same columns.

        Rows of Spark are fetched if they are few and `keep` stores them.

        Args:
            name: of the relation.
            frames: its rows.
            keep: how they are stored.
            most: how many rows there are at most, if that is known.
        """
        self._check(name)
        parts = [*frames] if isinstance(frames, Sequence) else [frames]
        tables = [part for part in parts if isinstance(part, pa.Table)]
        if len(tables) == len(parts):
            rows = pa.concat_tables(tables)
            most = rows.num_rows
            if self.placement.holds(most):
                self._load_on_driver(name, rows)
                return
        with self._on_spark() as spark:
            sent = [spark.send(p) if isinstance(p, pa.Table) else p for p in parts]
            frame = reduce(lambda upper, lower: upper.unionByName(lower), sent)
            frame = spark.gathered(frame, most)
            is_large = self.placement.exceeds(most)
            self._register(name, frame, keep, is_large=is_large, is_many=_are_many(most))

    def make(self, statement: Statement) -> None:
        """Make a relation, by DuckDB if it has all that the statement reads, else by Spark."""
        self._check(statement.name)
        names = _read_by(statement.select)
        read = [self._relations[name] for name in names]
        reads_large = any(relation.only_looked_up for relation in read)
        # The rows of "cache" may be as many as those that they are made from.
        takes_all = reads_large and statement.keep == "cache"
        on_driver = all(relation.on_driver for relation in read)
        if not self.placement.driver_rows or takes_all or not on_driver:
            self._make_on_spark(statement)
            return
        try:
            with self._on_driver(*names) as duck:
                duck.make(statement)
        except duckdb.OutOfMemoryException:
            # A large join of small relations: Spark can spill to the disks of a cluster.
            self._make_on_spark(statement)
            return
        only_looked_up = reads_large and statement.keep == "view"
        self._bind(statement.name, _Relation(True, statement, only_looked_up))

    def staging(self, name: str) -> str:
        """The folder or URI for rows of this engine that are too many for the driver."""
        return f"{self._shape.staging}/{name}"

    def count(self, name: str) -> int:
        """The number of rows of a relation."""
        if self._relations[name].on_driver:
            with self._on_driver(name) as duck:
                return duck.count(name)
        with self._on_spark() as spark:
            self._send({name})
            return spark.count(name)

    def is_empty(self, relation: str) -> bool:
        """Whether the driver stores the rows of a relation, and there are none."""
        if not self._relations[relation].on_driver:
            return False
        with self._on_driver(relation) as duck:
            return duck.is_empty(relation)

    def is_on_driver(self, relation: str) -> bool:
        """Whether DuckDB computes a relation."""
        return self._relations[relation].on_driver

    def rows(self, query: exp.Query) -> list[tuple[object, ...]]:
        """The rows of a query whose result is small by construction."""
        read = _read_by(query)
        if all(self._relations[name].on_driver for name in read):
            with self._on_driver(*read) as duck:
                return duck.rows(query)
        with self._on_spark() as spark:
            self._send(read)
            return spark.rows(query)

    def held(self, names: Sequence[str]) -> RowsOnDriver | None:
        """The rows of relations, which stay in DuckDB; None if one of them needs Spark."""
        relations = [self._relations[name] for name in names]
        if any(relation.only_looked_up or not relation.on_driver for relation in relations):
            return None
        with self._on_driver(*names):
            pass
        return RowsOnDriver(self._duck, self._driver, names)

    def fetch_few(
        self, name: str, rows: int | None = None, *, most: int | None = None
    ) -> pa.Table | None:
        """The rows of a relation, fetched to this process; None if they are too many.

        Args:
            name: of the relation.
            rows: how many it has; None if they were not counted: then Spark gives them if they are
                as few as the driver has of any relation.
            most: more counted rows are too many; by default, more than `few_rows`.
        """
        if self._relations[name].on_driver:
            return self._few(name)
        if rows is not None and rows > (self.few_rows if most is None else most):
            return None
        with self._on_spark() as spark:
            self._send({name})
            frame = spark.spark.table(name)
            return self._collect_few(frame) if rows is None else frame.toArrow()

    def frame(self, name: str) -> DataFrame:
        """The Spark frame of a relation; the relation is sent to Spark, or computed there again."""
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

        Few rows of Spark are written by this process, since Spark takes seconds for a commit.

        Args:
            table: the definition, whose columns the relation has.
            name: of the relation.
            metadata: of the commit.
            mode: `append`, or `overwrite` all rows.
            rows: how many there are, so that Spark's files have `rows_per_file` each; None if they
                were not computed yet.
            merge_schema: whether new columns are added to the stored table.
        """
        writer = TableWriter(self._lake, table, metadata, mode, merge_schema)
        if self._relations[name].on_driver:
            streamed = writer.stream(partial(self._on_driver, name), name)
            if streamed is not None:
                return streamed
        elif rows is not None:
            few = self.fetch_few(name, rows)
            if few is not None:
                return writer.write_rows(few)
        files = None if rows is None else max(1, -(-rows // self._shape.rows_per_file))
        with self._on_spark():
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
        """Drop all relations."""
        if self._shared_spark.engine is not None:
            self._shared_spark.engine.release()
        self._watch.close()
        self._duck.close()
        self._relations.clear()
        self._names.clear()

    def _check(self, name: str) -> None:
        if name.lower() in self._names:
            raise NameIsBound(f"the name {name} stands for another relation of this engine")

    def _bind(self, name: str, relation: _Relation) -> None:
        self._names.add(name.lower())
        self._relations[name] = relation
        self._created.append(name)

    def _drop_created(self) -> None:
        for name in reversed(self._created):
            relation = self._relations.pop(name)
            if relation.on_driver:
                with self._driver:
                    self._duck.bindings.release(name)
            if relation.on_spark:
                self._spark.forget(name)
            self._names.discard(name.lower())

    def _table(self, name: str, version: int | None) -> DeltaTable:
        table = self._lake.open(name, version)
        if table is None:
            raise FileNotFoundError(self._lake.location(name))
        return table

    def _stored(
        self, table_name: str, version: int | None = None, where: exp.Expr | None = None
    ) -> _Stored:
        """A stored table; what is pending belongs to its newest version."""
        pending = self._pending.get(table_name) if version is None else None
        return _Stored(table_name, version, where, pending)

    def _keyed_frame(self, stored: StoredTables, key: str) -> DataFrame:
        """The rows of one of several stored tables, with its key."""
        table = stored.tables[key]
        frame = self._stored_frame(_Stored(table.table, table.version, table.where))
        return self._spark.keyed(frame, stored.key, key, stored.columns)

    def _stored_frame(self, stored: _Stored) -> DataFrame:
        from weir.lake.delta.spark_scan import scan

        after = _after_epoch(stored.where)
        frame = scan(self.spark, self._lake, stored.table_name, stored.version, after)
        rows = Extent.of(self._table(stored.table_name, stored.version), after).rows
        if stored.pending is not None:
            self._send({stored.pending})
            frame = frame.unionByName(self.spark.table(stored.pending).select(frame.columns))
            rows = None if rows is None else rows + self._spark.count(stored.pending)
        if stored.where is not None:
            frame = frame.where(stored.where.sql(dialect="spark"))
        return self._spark.gathered(frame, rows)

    def _make_on_spark(self, statement: Statement) -> None:
        with self._on_spark() as spark:
            read = _read_by(statement.select)
            self._send(read)
            frame, size = spark.planned(statement.select)
            relations = [self._relations[name] for name in read]
            self._register(
                statement.name,
                frame,
                statement.keep,
                size,
                is_large=any(relation.is_large for relation in relations),
                is_many=any(relation.is_many for relation in relations),
            )

    def _register(
        self,
        name: str,
        frame: DataFrame,
        keep: Keep,
        size: PlanSize = STORED_TABLE,
        *,
        is_large: bool,
        is_many: bool,
    ) -> None:
        """Name a frame; it is fetched if it is small and `keep` stores it.

        What is made of large relations is stored first: to look whether it is small computes all of
        it, and it would be computed again if it is not.
        """
        is_stored = keep != "view"
        if is_stored and is_large:
            # Counted by the job that stores them, before they have a name.
            counted: Keep = "small" if keep == "cache" else keep
            self._spark.register(name, frame, counted, size, on_disk=is_many)
            rows = self._fetch_stored(name)
        else:
            rows = self._collect_few(frame) if is_stored else None
            if rows is None:
                self._spark.register(name, frame, keep, size, on_disk=is_many)
        if rows is not None:
            self._load_on_driver(name, rows)
            return
        is_large |= is_stored and bool(self.placement.driver_rows)
        self._bind(name, _Relation(False, on_spark=True, is_large=is_large, is_many=is_many))

    def _collect_few(self, frame: DataFrame) -> pa.Table | None:
        most = self.placement.driver_rows
        if not most:
            return None
        rows = frame.limit(most + 1).toArrow()
        return rows if self.placement.holds(rows.num_rows) else None

    def _fetch_stored(self, name: str) -> pa.Table | None:
        """The rows of a relation of Spark, which forgets it; None if they are too many."""
        if not self.placement.holds(self._spark.count(name)):
            return None
        try:
            return self._spark.spark.table(name).toArrow()
        finally:
            self._spark.forget(name)

    def _load_on_driver(self, name: str, rows: pa.Table) -> None:
        with self._on_driver() as duck:
            duck.load(name, rows)
        self._bind(name, _Relation(True))

    def _few(self, name: str) -> pa.Table | None:
        """The rows of a relation; None if the driver does not have them, or they are too many."""
        if not self._relations[name].on_driver:
            return None
        try:
            with self._on_driver(name) as duck:
                rows = duck.arrow(name, self.placement.driver_rows + 1)
        except duckdb.OutOfMemoryException:
            return None
        return rows if self.placement.holds(rows.num_rows) else None

    def _send(self, names: set[str]) -> None:
        """Make relations of the driver on Spark too, each once, also if two threads need it."""
        for name in names:
            relation = self._relations[name]
            with relation.sending:
                if not relation.on_spark:
                    self._send_one(name, relation)
                    relation.on_spark = True

    def _send_one(self, name: str, relation: _Relation) -> None:
        match relation.origin:
            case None:
                with self._on_driver() as duck:
                    rows = duck.arrow(name)
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


def _filtered(rows: exp.Expr, where: exp.Expr | None) -> exp.Select:
    return select("*", from_=rows, where=[] if where is None else [where.copy()])


def _are_many(rows: int | None) -> bool:
    return rows is None or rows > _MANY


def _after_epoch(where: exp.Expr | None) -> int | None:
    return _lower_bound(where, "epoch")


def _lower_bound(where: exp.Expr | None, name: str) -> int | None:
    """The exclusive lower bound of a column in a conjunction; None if there is none."""
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
    read, defined = set[str](), set[str]()
    left: list[exp.Expr] = [query]
    while left:
        match left.pop():
            case exp.Table() as table:
                read.add(table.name)
            case exp.Column() | exp.Literal() | exp.Identifier():
                pass
            case node:
                if isinstance(node, exp.CTE):
                    defined.add(node.alias)
                left += node.iter_expressions()
    return read - defined
