"""Compute the new rows of tasks on a leg, and commit them with the new watermark.

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

import pyarrow as pa

from weir.compute.budget import QueryLimitError
from weir.compute.engine import Engine
from weir.compute.lost_rows import raise_if_lost
from weir.compute.relations import Statement
from weir.compute.writing import Commit
from weir.lake.counted import counted
from weir.maintain.course import Course
from weir.maintain.products import make_delta
from weir.maintain.run import Run
from weir.maintain.same_shape import (
    MemberRows,
    TooLarge,
    of_one_shape,
    open_stored_of_members,
    rows_of_members,
)
from weir.maintain.tasks import Task
from weir.timeline.legs import Leg


@dataclass(frozen=True, slots=True)
class NewRows:
    """Makes and commits the new rows of tasks on a leg that was opened."""

    run: Run
    engine: Engine
    course: Course
    leg: Leg

    def commit(self, tasks: Sequence[Task]) -> None:
        """Bring all `tasks` up to date, some at once; one that fails does not affect the others.

        Raises:
            LostRowsError: what is not reported has to be prepared and computed again.
        """
        # Each commit waits for the file system most of the time.
        with ThreadPoolExecutor(self.run.limits.parallel_queries) as threads:
            alone = [task for task in tasks if self.run.early_rows(task) is not None]
            others = [task for task in tasks if self.run.early_rows(task) is None]
            for number, members in zip(count(), of_one_shape(others)):
                if len(members) == 1 or any(task.name in self.run.apart for task in members):
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
        try:
            new = self._rows_of_members(members, prefix)
        except TooLarge as large:
            for task in members:
                if task.name in large.errors:
                    self.run.outcome.failed(task, large.errors[task.name])
            left = [task for task in members if task.name not in large.errors]
            return self._commit_together(left, f"{prefix}_", threads) if len(left) > 1 else left
        except Exception as error:  # noqa: BLE001  (each is computed by itself, and its error recorded)
            self.run.apart.update(task.name for task in members)
            raise_if_lost(error)
            self.run.progress(
                f"{counted(len(members), 'query')} of one shape, computed one by one: {error}"
            )
            return members
        seconds = time.monotonic() - started
        self.run.progress(
            f"{counted(len(members), 'query')} of one shape: {counted(new.total, 'row')},"
            f" {seconds:.1f} s"
        )
        share = seconds / len(members)
        changed: list[Task] = []
        for task in members:
            if new.count(task) or self.course.form(self.leg, task).even_empty:
                changed.append(task)
            else:
                self.course.unchanged(task)
        list(threads.map(lambda task: self._write_or_report(task, new, share), changed))
        return []

    def _rows_of_members(self, members: Sequence[Task], prefix: str) -> MemberRows:
        engine, stored = self.engine.within(self.run.budget()), f"{prefix}_stored"
        open_stored_of_members(engine, self.course, members, stored)
        inputs = self.course.inputs(engine, self.leg, stored, prefix)
        return rows_of_members(engine, members, inputs, self.run.limits.product_rows)

    def _write_or_report(self, task: Task, new: MemberRows, seconds: float) -> None:
        started = time.monotonic()
        try:
            commit = new.write(self.engine, task, self.course.form(self.leg, task))
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            raise_if_lost(error)
            self.run.outcome.failed(task, error)
            return
        self._report(task, commit, seconds + time.monotonic() - started)

    def _commit_or_report(self, task: Task, *, is_alone: bool) -> Task | None:
        """Bring a query up to date; gives it if it is to be computed again, alone.

        Jobs of Spark share its cores, so one may take its time because of another.
        """
        started = time.monotonic()
        budget = self.run.budget()
        try:
            with self.engine.within(budget).scope() as engine:
                commit = self._commit(task, engine)
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            raise_if_lost(error)
            is_late = isinstance(error, QueryLimitError) and budget.used >= budget.seconds
            if is_late and budget.on_spark and not is_alone:
                return task
            self.run.outcome.failed(task, error)
            return None
        if commit is None:
            self.course.unchanged(task)
        else:
            self._report(task, commit, time.monotonic() - started)
        return None

    def _report(self, task: Task, commit: Commit, seconds: float) -> None:
        """Report a task whose new rows are committed, after what is written of them."""
        try:
            self.course.committed(self.leg, task, commit, seconds)
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            # Even if rows are lost, its own are not computed again: they are in its table.
            self.run.outcome.failed(task, error)

    def _commit(self, task: Task, engine: Engine) -> Commit | None:
        """Commit the new rows of one task; None if there are none, and nothing is committed."""
        form = self.course.form(self.leg, task)
        early = self.run.early_rows(task)
        if early is not None:
            return self._commit_early(task, engine, early)
        # Counted, then written.
        result = self.make(task, engine, is_read_again=not form.even_empty)
        rows = None if result.keep == "view" else engine.count(result.name)
        if rows == 0 and not form.even_empty:
            return None
        return engine.write(task.table, result.name, form.metadata, mode=form.mode, rows=rows)

    def make(self, task: Task, engine: Engine, *, is_read_again: bool) -> Statement:
        """Make the relation of the new rows of one task, which the result names.

        Args:
            task: of those of the course that may have new rows.
            engine: makes it.
            is_read_again: whether the rows are read more than once.

        Raises:
            WeirError: a product exceeds its limit.
        """
        # No name that ingest has: what is not committed is in its engine.
        course, definition = self.course, task.definition
        stored = f"stored_rows_of_{task.name}"
        course.open_stored(engine, task, stored)
        delta = definition.body.delta(course.inputs(engine, self.leg, stored, f"q_{task.name}"))
        if is_read_again and delta.result.keep == "view":
            delta = replace(delta, result=replace(delta.result, keep=course.keep))
        make_delta(engine, delta, self.run.limits.product_rows, definition)
        return delta.result

    def _commit_early(self, task: Task, engine: Engine, rows: pa.Table) -> Commit | None:
        """Commit rows that ingest has computed; None if there are none."""
        name, metadata = f"early_{task.name}", self.course.form(self.leg, task).metadata
        commit = None
        if rows.num_rows:
            engine.load(name, rows)
            commit = engine.write(task.table, name, metadata, rows=rows.num_rows)
        self.run.project.early_rows.pop(task.name)
        return commit
