"""Compute the new rows of a query's stored nodes and commit them with the new watermark."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import prod

from jobs.compute.engine import Commit, Engine
from jobs.compute.relations import Keep
from jobs.engine.fixpoint import make
from jobs.engine.plan_delta import PlanDelta, plan_delta
from jobs.engine.relations import EpochRange, Inputs
from jobs.errors import WeirError
from jobs.maintain.outcome import Outcome
from jobs.maintain.tasks import JOB, Task
from jobs.plan.leaves import Scope
from jobs.settings import Settings
from jobs.stage import Progress
from lake.commit import SaveMode
from lake.metadata import Metadata
from lake.tables import Table, embeddings


@dataclass(frozen=True, slots=True)
class Prepared:
    """What the queries of a group compute with.

    Attributes:
        epochs: the range.
        graphs: per scope the interval relation of the (restricted) graph.
        keep: how relations as large as these are stored.
        rows_in: the number of changes, None where the whole graph is taken.
    """

    epochs: EpochRange
    graphs: dict[Scope, str]
    keep: Keep
    rows_in: int | None = None


@dataclass(frozen=True, slots=True)
class NewRows:
    """Makes and commits the new rows of queries that were prepared together."""

    settings: Settings
    engine: Engine
    prepared: Prepared
    outcome: Outcome
    progress: Progress

    def commit(self, tasks: Sequence[Task]) -> None:
        """Bring all `tasks` up to date, some at once; one that fails does not affect the others."""
        # Each commit waits for the file system most of the time.
        with ThreadPoolExecutor(self.settings.limits.parallel_queries) as threads:
            list(threads.map(self._commit_or_report, tasks))

    def _commit_or_report(self, task: Task) -> None:
        started = time.monotonic()
        try:
            commit, metadata = self._commit(task)
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            self.outcome.failed(task, error)
            return
        seconds = time.monotonic() - started
        self.progress(f"{task.query.name}: {task.mode}, {commit.rows} rows, {seconds:.1f} s")
        self.outcome.committed(task, commit, metadata, self.prepared.rows_in, seconds)

    def _commit(self, task: Task) -> tuple[Commit, Metadata]:
        """Append the new rows of one query."""
        name, epochs = task.query.name, self.prepared.epochs
        table = embeddings(name, task.plan.width)
        stored = f"stored_{name}"
        if not task.from_nothing and len(task.plan.stored) > 1:
            self.engine.open(stored, table.name)
        inputs = Inputs(self.prepared.graphs, stored)
        delta = plan_delta(task.plan, epochs, inputs, f"q_{name}", self.prepared.keep)
        self._make(task, delta)
        metadata = self._metadata(task)
        commit = self._write(table, delta.result.name, metadata, from_nothing=task.from_nothing)
        return commit, metadata

    def _write(
        self, table: Table, relation: str, metadata: Metadata, *, from_nothing: bool
    ) -> Commit:
        mode: SaveMode = "overwrite" if from_nothing else "append"
        return self.engine.write(table, relation, metadata, mode=mode)

    def _make(self, task: Task, delta: PlanDelta) -> None:
        """Make the relations in order; the size of a product is checked before it is made.

        Raises:
            WeirError: a product exceeds `limits.product_rows`.
        """
        limit = self.settings.limits.product_rows
        made: set[str] = set()
        unchecked = [] if task.plan.allow_product else [*delta.products]
        for statement in (*delta.statements, delta.result):
            make(self.engine, statement)
            made.add(statement.name)
            for parts in [parts for parts in unchecked if made.issuperset(parts)]:
                unchecked.remove(parts)
                counts = [self.engine.count(part) for part in parts]
                rows = prod(counts)
                if rows > limit:
                    sizes = " x ".join(f"{count:,}" for count in counts)
                    raise WeirError(
                        f"parts of it share no variable, and their product has {sizes} = {rows:,}"
                        f" rows, more than product_rows = {limit:,}. `weir explain` shows them.",
                        task.query.file.name,
                        "Join the parts by a variable, or write `#+ allow_product: true`.",
                    )

    def _metadata(self, task: Task) -> Metadata:
        last = self.prepared.epochs.last
        base = last if task.collapsed else 0
        if task.stored is not None and not task.collapsed:
            base = task.stored.metadata.base
        return Metadata(
            run_id=self.outcome.run.run_id,
            job=JOB,
            watermark=last,
            base=base,
            fingerprint=task.query.fingerprint,
            mode=task.mode,
            extra={
                # A list: the order is the query's, and JSON objects are stored sorted.
                "columns": [[shown, int(column[1:])] for shown, column in task.plan.columns],
                "is_set": task.plan.is_set,
                "reason": task.reason,
            },
        )
