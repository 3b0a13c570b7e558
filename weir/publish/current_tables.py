"""The tables `current/<name>`: each follows the log of an answer, and can be computed from it.

A table notes which version of the log it follows. If it is behind, what was appended since is taken
over; the commit has the epoch of the log. A table is computed from the log as a whole if there is
none, if its columns change, or if the log did not only grow.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from weir.compute.engine import Engine
from weir.compute.relations import LakeQuery, StoredTable
from weir.compute.sql import alias, bigint, column, columns, rows_of, select, sum_of
from weir.definitions.definition import Definition
from weir.errors import WeirError
from weir.expected_errors import as_user_error
from weir.lake.counted import counted
from weir.lake.damage.storage_errors import DamagedTable
from weir.lake.delta.appended import NotAppended, appended_rows
from weir.lake.delta.commit import add_missing_columns, rows_written
from weir.lake.delta.datasets import columns_of
from weir.lake.delta.file_commits import Overtaken
from weir.lake.delta.hashed_files import (
    RowChanges,
    UnknownRows,
    change_hashed,
    overwrite_hashed,
)
from weir.lake.delta.metadata import Metadata
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED, REMOVED
from weir.lake.tables import ANSWER_COLUMNS, ANSWERS, CURRENT, Table
from weir.progress.completion import ABOUT_CURRENT, FOLLOWS, LAYOUT, Completion
from weir.progress.watermarks import Watermark, watermark
from weir.settings import Limits
from weir.stage import Claim, Progress
from weir.typed.column_type import TermType
from weir.typed.layout import Layout
from weir.typed.rows import WrongType, decided_types, typed_state

_LOG = "log"
"""A key in the metadata: which table the log is that the table follows."""


@dataclass(frozen=True, slots=True)
class NotFollowed:
    """A table that could not be brought up to its log, and why."""

    query: str
    epoch: int
    reason: str
    cause: Exception


def is_behind(completion: Completion, query: Definition, limits: Limits) -> bool:
    """Whether a run has to write, or remove, the table of a query."""
    published = completion.published(query.name)
    if published is None or not is_concerned(completion, query, limits):
        return False
    stored = completion.current(query.name)
    is_there = stored is not None or completion.damaged_table(query.name) is not None
    if not _is_wanted(query, limits):
        return is_there
    if published.metadata.fingerprint != query.fingerprint:
        # The answer is that of another text, until the edit is published.
        return False
    if stored is None:
        return is_there or completion.may_be_built(query.name, published, limits.current_rows)
    if not completion.follows(query.name):
        return True
    layout = completion.layout(query.name)
    # A run that was killed may have written a table that the ledger does not know.
    is_recorded = completion.has_table(query.name)
    return layout is None or not _is_as_pinned(layout, query) or not is_recorded


def is_concerned(completion: Completion, query: Definition, limits: Limits) -> bool:
    """Whether a query has a table, or may have one; by the ledger alone."""
    return _is_wanted(query, limits) or completion.has_table(query.name)


def _is_wanted(query: Definition, limits: Limits) -> bool:
    return query.current.is_wanted and limits.current_rows > 0


def _is_as_pinned(layout: Layout, query: Definition) -> bool:
    pins = query.current.pins
    return all(
        column.name not in pins or _is_same(column.type, pins[column.name])
        for column in layout.columns
    )


def _is_same(one: TermType, other: TermType) -> bool:
    return (one.name, one.scale) == (other.name, other.scale)


@dataclass(frozen=True, slots=True)
class CurrentTables:
    """Brings tables up to their logs.

    Attributes:
        engine: computes the state of a log.
        lake: has the tables.
        run: of publish.
        limits: of the driver.
        completion: of the lake before the run.
        progress: receives a line per table that is made or removed.
    """

    engine: Engine
    lake: Lake
    run: Claim
    limits: Limits
    completion: Completion
    progress: Progress

    def follow(self, queries: Iterable[Definition], parallel: int) -> list[NotFollowed]:
        """Bring the tables of some queries up to their logs; gives those that could not be."""
        with ThreadPoolExecutor(parallel) as threads:
            return [failed for failed in threads.map(self._follow, queries) if failed is not None]

    def _follow(self, query: Definition) -> NotFollowed | None:
        epoch, before = 0, self.completion.about_current.get(query.name)
        try:
            published = watermark(self.lake, ANSWERS.name(query.name), "publish", None)
            if published is not None:
                epoch = published.epoch
                _Follower(self, query, published).follow()
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            reported = as_user_error(error) or error
            lines = str(reported).strip().splitlines() or [type(error).__name__]
            reason = f"its table {CURRENT.name(query.name)} is as before: {lines[0]}"
            # As the newest row about the table, it repeats what the one before it says.
            self.run.note(
                ABOUT_CURRENT,
                query.name,
                status=FAILED,
                mode=before and before["mode"],
                table_version=before and before["table_version"],
                reason=reason,
                from_epoch=epoch,
                to_epoch=epoch,
            )
            return NotFollowed(query.name, epoch, reason, error)
        return None


class _Follower:
    """Brings one table up to its log."""

    def __init__(self, tables: CurrentTables, query: Definition, published: Watermark) -> None:
        self.tables, self.query, self.published = tables, query, published
        self.lake, self.name = tables.lake, query.name
        self.stored = tables.completion.current(query.name)
        self.layout = tables.completion.layout(query.name)
        self.started = time.monotonic()

    def follow(self) -> None:
        """Take over what was appended to the log, or compute the table from it."""
        limits = self.tables.limits
        if not _is_wanted(self.query, limits):
            self._remove("it is not wanted")
            return
        if self.published.metadata.fingerprint != self.query.fingerprint:
            # Whether the answer is a set is that of another text.
            return
        if self._is_damaged():
            self.lake.remove(CURRENT.name(self.name))
            self.stored = None
        if self._take_over():
            return
        if int(self.published.metadata.extra["rows"]) > limits.current_rows:
            self._remove(f"the answer has more than {limits.current_rows:,} rows")
        elif self.tables.completion.may_be_built(self.name, self.published, limits.current_rows):
            if not self._build():
                why = "the driver cannot hold the answer; its next change is tried"
                self._remove(why, self.published.version)
        else:
            self._remove("the answer has no columns")

    @property
    def variables(self) -> tuple[str, ...]:
        """The columns of the published answer."""
        return tuple(name for name, _ in self.published.metadata.extra["columns"])

    def _is_damaged(self) -> bool:
        """Whether the log of the table cannot be read."""
        try:
            self.lake.open(CURRENT.name(self.name))
        except DamagedTable:
            return True
        return False

    def _take_over(self) -> bool:
        """Take over what was appended; gives whether that was possible."""
        stored, layout = self.stored, self.layout
        if stored is None or layout is None or not self._has_columns(layout):
            return False
        if not _is_as_pinned(layout, self.query):
            return False
        changes = self._appended(int(stored.metadata.extra[FOLLOWS]))
        if changes is None:
            return False
        if stored.metadata.extra[FOLLOWS] == self.published.version:
            # A run that was killed wrote it, and did not record it.
            self._note(stored.metadata, stored.version, 0)
            return True
        undecided = [column.name for column in layout.columns if not column.type.decided]
        if any(changes[name].null_count < changes.num_rows for name in undecided):
            # Its first value decides the type of a column.
            return False
        layout, rows = self._typed(layout, changes)
        weights = [int(str(weight)) for weight in changes["weight"].to_pylist()]
        names = [name for name in rows.column_names if name != layout.count]
        metadata = self._metadata(layout, "incremental")
        table = self._table(layout)
        try:
            if layout != self.layout:
                add_missing_columns(self.lake, table)
            of_rows = RowChanges(rows.select(names), weights, layout.count)
            version = change_hashed(self.lake, table, of_rows, metadata)
        except (UnknownRows, Overtaken, DamagedTable) as error:
            self.tables.progress(f"{table.name} is computed from the log: {error}")
            return False
        self._note(metadata, version, changes.num_rows)
        return True

    def _has_columns(self, layout: Layout) -> bool:
        is_set = layout.count is None
        return layout.variables == self.variables and is_set == self.query.is_set

    def _appended(self, after: int) -> pa.Table | None:
        """What was appended to the log after a version, added up: its variables and `weight`.

        None if this is not known, too much, or of other columns.
        """
        assert self.stored is not None, "it follows the log"
        log = ANSWERS.name(self.name)
        stored, last = self.lake.existing(log), self.published.version
        if self.stored.metadata.extra[_LOG] != stored.metadata().id or last < after:
            return None
        try:
            written = sum(rows_written(self.lake, log, v) for v in range(after + 1, last + 1))
            if written > self.tables.limits.current_rows:
                return None
            rows = appended_rows(self.lake, log, after, last, columns_of(stored))
        except (NotAppended, FileNotFoundError):
            return None
        names = [name for name in rows.column_names if name not in ANSWER_COLUMNS]
        summed = rows.group_by(names).aggregate([("weight", "sum")])
        summed = summed.filter(pc.field("weight_sum") != 0)
        others = [name for name in names if name not in self.variables]
        if any(summed[name].null_count < summed.num_rows for name in others):
            return None
        return summed.select([*self.variables, "weight_sum"]).rename_columns(
            [*self.variables, "weight"]
        )

    def _build(self) -> bool:
        """Compute the table from the log; gives whether the driver could."""
        most, variables = self.tables.limits.current_rows, self.variables
        rows = published_state(self.tables.engine, self.lake, self.name, variables, most)
        if rows is None:
            return False
        layout = self._decided(rows)
        layout, typed = self._typed(layout, rows)
        metadata = self._metadata(layout, "initial" if self.stored is None else "rebuilt")
        table = self._table(layout)
        if not self._has_a_feed_of(table):
            # One schema reads a whole change feed: a new table has a feed of its own.
            self.lake.remove(table.name)
        version = overwrite_hashed(self.lake, table, typed, layout.count, metadata)
        self._note(metadata, version, rows.num_rows)
        made = "made" if self.stored is None else "computed again"
        rows_ = counted(rows.num_rows, "row")
        self.tables.progress(f"{CURRENT.name(self.name)}: {made}, {rows_}")
        return True

    def _has_a_feed_of(self, table: Table) -> bool:
        """Whether a table keeps all columns of the stored one, with their types."""
        if self.stored is None:
            return True
        before = Layout.from_json(self.stored.metadata.extra[LAYOUT]).table(self.name)
        types = {column.name: column.type for column in table.columns}
        return all(types.get(column.name) == column.type for column in before.columns)

    def _decided(self, rows: pa.Table) -> Layout:
        """The layout for the state; columns keep the types that were decided before."""
        known = {} if self.layout is None else self.layout.types
        pins = self.query.current.pins
        kept = {
            name: type_
            for name, type_ in known.items()
            if type_.decided and (name not in pins or _is_same(type_, pins[name]))
        }
        new = [name for name in self.variables if name not in kept]
        quotients = self.query.body.quotients if new else ()
        decided = {**kept, **decided_types(rows.select(new), pins, quotients)}
        types = {name: decided[name] for name in self.variables}
        return Layout.of(types, is_set=self.query.is_set)

    def _typed(self, layout: Layout, rows: pa.Table) -> tuple[Layout, pa.Table]:
        try:
            return typed_state(layout, rows)
        except WrongType as wrong:
            hint = f"`weir retype {self.name}` has the types decided again."
            if wrong.column in self.query.current.pins:
                hint = "Its front matter says so."
            raise WeirError(str(wrong), "", hint) from wrong

    def _table(self, layout: Layout) -> Table:
        said = self.query.current
        return layout.table(self.name, said.comment, said.comments)

    def _metadata(self, layout: Layout, mode: str) -> Metadata:
        of_log = self.published.metadata
        return Metadata(
            run_id=self.tables.run.run_id,
            job=self.tables.run.job,
            watermark=self.published.epoch,
            fingerprint=of_log.fingerprint,
            mode=mode,
            extra={
                LAYOUT: layout.to_json(),
                FOLLOWS: self.published.version,
                _LOG: self.lake.existing(ANSWERS.name(self.name)).metadata().id,
            },
        )

    def _note(self, metadata: Metadata, version: int, rows: int) -> None:
        self.tables.run.note(
            ABOUT_CURRENT,
            self.name,
            mode=metadata.mode,
            from_epoch=self.stored.epoch if self.stored else 0,
            to_epoch=metadata.watermark,
            rows_out=rows,
            seconds=time.monotonic() - self.started,
            table_version=version,
            commit_metadata=metadata.to_json(),
        )

    def _remove(self, why: str, tried: int | None = None) -> None:
        """Remove the table, if it is there; `tried`: the version of the log it cannot be of."""
        name = CURRENT.name(self.name)
        if self.lake.exists(name):
            self.lake.remove(name)
        elif tried is None:
            return
        note = self.tables.run.note
        note(ABOUT_CURRENT, self.name, mode=REMOVED, reason=why, table_version=tried)
        self.tables.progress(f"{name}: removed, {why}")


def published_state(
    engine: Engine,
    lake: Lake,
    query: str,
    variables: Sequence[str],
    most: int,
    version: int | None = None,
) -> pa.Table | None:
    """A published answer: its variables and `weight`; None if it is too large for the driver.

    Args:
        engine: computes it.
        lake: has its log.
        query: its name.
        variables: its columns.
        most: more rows are too many.
        version: of the log; by default the newest.
    """
    log, table = f"log_of_{query}", ANSWERS.name(query)
    fields = lake.existing(table).schema().fields
    names = [field.name for field in fields if field.name not in ANSWER_COLUMNS]
    weight = sum_of(column("weight"))
    state = select(
        *columns(variables),
        alias(bigint(weight), "weight"),
        from_=rows_of(log),
        group_by=columns(names),
        having=weight.neq(0),
    )
    relation = f"state_of_{query}"
    with engine.scope() as own:
        own.query(relation, LakeQuery(state, (StoredTable(log, table, version),)), "small")
        number = own.count(relation)
        return None if number > most else own.fetch_few(relation, number, most=most)


def behind(
    completion: Completion, queries: Iterable[Definition], limits: Limits
) -> Iterator[Definition]:
    """The queries whose tables a run has to write."""
    queries = [*queries]
    damaged = completion.damaged(query.name for query in queries)
    return (q for q in queries if q.name not in damaged and is_behind(completion, q, limits))
