"""A definition that reads streams: leg after leg, a commit each; then the stream out of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from weir.compute.engine import Engine
from weir.compute.placement import Extent
from weir.compute.relations import Keep, Statement
from weir.compute.writing import Commit
from weir.lake.counted import counted
from weir.lake.delta.commit import arrow_schema
from weir.lake.delta.metadata import BEGUN_TO, LOG_ID, Metadata
from weir.maintain.emitted_streams import OutputStream
from weir.maintain.logs import UPSTREAMS, logs_of_upstreams
from weir.maintain.run import Run
from weir.maintain.stream_start import Beginning
from weir.maintain.tasks import JOB, CommitForm, Task, commit_metadata
from weir.progress.backlog import HORIZON, LaterStart
from weir.timeline.axis import Instants
from weir.timeline.completeness import settled_until
from weir.timeline.consolidation import ConsolidatedLog, consolidated, first_unpublished
from weir.timeline.evaluation import InstantInputs
from weir.timeline.legs import Leg
from weir.timeline.reading import open_graph_log, open_windows
from weir.timeline.windows import windows_of


@dataclass(slots=True)
class InstantCourse:
    """A task over streams, and how far it is.

    Attributes:
        run: of maintain.
        given: the task as it was found, which is what fails.
        task: as it is done: maybe from nothing.
        beginning: its timeline, and where its log begins.
        commit: the newest of this run; None if there is none yet.
        rows: that this run committed.
        keep: how relations as large as those of the leg are stored.
    """

    run: Run
    given: Task
    task: Task
    beginning: Beginning
    commit: Commit | None = None
    rows: int = 0
    keep: Keep = "small"
    _log_id: str = field(default_factory=lambda: uuid4().hex)
    _started: float = field(default_factory=time.monotonic)
    _legs: Sequence[Leg] = field(init=False)

    def __post_init__(self) -> None:
        self._legs = self.beginning.timeline.legs(self.task.after, self.run.last)

    @property
    def _axis(self) -> Instants:
        return self.beginning.axis

    def left(self) -> Sequence[Task]:
        """The task as it was found, if it is not reported yet."""
        return [] if self.task.name in self.run.outcome.reported else [self.given]

    def legs(self) -> Sequence[Leg]:
        """The parts of its range of epochs that are evaluated one after the other."""
        return self._legs

    def open(self, _: Engine, __: Leg) -> Sequence[Task]:
        """The one task. Nothing is opened here: what a leg reads is opened by `inputs`."""
        return [self.given]

    def open_stored(self, engine: Engine, task: Task, name: str) -> None:
        """Name the log, which a leg may correct; an empty one before the first commit."""
        if self._goes_on:
            engine.open(name, task.table.name)
        else:
            engine.load(name, arrow_schema(task.table).empty_table())

    def inputs(self, engine: Engine, leg: Leg, stored: str, prefix: str) -> InstantInputs:
        """The inputs of the engine on a leg: the events in its windows, the graph by instant."""
        timeline, lake, axis = self.beginning.timeline, self.run.lake, self._axis
        assert timeline.origin is not None, "there is a leg"
        events = open_windows(engine, lake, axis, leg.last, leg.low)
        logs, graph = self.task.definition.logs, None
        if logs:
            graph = open_graph_log(engine, lake, logs, *timeline.graph_at(leg))
        return InstantInputs(
            engine=engine,
            leg=leg,
            origin=timeline.origin,
            events=events,
            windows=windows_of(axis),
            stored=stored,
            prefix=prefix,
            thresholds=self.run.thresholds,
            graph=graph,
            starts=timeline.starts,
            product_rows=self.run.limits.product_rows,
        )

    def form(self, leg: Leg, _: Task) -> CommitForm:
        """How a leg is committed: the first leg of a log replaces the table, each later one is
        appended.
        """
        # The epochs after the last leg change nothing.
        last = self.run.last if leg == self._legs[-1] else leg.last
        metadata = self._metadata(last, leg.high, self.beginning.to_json())
        # What a run begins to commit it completes: a log must not end before what is published.
        has_begun = self.commit is not None or self._is_begun
        if not self._goes_on:
            return CommitForm(metadata, "overwrite", even_empty=True)
        return CommitForm(metadata, "append", has_begun and last == self.run.last)

    @property
    def _is_begun(self) -> bool:
        """Whether the log was begun by a run that did not reach its last epoch."""
        stored = self.task.stored
        return stored is not None and stored.epoch < int(stored.metadata.extra.get(BEGUN_TO, 0))

    @property
    def _goes_on(self) -> bool:
        """Whether there is a log that the next leg continues."""
        return self.commit is not None or self.task.stored is not None

    def committed(self, leg: Leg, task: Task, commit: Commit, _: float) -> None:
        """Note that the new rows of a leg are committed; the task is reported by `finish`."""
        self.commit = commit
        self.rows += commit.rows
        what = "corrects and continues" if leg.corrects else "continues"
        epoch = commit.metadata.watermark
        self.run.progress(f"{task.name}: epoch {epoch} {what}, {counted(commit.rows, 'row')}")

    def unchanged(self, task: Task) -> None:
        """Does nothing: the task is reported by `finish`."""

    def finish(self) -> None:
        """Emit what follows, leave out what ended long ago, and report the task."""
        if self.commit is None and self.task.stored is None:
            self.commit = self._commit_nothing()
        self._emit()
        if self.commit is None:
            self.run.outcome.untouched(self.task)
            return
        commit = self._consolidate(self.commit) or self.commit
        seconds = time.monotonic() - self._started
        self.run.outcome.committed(self.task, replace(commit, rows=self.rows), None, seconds)

    def _commit_nothing(self) -> Commit:
        """Commit a table without rows: nothing is final yet."""
        task = self.task
        with self.run.bounded_engine() as engine:
            name = f"none_{task.name}"
            engine.load(name, arrow_schema(task.table).empty_table())
            metadata = self._metadata(self.run.last, None, {})
            return engine.write(task.table, name, metadata, mode="overwrite", rows=0)

    def _emit(self) -> None:
        """Append to the stream out of the task what follows from its new rows, or from closes."""
        task, run = self.task, self.run
        output = OutputStream.of(task.definition)
        if output is None:
            return
        last = run.lake.last_metadata(task.table.name, job=JOB)
        assert last is not None, "it was maintained"
        _, maintained = last
        emission = output.emission(run.lake, self.beginning.timeline, maintained, run.last)
        reports = emission.operator == "rstream" and emission.has_closes
        if self.commit is None and not reports and not output.is_behind(run.lake, maintained):
            return
        extra = {LOG_ID: maintained.extra[LOG_ID]}
        metadata = commit_metadata(task, run.outcome.run.run_id, run.last, **extra)
        with run.bounded_engine() as engine:
            made = output.emit(engine, emission, metadata, run.limits.rstream_rows)
        run.progress(f"{task.name}: its stream has {made.rows} new elements")

    def _metadata(self, last: int, horizon: int | None, extra: dict[str, Any]) -> Metadata:
        task = self.task
        if task.stored is None:
            log_id, begun_to = self._log_id, self.run.last
        else:
            stored = task.stored.metadata.extra
            log_id, begun_to = stored.get(LOG_ID, ""), stored.get(BEGUN_TO, 0)
        all_extra = {HORIZON: horizon, LOG_ID: log_id, BEGUN_TO: begun_to, **extra}
        upstreams = logs_of_upstreams(self.run.lake, task.definition)
        if upstreams:
            all_extra[UPSTREAMS] = upstreams
        return commit_metadata(task, self.run.outcome.run.run_id, last, **all_extra)

    def _consolidate(self, commit: Commit) -> Commit | None:
        """Replace what ended long ago by a state, if that is most of the log; None if not."""
        task, run, log = self.task, self.run, self.beginning.log
        published = run.completion.published(task.name)
        table, name = task.table, f"log_{task.name}"
        before = Extent.of(run.lake.existing(table.name)).rows
        if published is None or task.stored is None or before is None or not log.has_grown(before):
            return None
        until = settled_until(run.lake, self._axis, run.last)
        if until is None:
            return None
        with run.bounded_engine() as engine:
            engine.open(name, table.name)
            ((unpublished,),) = engine.rows(first_unpublished(name, published.epoch))
            if unpublished is not None:
                # A change that is not published is checked with all that is before it.
                until = min(until, int(str(unpublished)) - 1)
            if log.until is not None and until <= log.until:
                # After `lateness` was raised, less is settled than is consolidated already.
                return None
            fewer = f"consolidated_{task.name}"
            query = consolidated(name, task.definition.width, until, published.epoch)
            engine.make(Statement(fewer, query, "cache"))
            rows = engine.count(fewer)
            start = LaterStart.from_json(commit.metadata.extra)
            extra = ConsolidatedLog(until, rows).to_json()
            extra |= {} if start is None else start.to_json()
            horizon = commit.metadata.extra[HORIZON]
            metadata = self._metadata(run.last, horizon, extra)
            run.progress(f"{task.name}: {counted(before, 'row')} consolidated to {rows:,}")
            return engine.write(table, fewer, metadata, mode="overwrite", rows=rows)
