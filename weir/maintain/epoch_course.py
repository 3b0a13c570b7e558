"""Definitions at the same epoch: one leg, and one reading of the graph for all of them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any
from uuid import uuid4

from weir.compute.engine import Engine
from weir.compute.relations import Keep
from weir.compute.writing import Commit
from weir.engine.read_graph import open_graph, read_neighbourhood, read_whole
from weir.engine.relations import EpochRange
from weir.lake.counted import counted
from weir.lake.delta.commit import SaveMode
from weir.lake.delta.metadata import LOG_ID
from weir.maintain.derived_graphs import DerivedGraph
from weir.maintain.logs import UPSTREAMS, logs_of_upstreams
from weir.maintain.run import Run
from weir.maintain.tasks import CommitForm, Task, commit_metadata
from weir.maintain.touched import read_touched, seeds_by_scope
from weir.maintain.unmatched import place_of, unmatched
from weir.plan.lookups import Seed, by_scope, predicates_of
from weir.plan.scope import Scope
from weir.timeline.evaluation import EpochInputs
from weir.timeline.legs import Leg


@dataclass(slots=True)
class EpochCourse:
    """Tasks that have the same range of epochs, which is their only leg.

    Attributes:
        run: of maintain.
        tasks: of one range.
        keep: how relations as large as the graph that was read are stored.
        graph: per scope the interval relation of what was read of the graph.
        rows_in: the number of changes, None where the whole graph is taken.
        touched: the patterns that have changes; None where the whole graph is taken.
        changes: per scope the relation of its changes; none where the whole graph is taken.
        tables: by relation of stored rows, the table that has them.
    """

    run: Run
    tasks: Sequence[Task]
    keep: Keep = "cache"
    graph: dict[Scope, str] = field(default_factory=dict)
    rows_in: int | None = None
    touched: frozenset[Seed] | None = None
    changes: dict[Scope, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)

    @property
    def _from_nothing(self) -> bool:
        return self.tasks[0].from_nothing

    def left(self) -> Sequence[Task]:
        """The tasks that are not reported yet."""
        return [task for task in self.tasks if task.name not in self.run.outcome.reported]

    def legs(self) -> Sequence[Leg]:
        """The range of epochs, as one leg."""
        return [Leg.of_epochs(self.tasks[0].range_after, self.run.last)]

    def open(self, engine: Engine, leg: Leg) -> Sequence[Task]:
        """Read the changes and what they can join with, or the whole graph."""
        tasks = self.left()
        open_graph(engine, seeds_by_scope(tasks))
        self.graph, self.rows_in, self.touched, self.changes = {}, None, None, {}
        epochs = self._epochs(leg)
        if self._from_nothing:
            self._read_whole(engine, tasks, epochs)
            return tasks
        return self._read_neighbourhood(engine, tasks, epochs)

    def _read_whole(self, engine: Engine, tasks: Sequence[Task], epochs: EpochRange) -> None:
        run = self.run
        run.progress(
            f"computing {counted(len(tasks), 'query')} over the whole graph up to epoch {run.last}"
        )
        for task in tasks:
            if task.merged:
                run.outcome.warn(task.name, task.merged, run.progress)
        for i, (scope, seeds) in enumerate(seeds_by_scope(tasks).items()):
            started = time.monotonic()
            read = read_whole(
                engine, scope, epochs, f"g{i}", predicates_of(seeds), reason="no stored state"
            )
            self.graph[scope] = read.relation
            run.outcome.read(scope, epochs, read, None, time.monotonic() - started)
        self.keep = "cache"
        # Of what is entailed, a term that no triple has is nothing to be warned of.
        new = [task for task in tasks if task.is_new and not task.definition.is_entailed]
        places = {
            scope: place_of(engine, self.graph[scope], scope) for scope in seeds_by_scope(new)
        }
        patterns = {
            task.name: [(places[seed.scope], seed.shape) for seed in task.definition.body.seeds]
            for task in new
        }
        for name, what in unmatched(engine, patterns):
            run.outcome.warn(name, what, run.progress)

    def _read_neighbourhood(
        self, engine: Engine, tasks: Sequence[Task], epochs: EpochRange
    ) -> Sequence[Task]:
        run, which = self.run, f"epochs {epochs.start}..{epochs.last}"
        run.progress(f"reading the changes of {which}")
        changes = read_touched(engine, run.ingested_after(epochs.after), tasks, epochs)
        concerned = []
        for task in tasks:
            if changes.touch(task):
                concerned.append(task)
            else:
                run.outcome.untouched(task)
        if not concerned:
            return []
        run.progress(
            f"{changes.rows} changes in {which} touch "
            f"{len(concerned)} of {counted(len(tasks), 'query')}"
        )
        whole: dict[Scope, str] = {}
        self.keep, self.rows_in, self.touched = "small", changes.rows, changes.touched
        computed = [task for task in concerned if run.early_rows(task) is None]
        bodies = [task.definition.body for task in computed]
        self.changes = {scope: own.relation for scope, own in changes.by_scope.items()}
        components = chain.from_iterable(body.components for body in bodies)
        lookups = [*chain.from_iterable(body.lookups for body in bodies)]
        for i, (scope, parts) in enumerate(by_scope(components).items()):
            started, seen = time.monotonic(), changes.by_scope[scope]
            read = read_neighbourhood(
                engine,
                parts,
                lookups,
                seen.relation,
                scope,
                epochs,
                run.thresholds,
                f"g{i}",
                changes.touched,
            )
            seconds = seen.seconds + time.monotonic() - started
            run.outcome.read(scope, epochs, read, seen.rows, seconds)
            self.graph[scope] = read.relation
            if read.keep == "cache":
                self.keep = "cache"
            # That all of a small graph is read is no event of a query; the row about it says so.
            if read.reason_whole and not run.thresholds.is_small_graph:
                whole[scope] = read.reason_whole
        return [_with_reasons(task, whole) for task in concerned]

    def _epochs(self, leg: Leg) -> EpochRange:
        return EpochRange(leg.low, leg.high, from_nothing=self._from_nothing)

    def open_stored(self, engine: Engine, task: Task, name: str) -> None:
        """Name the stored rows of a task that goes on from them."""
        if not task.from_nothing and task.definition.body.reads_stored:
            engine.open(name, task.table.name)
            self.tables[name] = task.table.name

    def inputs(self, engine: Engine, leg: Leg, stored: str, prefix: str) -> EpochInputs:
        """The inputs of the engine on a leg: the graph that was read, and the stored rows."""
        epochs = self._epochs(leg)
        return EpochInputs(
            engine,
            epochs,
            self.graph,
            stored,
            prefix,
            self.keep,
            self.touched,
            self.changes,
            self.tables.get(stored),
        )

    def form(self, leg: Leg, task: Task) -> CommitForm:
        """How a task is committed: a whole state replaces the table, a delta is appended."""
        stored = {} if task.from_nothing or task.stored is None else task.stored.metadata.extra
        log_id = stored.get(LOG_ID, "") if stored else uuid4().hex
        extra: dict[str, Any] = {LOG_ID: log_id}
        if task.definition.derived:
            extra[UPSTREAMS] = logs_of_upstreams(self.run.lake, task.definition)
        metadata = commit_metadata(task, self.run.outcome.run.run_id, leg.last, **extra)
        mode: SaveMode = "overwrite" if task.from_nothing else "append"
        return CommitForm(metadata, mode, even_empty=task.from_nothing)

    def committed(self, _: Leg, task: Task, commit: Commit, seconds: float) -> None:
        """Write the graph that a task gives, and report that its new rows are committed."""
        graph = DerivedGraph.of(task.definition)
        if graph is not None:
            with self.run.bounded_engine() as engine:
                graph.write(self.run.lake, engine, commit.metadata, self.run.outcome.run.run_id)
        self.run.progress(
            f"{task.name}: {task.mode}, {counted(commit.rows, 'row')}, {seconds:.1f} s"
        )
        self.run.outcome.committed(task, commit, self.rows_in, seconds)

    def unchanged(self, task: Task) -> None:
        """Report that the leg brought no new row for a task."""
        self.run.outcome.untouched(task)

    def finish(self) -> None:
        """Does nothing: each task was reported at the end of the leg."""


def _with_reasons(task: Task, whole: Mapping[Scope, str]) -> Task:
    """A task that reads the whole graph for a scope says so, and why."""
    scopes = dict.fromkeys(seed.scope for seed in task.definition.body.seeds)
    reasons = [whole[scope] for scope in scopes if scope in whole]
    if not reasons:
        return task
    return replace(task, mode="full", reason="; ".join([*reasons, *filter(None, [task.reason])]))
