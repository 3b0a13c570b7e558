"""A dry run of maintain: the new rows of epochs that are not committed, by the same code.

What is not committed of a table is *pending*: a relation of rows, which the engine adds to all that
it reads of the table. First these are changes of the graph. A definition that gives a derived graph
adds the triples that it would have more, before the next level is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from weir.compute.engine import Engine
from weir.compute.relations import Statement
from weir.definitions.definition import Definition
from weir.definitions.upstreams import levels
from weir.maintain.derived_graphs import DerivedGraph
from weir.maintain.epoch_course import EpochCourse
from weir.maintain.new_rows import NewRows
from weir.maintain.outcome import MaintainResult, Outcome
from weir.maintain.run import Run
from weir.maintain.tasks import JOB, Task, task_at_rest
from weir.progress.completion import Completion
from weir.progress.watermarks import IngestedEpoch
from weir.project import Project
from weir.stage import Claim, silent

Receive = Callable[[Task, Engine, str], None]
"""Receives a task, and the relation of its new rows, which is there until it returns."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """Computes what maintain would store after some epochs; nothing is committed or recorded."""

    run: Run

    @classmethod
    def of(cls, project: Project, completion: Completion, ahead: Sequence[IngestedEpoch]) -> Self:
        """That of the epochs `ahead`, which follow those of the lake."""
        now, limits = datetime.now(UTC), project.settings.limits.of_queries
        result = MaintainResult(ahead[-1].epoch)
        outcome = Outcome(Claim("dry run", JOB, 0), result, limits, {}, now)
        return cls(Run(project, completion, outcome, silent, ahead=ahead))

    def new_rows(
        self,
        engine: Engine,
        definitions: Sequence[Definition],
        pending: Mapping[str, str],
        receive: Receive,
    ) -> None:
        """Compute the new rows of those definitions that may have any.

        Args:
            engine: knows the relations that are pending.
            definitions: all at the newest epoch of the lake, with those whose graphs they read.
            pending: by table, the relation of the rows of the epochs.
            receive: what is done with them.

        Raises:
            WeirError: a definition exceeds a limit.
        """
        more = {**pending}
        with engine.scope() as whole:
            for level in levels(definitions):
                with whole.with_pending(more).scope() as own:
                    course = EpochCourse(self.run, [self._task(one) for one in level])
                    (leg,) = course.legs()
                    new = NewRows(self.run, own, course, leg)
                    for task in course.open(own, leg):
                        bounded = own.within(self.run.budget())
                        rows = new.make(task, bounded, is_read_again=True).name
                        receive(task, own, rows)
                        if (graph := DerivedGraph.of(task.definition)) is not None:
                            triples = f"pending_triples_of_{task.name}"
                            whole.make(Statement(triples, graph.log(rows), "cache"))
                            more[graph.table.name] = triples

    def _task(self, definition: Definition) -> Task:
        if self.run.completion.head:
            return task_at_rest(self.run.completion, definition)
        # Not as new: that a graph lacks terms is said by the run that follows.
        return Task.from_nothing_at(definition, "rebased", "", 0, None)
