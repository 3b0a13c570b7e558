"""Maintain a query over streams: leg after leg, one commit each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from jobs.catalog.windowing import Windowing
from jobs.compute.engine import Commit, Engine
from jobs.compute.relations import Statement, StoredTable
from jobs.compute.session import Session
from jobs.compute.sql import column, number
from jobs.engine.graph import QUADS, TRIPLES
from jobs.engine.read_graph import Thresholds
from jobs.engine.relations import BEFORE_ALL, FOREVER
from jobs.engine.windows import Window, look_back
from jobs.maintain.outcome import Outcome
from jobs.maintain.products import make_delta
from jobs.maintain.tasks import JOB, Task, commit_metadata
from jobs.progress.backlog import HORIZON, LaterStart
from jobs.progress.completion import Completion
from jobs.settings import Settings
from jobs.stage import Progress
from jobs.streams.consolidation import ConsolidatedLog, consolidated, first_unpublished
from jobs.streams.evaluation import LegInputs, leg_delta
from jobs.streams.graph_log import GraphLog
from jobs.streams.legs import Leg
from jobs.streams.reading import (
    first_complete,
    open_events,
    read_timeline,
    settled_until,
    stream_name,
)
from jobs.streams.retention import begins_within
from jobs.streams.timeline import Timeline
from jobs.streams.windows import windows_of
from lake.commit import SaveMode, arrow_schema
from lake.instants import time_at
from lake.lake import Lake
from lake.metadata import Metadata
from lake.tables import Table, stream_embeddings


@dataclass(frozen=True, slots=True)
class StreamQueries:
    """Maintains queries over streams, one after the other."""

    session: Session
    settings: Settings
    lake: Lake
    outcome: Outcome
    completion: Completion
    progress: Progress

    @property
    def last(self) -> int:
        """The newest epoch."""
        return self.completion.head

    def maintain(self, tasks: Sequence[Task]) -> None:
        """Bring the embedding tables of `tasks` to the last epoch; one may fail by itself."""
        for task in tasks:
            try:
                self._maintain(task)
            except Exception as error:  # noqa: BLE001  (recorded, and raised for all at the end)
                self.outcome.failed(task, error)

    def _maintain(self, task: Task) -> None:
        started = time.monotonic()
        log, start = _consolidated_log(task), _later_start(task)
        timeline = self._timeline(task, start)
        why = self._why_rebased(task, timeline, log)
        if why is not None:
            task = replace(task, mode="rebased", reason=why, stored=None)
            log = ConsolidatedLog()
        if task.stored is None:
            timeline = self._timeline(task, None)
            start = self._start(task, timeline)
            if start is not None:
                at = time_at(start.begins).isoformat() if start.begins < FOREVER else ""
                horizon = timeline.horizon(self.last)
                if horizon is None or horizon < start.begins:
                    self._wait(task, at)
                    return
                reason = f"{task.reason}; begins at {at}: events that it needs before were deleted"
                task = replace(task, reason=reason)
                timeline = self._timeline(task, start)
        legs = timeline.legs(task.after, self.last)
        extra = {**log.to_json(), **({} if start is None else start.to_json())}
        rows = 0
        commit: Commit | None = None
        # The epochs after the last leg change nothing.
        ends = [*(leg.last for leg in legs[:-1]), self.last]
        for leg, last in zip(legs, ends, strict=bool(legs)):
            mode: SaveMode = "append" if commit or task.stored is not None else "overwrite"
            metadata = self._metadata(task, last, leg.high, extra)
            with self._engine() as engine:
                made = self._commit(engine, task, timeline, leg, metadata, mode)
            if made is not None:
                commit = made
                rows += made.rows
                what = "corrects and continues" if leg.corrects else "continues"
                self.progress(f"{task.query.name}: epoch {last} {what}, {made.rows} rows")
        if commit is None and task.stored is None:
            commit = self._commit_nothing(task)
        if commit is None:
            self.outcome.untouched(task)
            return
        commit = self._consolidate(task, timeline, commit, log) or commit
        seconds = time.monotonic() - started
        self.outcome.committed(task, replace(commit, rows=rows), None, seconds)

    def _why_rebased(self, task: Task, timeline: Timeline, log: ConsolidatedLog) -> str | None:
        """Why a query has to be recomputed that was maintained before; None if not."""
        legs = timeline.legs(task.after, self.last)
        if any(not log.allows(leg) for leg in legs):
            return "an event is older than what is consolidated: its `lateness` was raised"
        if task.stored is None or not legs or timeline.origin is None:
            return None
        with self._engine() as engine:
            complete = first_complete(
                engine, self.lake, _windowing(task), timeline, task.after, self.last
            )
        if all(begins_within(leg, timeline.origin, complete) for leg in legs):
            return None
        return "a change is older than the events that are kept"

    def _start(self, task: Task, timeline: Timeline) -> LaterStart | None:
        """Where a query begins that is computed from nothing; None if with its streams."""
        if timeline.origin is None:
            return None
        with self._engine() as engine:
            begins = first_complete(engine, self.lake, _windowing(task), timeline, 0, self.last)
        if begins <= timeline.origin:
            return None
        published = self.completion.published(task.query.name)
        horizon = None if published is None else timeline.horizon(published.epoch)
        # The horizon of an earlier text may be a microsecond before that of this one.
        unknown_from = BEFORE_ALL if horizon is None else min(horizon, begins)
        return LaterStart(begins, unknown_from)

    def _wait(self, task: Task, at: str) -> None:
        """Leave a query that cannot begin yet."""
        until = f"until {at} is final" if at else "for more events than are there"
        why = f"{task.reason}; waits {until}: events that it needs before were deleted"
        self.progress(f"{task.query.name}: {why}")
        self.outcome.waits(task, why)

    def _timeline(self, task: Task, start: LaterStart | None) -> Timeline:
        with self._engine() as engine:
            return read_timeline(
                engine,
                self.lake,
                _windowing(task),
                reads_graph=bool(task.query.reads),
                after=task.after,
                last=self.last,
                begins=None if start is None else start.begins,
            )

    def _metadata(
        self, task: Task, last: int, horizon: int | None, extra: Mapping[str, Any]
    ) -> Metadata:
        run_id = self.outcome.run.run_id
        return commit_metadata(task, run_id, last, **{HORIZON: horizon, **extra})

    def _consolidate(
        self, task: Task, timeline: Timeline, commit: Commit, log: ConsolidatedLog
    ) -> Commit | None:
        """Replace what ended long ago by a state, if that is most of the log; None if not."""
        published = self.completion.published(task.query.name)
        until = settled_until(self.lake, _windowing(task), timeline, self.last)
        if published is None or until is None or task.stored is None:
            return None
        with self._engine() as engine:
            table, name = _table(task), f"log_{task.query.name}"
            before = engine.extent(StoredTable(name, table.name)).rows
            if before is None or not log.has_grown(before):
                return None
            engine.open(name, table.name)
            ((unpublished,),) = engine.rows(first_unpublished(name, published.epoch))
            if unpublished is not None:
                # A change that is not published is checked with all that is before it.
                until = min(until, int(str(unpublished)) - 1)
            fewer = f"consolidated_{task.query.name}"
            query = consolidated(name, task.plan.width, until, published.epoch)
            engine.make(Statement(fewer, query, "cache"))
            rows = engine.count(fewer)
            start = LaterStart.from_json(commit.metadata.extra)
            extra = ConsolidatedLog(until, rows).to_json()
            extra |= {} if start is None else start.to_json()
            horizon = commit.metadata.extra[HORIZON]
            metadata = self._metadata(task, self.last, horizon, extra)
            self.progress(f"{task.query.name}: {before:,} rows consolidated to {rows:,}")
            return engine.write(table, fewer, metadata, mode="overwrite", rows=rows)

    def _commit(
        self,
        engine: Engine,
        task: Task,
        timeline: Timeline,
        leg: Leg,
        metadata: Metadata,
        mode: SaveMode,
    ) -> Commit | None:
        """Commit the new rows of a leg; None if there are none and there is a table."""
        assert timeline.origin is not None, "there is a leg"
        windowing = _windowing(task)
        windows = windows_of(windowing)
        table = _table(task)
        stored = f"stored_{task.query.name}"
        if mode == "append":
            engine.open(stored, table.name)
        else:
            _make_empty(engine, stored, table)
        events = self._events(engine, windowing, windows, leg)
        if task.query.reads:
            _graph_log(engine, timeline, leg).on_axis(engine, leg.low, timeline.origin)
        limits = self.settings.limits
        small = max(limits.driver_rows, limits.broadcast_rows)
        thresholds = Thresholds(limits.bulk_changes, limits.neighbourhood_rows, small)
        inputs = LegInputs(events, windows, stored, thresholds)
        delta = leg_delta(engine, task.plan, leg, timeline.origin, inputs, f"q_{task.query.name}")
        make_delta(
            engine,
            delta,
            limits.product_rows,
            allow_product=task.plan.allow_product,
            file=task.query.file.name,
        )
        rows = engine.count(delta.result.name)
        if not rows and mode == "append":
            return None
        return engine.write(table, delta.result.name, metadata, mode=mode, rows=rows)

    def _events(
        self, engine: Engine, windowing: Windowing, windows: Mapping[str, Window], leg: Leg
    ) -> dict[str, str]:
        """Name the events that windows may have in a leg; by window the relation."""
        found = {}
        for number_, clause in enumerate(windowing.windows):
            back = look_back(windows[clause.name])
            where = None if back is None else column("instant") > number(leg.low - back - 1)
            found[clause.name] = open_events(
                engine,
                self.lake,
                f"events{number_}",
                stream_name(clause.stream),
                leg.last,
                where,
            )
        return found

    def _commit_nothing(self, task: Task) -> Commit:
        """Commit a table without rows: nothing is final yet."""
        with self._engine() as engine:
            table = _table(task)
            name = f"none_{task.query.name}"
            _make_empty(engine, name, table)
            metadata = self._metadata(task, self.last, None, {})
            return engine.write(table, name, metadata, mode="overwrite", rows=0)

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        engine = Engine.of(self.settings, self.lake, self.session, JOB)
        try:
            yield engine
        finally:
            engine.release()


def _windowing(task: Task) -> Windowing:
    assert task.query.windowing is not None, "a query over streams"
    return task.query.windowing


def _consolidated_log(task: Task) -> ConsolidatedLog:
    if task.stored is None:
        return ConsolidatedLog()
    return ConsolidatedLog.from_json(task.stored.metadata.extra)


def _later_start(task: Task) -> LaterStart | None:
    return None if task.stored is None else LaterStart.from_json(task.stored.metadata.extra)


def _table(task: Task) -> Table:
    return stream_embeddings(task.query.name, task.plan.width)


def _make_empty(engine: Engine, name: str, table: Table) -> None:
    """Make a relation with the columns of a table and without rows."""
    engine.load(name, arrow_schema(table).empty_table())


def _graph_log(engine: Engine, timeline: Timeline, leg: Leg) -> GraphLog:
    settled, times = timeline.graph_at(leg)
    stored, recent = {}, {}
    for name in (TRIPLES, QUADS):
        stored[name], recent[name] = f"all_{name}", f"recent_{name}"
        engine.open(stored[name], name)
        engine.open(recent[name], name, where=column("epoch") > number(settled))
    return GraphLog(stored, recent, settled, times)
