"""Maintain the queries that stand at the same epoch: one reading of the changes for all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jobs.changes import read_changes, read_few_changes
from jobs.engine.delta import Inputs, plan_delta
from jobs.engine.hybrid import HybridEngine
from jobs.engine.neighbourhood import touched_shapes
from jobs.engine.relations import EpochRange, Keep
from jobs.engine.restrict import Thresholds, changes_relation, read_neighbourhood, read_whole
from jobs.errors import WeirError
from jobs.maintain.tasks import JOB, Mode, Task
from jobs.plan.leaves import Component, Scope
from jobs.plan.lookups import Seed, predicates, seed_of, seeds
from jobs.plans import fingerprint
from jobs.settings import Settings
from jobs.small_reads import rows_here
from jobs.stage import Claim, Progress
from jobs.watermarks import UNTOUCHED, transactions_after
from lake.change_feed import ChangeFeedGap
from lake.commit import append, append_rows, overwrite, overwrite_rows
from lake.ledger import FAILED
from lake.metadata import Metadata
from lake.reader import location, rows_written
from lake.tables import QUADS, TRIPLES, Table, embeddings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

THREADS = 4
"""Queries that are written at once; each commit waits for the file system most of the time."""


@dataclass(slots=True)
class MaintainResult:
    """What was done: per query its mode; errors of queries that could not be maintained."""

    to_epoch: int
    modes: dict[str, Mode] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Group:
    """Maintains queries that stand at the same epoch."""

    session: Callable[[], SparkSession]
    settings: Settings
    run: Claim
    result: MaintainResult
    last: int
    progress: Progress

    def maintain(self, tasks: list[Task]) -> None:
        """Bring the embedding tables of `tasks`, which stand at one epoch, to the last epoch."""
        engine = HybridEngine(self.session, self.settings.limits.driver_rows)
        try:
            for table in (QUADS, TRIPLES):
                self._open(engine, table.name, table.name)
            if tasks[0].from_nothing:
                self._from_nothing(engine, tasks)
            else:
                self._incremental(engine, tasks)
        finally:
            engine.release()

    def _open(self, engine: HybridEngine, name: str, table_name: str) -> None:
        """Make a stored table known: to the driver if it is small, else to Spark."""

        def frame() -> DataFrame:
            address = location(self.settings.lake, table_name)
            return self.session().read.format("delta").load(address)

        rows = self.settings.limits.neighbourhood_rows
        here = rows_here(self.settings, table_name, rows) if engine.driver_rows else None
        if here is None:
            engine.register(name, frame())
        else:
            engine.register_stored(name, here, frame)

    def _from_nothing(self, engine: HybridEngine, tasks: Sequence[Task]) -> None:
        collapsed = tasks[0].collapsed
        epochs = EpochRange(self.last - 1 if collapsed else 0, self.last, from_nothing=True)
        self.progress(
            f"computing {len(tasks)} queries over the whole graph up to epoch {self.last}"
        )
        graphs: dict[Scope, str] = {}
        for i, (scope, parts) in enumerate(_by_scope(tasks).items()):
            read = read_whole(
                engine, scope, epochs, f"g{i}", predicates(parts), collapsed=collapsed, reason=""
            )
            graphs[scope] = read.relation
        self._write(engine, tasks, epochs, graphs, None, "cache")

    def _incremental(self, engine: HybridEngine, tasks: list[Task]) -> None:
        epochs = EpochRange(tasks[0].after, self.last)
        try:
            changes, touched, rows_in = self._changes(engine, tasks, epochs)
        except ChangeFeedGap as gap:
            again = [
                replace(task, mode="rebased", reason=str(gap), collapsed=True) for task in tasks
            ]
            self._from_nothing(engine, again)
            return
        concerned = [task for task in tasks if _touches(task, touched)]
        for task in tasks:
            if task not in concerned:
                self._record(task, epochs.after, UNTOUCHED, "no change matches a pattern", 0, None)
        if not concerned:
            return
        self.progress(
            f"{rows_in} changes in epochs {epochs.start}..{epochs.last} touch "
            f"{len(concerned)} of {len(tasks)} queries"
        )
        limits = self.settings.limits
        thresholds = Thresholds(limits.bulk_changes, limits.neighbourhood_rows, limits.driver_rows)
        graphs: dict[Scope, str] = {}
        reasons: list[str] = []
        keep: Keep = "small"
        for i, (scope, parts) in enumerate(_by_scope(concerned).items()):
            read = read_neighbourhood(
                engine, parts, changes[scope], scope, epochs, thresholds, f"g{i}", touched
            )
            graphs[scope] = read.relation
            if read.keep == "cache":
                keep = "cache"
            if read.reason_whole:
                reasons.append(read.reason_whole)
        if reasons:
            concerned = [replace(t, mode="full", reason="; ".join(reasons)) for t in concerned]
        self._write(engine, concerned, epochs, graphs, rows_in, keep)

    def _changes(
        self, engine: HybridEngine, tasks: list[Task], epochs: EpochRange
    ) -> tuple[dict[Scope, str], frozenset[Seed], int]:
        """Per scope the relation of the changes; the patterns they touch; how many there are."""
        transactions = transactions_after(self.settings, epochs.after)
        inside = [t for t in transactions if t.epoch <= epochs.last]
        expected = sum(transaction.inserted + transaction.deleted for transaction in inside)
        few = expected <= self.settings.limits.driver_rows
        names: dict[Scope, str] = {}
        touched: set[Seed] = set()
        rows_in = 0
        for i, (scope, parts) in enumerate(_by_scope(tasks).items()):
            name = names[scope] = f"changes{i}"
            wanted = (self.settings, scope, epochs, transactions, predicates(parts))
            if scope.is_merge:
                changes_relation(engine, scope, epochs, name)
            elif few and engine.driver_rows:
                engine.load(name, read_few_changes(*wanted))
            else:
                frame = read_changes(self.session(), *wanted)
                engine.register(name, frame, "small" if few else "cache")
            rows_in += engine.count(name)
            shapes = seeds(parts)
            for index, _ in engine.rows(touched_shapes(name, shapes)):
                touched.add(shapes[int(str(index))])
        return names, frozenset(touched), rows_in

    def _write(
        self,
        engine: HybridEngine,
        tasks: Sequence[Task],
        epochs: EpochRange,
        graphs: dict[Scope, str],
        rows_in: int | None,
        keep: Keep,
    ) -> None:
        """Compute and commit the queries' new rows, some at once; one that fails spares others."""

        def one(task: Task) -> None:
            started = time.monotonic()
            try:
                version, rows = self._commit(engine, task, epochs, graphs, keep)
            except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
                text = f"{task.query.name}: {_first_line(error)}"
                self.result.errors.append(text)
                self.run.report(
                    task.query.name,
                    status=FAILED,
                    mode=task.mode,
                    reason=text,
                    from_epoch=task.after,
                    to_epoch=task.after,
                )
                return
            seconds = time.monotonic() - started
            self.progress(f"{task.query.name}: {task.mode}, {rows} rows, {seconds:.1f} s")
            self._record(task, task.after, task.mode, task.reason, rows, version, rows_in, seconds)

        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(one, tasks))

    def _commit(
        self,
        engine: HybridEngine,
        task: Task,
        epochs: EpochRange,
        graphs: dict[Scope, str],
        keep: Keep,
    ) -> tuple[int, int]:
        """Append the new rows of one query; returns the table's version and their number."""
        name = task.query.name
        table = embeddings(name, task.plan.width)
        stored = f"stored_{name}"
        if not task.from_nothing and len(task.plan.stored) > 1:
            self._open(engine, stored, table.name)
        delta = plan_delta(task.plan, epochs, Inputs(graphs, stored), f"q_{name}", keep)
        for statement in (*delta.statements, delta.result):
            engine.make(statement)
        self._check_products(engine, task, delta.products)
        base = self.last if task.collapsed else 0
        if task.mark is not None and not task.collapsed:
            base = task.mark.metadata.base
        metadata = Metadata(
            run_id=self.run.run_id,
            job=JOB,
            watermark=self.last,
            base=base,
            fingerprint=fingerprint(task.plan),
            mode=task.mode,
            extra={
                # A list: the order is the query's, and JSON objects are stored sorted.
                "columns": [[shown, int(column[1:])] for shown, column in task.plan.columns],
                "is_set": task.plan.is_set,
                "reason": task.reason,
            },
        )
        return self._append(engine, delta.result.name, table, metadata, task.from_nothing)

    def _append(
        self,
        engine: HybridEngine,
        relation: str,
        table: Table,
        metadata: Metadata,
        from_nothing: bool,
    ) -> tuple[int, int]:
        lake, options = self.settings.lake, self.settings.storage_options or None
        fetched = engine.fetched(relation)
        if fetched is not None:
            write_rows = overwrite_rows if from_nothing else append_rows
            version = write_rows(lake, table, fetched, metadata, storage_options=options)
            return version, fetched.num_rows
        write = overwrite if from_nothing else append
        version = write(lake, table, engine.frame(relation), metadata, storage_options=options)
        return version, rows_written(lake, table.name, version, options)

    def _check_products(
        self, engine: HybridEngine, task: Task, products: Iterable[tuple[str, ...]]
    ) -> None:
        """Refuse a cartesian product that is larger than anybody wants by accident."""
        limit = self.settings.limits.product_rows
        if task.plan.allow_product:
            return
        for parts in products:
            rows = 1
            for part in parts:
                rows *= engine.count(part)
            if rows > limit:
                raise WeirError(
                    f"its parts share no variable, and their product has {rows} rows,"
                    f" more than product_rows = {limit}.",
                    task.query.file.name,
                    "Join the parts by a variable, or write `#+ allow_product: true`.",
                )

    def _record(
        self,
        task: Task,
        after: int,
        mode: Mode | str,
        reason: str,
        rows_out: int,
        version: int | None,
        rows_in: int | None = None,
        seconds: float = 0.0,
    ) -> None:
        self.result.modes[task.query.name] = mode  # type: ignore[assignment]
        self.run.report(
            task.query.name,
            mode=mode,
            reason=reason or None,
            from_epoch=after,
            to_epoch=self.last,
            rows_in=rows_in,
            rows_out=rows_out,
            seconds=seconds,
            table_version=version,
        )


def _by_scope(tasks: Iterable[Task]) -> dict[Scope, list[Component]]:
    found: dict[Scope, list[Component]] = {}
    for task in tasks:
        for component in task.plan.components:
            found.setdefault(component.scope, []).append(component)
    return found


def _touches(task: Task, touched: frozenset[Seed]) -> bool:
    return any(
        seed_of(component, pattern) in touched
        for component in task.plan.components
        for pattern in component.patterns
    )


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
