"""Maintain definitions: the tasks of each, their legs, the new rows of a leg, its commit, a report.

Definitions that stand at one epoch share their leg, and what it reads of the graph. One that reads
streams has legs of its own, and comes after those that give its streams.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import assert_never

from weir.compute.lost_rows import repeated_if_lost
from weir.definitions.definition import Definition
from weir.definitions.upstreams import levels
from weir.errors import WeirError
from weir.lake.delta.change_feed import ChangeFeedGap
from weir.maintain.course import Course
from weir.maintain.derived_graphs import DerivedGraph
from weir.maintain.emitted_streams import OutputStream
from weir.maintain.epoch_course import EpochCourse
from weir.maintain.instant_course import InstantCourse
from weir.maintain.logs import begin_of_graphs, recomputed_upstream
from weir.maintain.new_rows import NewRows
from weir.maintain.run import Run
from weir.maintain.stream_start import StreamStart
from weir.maintain.tasks import FROM_THE_FIRST, Task, groups, start_again, task_at_rest
from weir.timeline.axis import Epochs, Instants
from weir.timeline.legs import Leg


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Brings definitions, and the streams and graphs that they give, to the newest epoch.

    Attributes:
        run: of maintain.
        behind: by name, the tasks of the definitions that are behind.
        unreadable: the definitions that are not maintained, as their tables cannot be read or what
            they declare is wrong.
    """

    run: Run
    behind: Mapping[str, Task]
    unreadable: Collection[str]

    def maintain(self, definitions: Iterable[Definition]) -> None:
        """Maintain definitions; one may fail by itself, with those that read what it gives.

        Args:
            definitions: all that can be maintained.
        """
        for level in levels(definitions):
            # What happened to those that give what it reads decides what is to be done for one.
            tasks = [task for one in level if (task := self._task(one)) is not None]
            for group in groups(tasks):
                self._maintain(group)

    def _task(self, definition: Definition) -> Task | None:
        """The task of a definition after those that give what it reads; None if it has none."""
        outcome = self.run.outcome
        try:
            task = self.behind.get(definition.name)
            if task is None or not task.from_nothing:
                self._complete_graph(definition)
            task = task or self._later_task(definition)
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            outcome.failed(task_at_rest(self.run.completion, definition), error)
            return None
        if task is None:
            return None
        for upstream in definition.upstreams:
            if upstream in outcome.waiting:
                what = definition.read_of(upstream)
                outcome.waits(task, f"waits for the {what} of the query {upstream}")
                return None
        for upstream in definition.upstreams:
            if upstream in outcome.failures or upstream in self.unreadable:
                what = definition.read_of(upstream)
                why = WeirError(
                    f"the query {upstream}, whose {what} it reads, was not maintained",
                    definition.file.name,
                    "It is maintained again when that query is.",
                )
                outcome.failed(task, why)
                return None
        try:
            return self._after_upstreams(task)
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            outcome.failed(task, error)
            return None

    def _later_task(self, definition: Definition) -> Task | None:
        """The task of one at the last epoch, if a run ended before all that follows from it."""
        task = task_at_rest(self.run.completion, definition)
        if task.stored is None or not (definition.upstreams or definition.axis.output):
            return None
        output = OutputStream.of(definition)
        is_behind = output is not None and output.is_behind(self.run.lake, task.stored.metadata)
        return task if is_behind or self._after_upstreams(task).from_nothing else None

    def _complete_graph(self, definition: Definition) -> None:
        """Write what is missing of the graph of a definition, if a run ended before that."""
        graph, stored = DerivedGraph.of(definition), self.run.completion.maintained(definition.name)
        if graph is None or stored is None or not graph.is_behind(self.run.lake, stored.metadata):
            return
        with self.run.bounded_engine() as engine:
            graph.write(self.run.lake, engine, stored.metadata, self.run.outcome.run.run_id)

    def _after_upstreams(self, task: Task) -> Task:
        """The task; one that recomputes its log if what it reads of others was recomputed."""
        definition = task.definition
        if task.stored is not None and not task.from_nothing:
            name = recomputed_upstream(self.run.lake, definition, task.stored.metadata)
            if name is not None:
                what = definition.read_of(name)
                reason = f"the query {name}, whose {what} it reads, was recomputed"
                start = start_again(self.run.completion, definition, task.stored)
                task = task.rebased(reason, start or FROM_THE_FIRST)
        known = begin_of_graphs(self.run.lake, definition)
        if task.base is None or known <= task.base or not definition.axis.has_states:
            return task
        return replace(task, base=known)

    def _maintain(self, tasks: Sequence[Task]) -> None:
        """Bring tasks that share their legs to the last epoch.

        A failed read fails all of them, but not those at other epochs.
        """
        try:
            again = self._along_their_legs(tasks)
        except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
            for task in tasks:
                if task.name not in self.run.outcome.reported:
                    self.run.outcome.failed(task, error)
            return
        for at_one_epoch in groups(again):
            self._maintain(at_one_epoch)

    def _along_their_legs(self, tasks: Sequence[Task]) -> Sequence[Task]:
        """Compute and commit leg after leg; gives the tasks that have to be done from nothing."""
        course = self._course(tasks)
        if course is None:
            return []
        for leg in course.legs():
            try:
                repeated_if_lost(partial(self._commit, course, leg), self.run.progress)
            except ChangeFeedGap as gap:
                return [*self._from_nothing(course.left(), gap)]
        if course.left():
            course.finish()
        return []

    def _commit(self, course: Course, leg: Leg) -> None:
        if not course.left():
            # The task failed on an earlier leg.
            return
        with self.run.engine() as engine:
            tasks = course.open(engine, leg)
            if tasks:
                NewRows(self.run, engine, course, leg).commit(tasks)

    def _course(self, tasks: Sequence[Task]) -> Course | None:
        """How the tasks get along their axis; None if they have to wait."""
        task, *_ = tasks
        match task.definition.axis:
            case Epochs():
                return EpochCourse(self.run, tasks)
            case Instants() as axis:
                begun = StreamStart(self.run, axis).of(task)
                return None if begun is None else InstantCourse(self.run, task, *begun)
            case _:
                assert_never(task.definition.axis)

    def _from_nothing(self, tasks: Sequence[Task], gap: ChangeFeedGap) -> Iterator[Task]:
        """The tasks from nothing, as the log does not give the changes since they were computed."""
        for task in tasks:
            start = start_again(self.run.completion, task.definition, task.stored)
            assert start is not None, "it has a stored state"
            yield task.rebased(str(gap), start)
