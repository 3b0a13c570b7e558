"""Maintain the queries that stand at the same epoch: one reading of the graph for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from weir.compute.engine import Engine
from weir.compute.lost_rows import repeated_if_lost
from weir.compute.relations import Keep
from weir.engine.read_graph import Thresholds, read_neighbourhood, read_whole
from weir.engine.relations import EpochRange
from weir.lake.counted import counted
from weir.lake.delta.change_feed import ChangeFeedGap
from weir.lake.tables import QUADS, TRIPLES
from weir.maintain.new_rows import NewRows
from weir.maintain.outcome import Outcome
from weir.maintain.prepared import Prepared
from weir.maintain.tasks import JOB, Task, groups, start_again
from weir.maintain.touched import Changes, by_scope, read_touched, seeds_by_scope
from weir.maintain.unmatched import Place, unmatched
from weir.plan.lookups import predicates_of
from weir.plan.scope import Scope
from weir.progress.completion import Completion
from weir.project import Project
from weir.stage import Progress


@dataclass(frozen=True, slots=True)
class Group:
    """Maintains queries that stand at the same epoch."""

    project: Project
    completion: Completion
    outcome: Outcome
    progress: Progress

    @property
    def last(self) -> int:
        """The newest epoch."""
        return self.completion.head

    def maintain(self, tasks: Sequence[Task]) -> None:
        """Bring the embedding tables of `tasks`, which stand at one epoch, to the last epoch.

        A failed read fails all of them, but not the queries at other epochs.
        """
        try:
            again = repeated_if_lost(lambda: self._maintain(self._left(tasks)), self.progress)
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            for task in self._left(tasks):
                self.outcome.failed(task, error)
            return
        for at_one_epoch in groups(again):
            self.maintain(at_one_epoch)

    def _left(self, tasks: Sequence[Task]) -> Sequence[Task]:
        return [task for task in tasks if task.query.name not in self.outcome.reported]

    def _maintain(self, tasks: Sequence[Task]) -> list[Task]:
        """Bring tasks to the last epoch; gives those that have to be computed from nothing."""
        with self.project.engine(JOB) as engine:
            _open_graph(engine)
            if not tasks[0].from_nothing:
                return self._incremental(engine, tasks)
            self._from_nothing(engine, tasks)
            return []

    def _again(self, tasks: Sequence[Task], gap: ChangeFeedGap) -> Iterator[Task]:
        """The tasks from nothing, as the log does not give the changes since they were computed."""
        for task in tasks:
            start = start_again(self.completion, task.query, task.stored)
            assert start is not None, "it has a stored state"
            yield task.rebased(str(gap), start)

    def _from_nothing(self, engine: Engine, tasks: Sequence[Task]) -> None:
        epochs = EpochRange(tasks[0].range_after, self.last, from_nothing=True)
        self.progress(
            f"computing {counted(len(tasks), 'query')} over the whole graph up to epoch {self.last}"
        )
        for task in tasks:
            if task.merged:
                self.outcome.warn(task.query.name, task.merged, self.progress)
        graphs: dict[Scope, str] = {}
        for i, (scope, seeds) in enumerate(seeds_by_scope(tasks).items()):
            known = predicates_of(seeds)
            read = read_whole(engine, scope, epochs, f"g{i}", known, reason="")
            graphs[scope] = read.relation
        patterns = {
            task.query.name: [
                (Place(graphs[seed.scope]), seed.shape)
                for seed in task.planned.seeds
                if seed.scope in graphs
            ]
            for task in tasks
            if task.is_new
        }
        for name, what in unmatched(engine, patterns):
            self.outcome.warn(name, what, self.progress)
        self._commit(engine, tasks, Prepared(epochs, graphs, "cache"))

    def _incremental(self, engine: Engine, tasks: Sequence[Task]) -> list[Task]:
        epochs = EpochRange(tasks[0].after, self.last)
        self.progress(f"reading the changes of epochs {epochs.start}..{epochs.last}")
        try:
            changes = read_touched(engine, self.completion.lake, tasks, epochs)
        except ChangeFeedGap as gap:
            return [*self._again(tasks, gap)]
        concerned = [task for task in tasks if changes.touch(task)]
        for task in tasks:
            if task not in concerned:
                self.outcome.untouched(task)
        if not concerned:
            return []
        self.progress(
            f"{changes.rows} changes in epochs {epochs.start}..{epochs.last} touch "
            f"{len(concerned)} of {counted(len(tasks), 'query')}"
        )
        self._commit_delta(engine, concerned, epochs, changes)
        return []

    def _commit_delta(
        self, engine: Engine, tasks: Sequence[Task], epochs: EpochRange, changes: Changes
    ) -> None:
        limits = self.project.settings.limits
        small = max(limits.driver_rows, limits.broadcast_rows)
        thresholds = Thresholds(limits.bulk_changes, limits.neighbourhood_rows, small)
        graphs: dict[Scope, str] = {}
        whole: dict[Scope, str] = {}
        keep: Keep = "small"
        for i, (scope, parts) in enumerate(by_scope(tasks).items()):
            relation = changes.relations[scope]
            read = read_neighbourhood(
                engine, parts, relation, scope, epochs, thresholds, f"g{i}", changes.touched
            )
            graphs[scope] = read.relation
            if read.keep == "cache":
                keep = "cache"
            if read.reason_whole:
                whole[scope] = read.reason_whole
        tasks = [_with_reasons(task, whole) for task in tasks]
        self._commit(engine, tasks, Prepared(epochs, graphs, keep, changes.rows))

    def _commit(self, engine: Engine, tasks: Sequence[Task], prepared: Prepared) -> None:
        new_rows = NewRows(self.project.settings, engine, prepared, self.outcome, self.progress)
        new_rows.commit(tasks)


def _with_reasons(task: Task, whole: Mapping[Scope, str]) -> Task:
    """A task that reads the whole graph for a scope says so, and why."""
    scopes = dict.fromkeys(seed.scope for seed in task.planned.seeds)
    reasons = [whole[scope] for scope in scopes if scope in whole]
    if not reasons:
        return task
    return replace(task, mode="full", reason="; ".join([*reasons, *filter(None, [task.reason])]))


def _open_graph(engine: Engine) -> None:
    for table in (QUADS, TRIPLES):
        engine.open(table.name, table.name)
