"""Definitions computed from nothing by the newest graph and streams, into tables of this process.

It is what a run of maintain does for a definition that is new or edited, by the same code, without
a claim and without a row in the ledger.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from weir.definitions.definition import Definition
from weir.errors import ConfigurationError
from weir.lake.lake import Lake
from weir.lake.ledger.runs import FAILED, SKIPPED
from weir.lake.scratch import scratch_folder
from weir.lake.tables import DERIVED, EMBEDDINGS, OUTPUT_STREAMS
from weir.maintain.maintenance import Maintenance
from weir.maintain.outcome import MaintainResult, Outcome
from weir.maintain.run import Run
from weir.maintain.tasks import JOB, Task
from weir.progress.completion import Completion
from weir.progress.watermarks import Watermark, head, require_graph
from weir.project import Project
from weir.review.own_tables import ReviewLake
from weir.stage import Claim, Progress

_RUN_ID = "review"


@dataclass(frozen=True, slots=True)
class Computed:
    """The rows of some definitions, in tables that are there until the block ends.

    Attributes:
        project: whose lake has the tables.
        completion: of the lake that was read.
        errors: why definitions could not be computed, or wait for events, by name.
        warnings: what is to be known of those that could.
    """

    project: Project
    completion: Completion
    errors: dict[str, str]
    warnings: Sequence[str]

    @property
    def lake(self) -> Lake:
        """The lake with the tables."""
        return self.project.lake

    def stored(self, name: str) -> Watermark:
        """How far the table of a definition that has no error is complete."""
        last = self.lake.last_metadata(EMBEDDINGS.name(name), job=JOB)
        assert last is not None, "it was computed"
        version, metadata = last
        snapshot = self.lake.version(EMBEDDINGS.name(name))
        return Watermark(metadata.watermark, version, metadata, snapshot or version)


def newest_epoch(lake: Lake) -> int:
    """The epoch that is reviewed.

    Raises:
        ConfigurationError: nothing was ingested yet.
        DamagedTable: a table of the graph is gone.
    """
    require_graph(lake)
    epoch = head(lake)
    if not epoch:
        raise ConfigurationError("nothing is ingested yet", lake.root, "Run `weir ingest` first.")
    return epoch


@contextmanager
def computed(
    project: Project,
    definitions: Sequence[Definition],
    progress: Progress,
    *,
    every_epoch: bool = False,
) -> Iterator[Computed]:
    """Compute definitions, each from nothing; those of the lake with their names do not matter.

    Args:
        project: whose lake is read, and has an epoch.
        definitions: with different names.
        progress: receives a line per step.
        every_epoch: whether the rows begin at the first epoch, and not as the state at the newest.
    """
    read = project.open_lake()
    folder = Path(tempfile.mkdtemp(dir=scratch_folder()))
    names = [
        family.name(one.name)
        for one in definitions
        for family in (EMBEDDINGS, OUTPUT_STREAMS, DERIVED)
    ]
    # An index belongs to the tables of the lake, and a run may be writing it.
    settings = project.settings.model_copy(update={"index": "off"})
    lake = ReviewLake(read, folder, names)
    try:
        with Project(settings, lake=lake, session=project.session) as own:
            yield _maintained(own, definitions, progress, every_epoch=every_epoch)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _maintained(
    project: Project, definitions: Sequence[Definition], progress: Progress, *, every_epoch: bool
) -> Computed:
    completion = Completion.read(project.lake)
    claim = Claim(_RUN_ID, JOB, 0)
    result = MaintainResult(completion.head)
    limits = project.settings.limits.of_queries
    outcome = Outcome(claim, result, limits, {}, datetime.now(UTC))
    run = Run(project, completion, outcome, progress)
    tasks = {one.name: _task(one, completion.head, every_epoch=every_epoch) for one in definitions}
    Maintenance(run, tasks, ()).maintain(definitions)
    errors = {
        row.query: (row.reason or "").removeprefix(f"{row.query}: ")
        for row in claim.rows
        if row.query is not None and (row.status == FAILED or row.mode == SKIPPED)
    }
    return Computed(project, completion, errors, result.warnings)


def _task(definition: Definition, head: int, *, every_epoch: bool) -> Task:
    task = Task.from_nothing_at(definition, "initial", "it is reviewed", head, None)
    if every_epoch or definition.has_full_history:
        return replace(task, base=0)
    return task
