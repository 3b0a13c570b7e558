"""What the steps of a run of maintain share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa

from weir.compute.budget import Budget
from weir.compute.engine import Engine
from weir.engine.thresholds import Thresholds
from weir.lake.lake import Lake
from weir.maintain.outcome import Outcome
from weir.maintain.tasks import JOB, Task
from weir.progress.completion import Completion
from weir.progress.watermarks import IngestedEpoch, epochs_after
from weir.project import Project
from weir.settings import Limits
from weir.stage import Progress


@dataclass(frozen=True, slots=True)
class Run:
    """A run of maintain: the project, how far it is, and where outcomes and progress go.

    Attributes:
        apart: names of queries that are not computed together with others of their shape any more,
            as rows were lost when they were.
        ahead: epochs after those of the lake, whose changes are pending in the engine.
    """

    project: Project
    completion: Completion
    outcome: Outcome
    progress: Progress
    apart: set[str] = field(default_factory=set)
    ahead: Sequence[IngestedEpoch] = ()

    @property
    def lake(self) -> Lake:
        """The tables."""
        return self.completion.lake

    @property
    def last(self) -> int:
        """The newest epoch."""
        return self.ahead[-1].epoch if self.ahead else self.completion.head

    def ingested_after(self, epoch: int) -> Sequence[IngestedEpoch]:
        """The epochs after one, in order."""
        return (*epochs_after(self.lake, epoch), *self.ahead)

    @property
    def limits(self) -> Limits:
        """The limits of the project."""
        return self.project.settings.limits

    @property
    def thresholds(self) -> Thresholds:
        """When the whole graph is read."""
        return thresholds(self.limits, self.completion.quads)

    def early_rows(self, task: Task) -> pa.Table | None:
        """The new rows of a task up to the last epoch, if ingest has computed them already."""
        early, stored = self.project.early_rows.get(task.name), task.stored
        if early is None or stored is None or task.from_nothing:
            return None
        known = (early.fingerprint, early.version, early.after, early.until)
        wanted = (task.definition.fingerprint, stored.version, task.after, self.last)
        return early.rows if known == wanted else None

    def budget(self) -> Budget:
        """What one query may take."""
        return Budget(self.limits.query_seconds)

    def engine(self) -> Engine:
        """An engine, to be closed."""
        return self.project.engine(JOB, progress=self.progress)

    @contextmanager
    def bounded_engine(self) -> Iterator[Engine]:
        """An engine for one step of one query; what was committed before it stays if it is late."""
        with self.engine() as engine:
            yield engine.within(self.budget())


def thresholds(limits: Limits, quads: int) -> Thresholds:
    """When the whole graph is read, of so many quads."""
    return Thresholds(
        quads=quads,
        bulk_share=limits.bulk_share,
        bulk_quads=limits.bulk_quads,
        neighbourhood_rows=limits.neighbourhood_rows,
        small_rows=max(limits.driver_rows, limits.broadcast_rows),
    )
