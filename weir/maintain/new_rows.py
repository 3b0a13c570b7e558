"""Compute the new rows of queries' stored nodes and commit them with the new watermark.

Queries of one shape are computed together, by the statements of one plan; a query that fails in
this is computed by itself.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import count

from weir.compute.budget import Budget, QueryLimitError
from weir.compute.engine import Engine
from weir.compute.lost_rows import LostRowsError
from weir.compute.writing import Commit
from weir.engine.plan_delta import plan_delta
from weir.engine.relations import Inputs
from weir.lake.counted import counted
from weir.lake.delta.commit import SaveMode
from weir.lake.delta.metadata import Metadata
from weir.lake.tables import embeddings
from weir.maintain.outcome import Outcome
from weir.maintain.prepared import Prepared
from weir.maintain.products import make_delta
from weir.maintain.same_shape import MemberRows, TooLarge, of_one_shape, rows_of_members
from weir.maintain.tasks import Task, commit_metadata
from weir.settings import Settings
from weir.stage import Progress


@dataclass(frozen=True, slots=True)
class NewRows:
    """Makes and commits the new rows of queries that were prepared together."""

    settings: Settings
    engine: Engine
    prepared: Prepared
    outcome: Outcome
    progress: Progress

    def commit(self, tasks: Sequence[Task]) -> None:
        """Bring all `tasks` up to date, some at once; one that fails does not affect the others.

        Raises:
            LostRowsError: what is not reported has to be prepared and computed again.
        """
        # Each commit waits for the file system most of the time.
        with ThreadPoolExecutor(self.settings.limits.parallel_queries) as threads:
            alone: list[Task] = []
            for number, members in zip(count(), of_one_shape(tasks)):
                if len(members) == 1:
                    alone += members
                else:
                    alone += self._commit_together(members, f"s{number}", threads)
            commit = partial(self._commit_or_report, is_alone=len(alone) == 1)
            crowded = [*filter(None, threads.map(commit, alone))]
        for task in crowded:
            self._commit_or_report(task, is_alone=True)

    def _commit_together(
        self, members: Sequence[Task], prefix: str, threads: ThreadPoolExecutor
    ) -> Sequence[Task]:
        """Bring queries of one shape up to date; gives those that are to be computed alone."""
        started = time.monotonic()
        limit = self.settings.limits.product_rows
        try:
            engine = self.engine.within(self._budget())
            new = rows_of_members(engine, members, self.prepared, prefix, limit)
        except TooLarge as large:
            for task in members:
                if task.query.name in large.errors:
                    self.outcome.failed(task, large.errors[task.query.name])
            left = [task for task in members if task.query.name not in large.errors]
            return self._commit_together(left, f"{prefix}_", threads) if len(left) > 1 else left
        except LostRowsError:
            raise
        except Exception as error:  # noqa: BLE001  (each is computed by itself, and its error recorded)
            self.progress(
                f"{counted(len(members), 'query')} of one shape, computed one by one: {error}"
            )
            return members
        seconds = time.monotonic() - started
        self.progress(
            f"{counted(len(members), 'query')} of one shape: {counted(new.total, 'row')},"
            f" {seconds:.1f} s"
        )
        share = seconds / len(members)
        changed: list[Task] = []
        for task in members:
            if new.count(task) or task.from_nothing:
                changed.append(task)
            else:
                self.outcome.untouched(task)
        list(threads.map(lambda task: self._write_or_report(task, new, share), changed))
        return []

    def _write_or_report(self, task: Task, new: MemberRows, seconds: float) -> None:
        started = time.monotonic()
        try:
            table = embeddings(task.query.name, task.plan.width)
            commit = new.write(
                self.engine,
                task,
                table,
                self._metadata(task),
                _mode(task),
            )
        except LostRowsError:
            raise
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            self.outcome.failed(task, error)
            return
        self._report(task, commit, seconds + time.monotonic() - started)

    def _commit_or_report(self, task: Task, *, is_alone: bool) -> Task | None:
        """Bring a query up to date; gives it if it is to be computed again, alone.

        Jobs of Spark share its cores, so one may take its time because of another.
        """
        started = time.monotonic()
        budget = self._budget()
        try:
            with self.engine.within(budget).scope() as engine:
                commit = self._commit(task, engine)
        except LostRowsError:
            raise
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            is_late = isinstance(error, QueryLimitError) and budget.used >= budget.seconds
            if is_late and budget.on_spark and not is_alone:
                return task
            self.outcome.failed(task, error)
            return None
        if commit is None:
            self.outcome.untouched(task)
        else:
            self._report(task, commit, time.monotonic() - started)
        return None

    def _budget(self) -> Budget:
        return Budget(self.settings.limits.query_seconds)

    def _report(self, task: Task, commit: Commit, seconds: float) -> None:
        self.progress(
            f"{task.query.name}: {task.mode}, {counted(commit.rows, 'row')}, {seconds:.1f} s"
        )
        self.outcome.committed(task, commit, self.prepared.rows_in, seconds)

    def _commit(self, task: Task, engine: Engine) -> Commit | None:
        """Append the new rows of one query; None if there are none, and nothing is committed."""
        name, epochs = task.query.name, self.prepared.epochs
        table = embeddings(name, task.plan.width)
        stored = f"stored_{name}"
        if not task.from_nothing and len(task.plan.stored) > 1:
            engine.open(stored, table.name)
        inputs = Inputs(self.prepared.graphs, stored)
        delta = plan_delta(task.plan, epochs, inputs, f"q_{name}", self.prepared.keep)
        if not task.from_nothing:
            # Counted, then written.
            delta = replace(delta, result=replace(delta.result, keep=self.prepared.keep))
        limit = self.settings.limits.product_rows
        make_delta(engine, delta, limit, task.plan, task.query.file.name)
        rows = None if task.from_nothing else engine.count(delta.result.name)
        if rows == 0:
            return None
        metadata = self._metadata(task)
        return engine.write(table, delta.result.name, metadata, mode=_mode(task), rows=rows)

    def _metadata(self, task: Task) -> Metadata:
        return commit_metadata(task, self.outcome.run.run_id, self.prepared.epochs.last)


def _mode(task: Task) -> SaveMode:
    return "overwrite" if task.from_nothing else "append"
