"""Maintain a query over streams: leg after leg, one commit each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from jobs.catalog.windowing import Windowing
from jobs.compute.engine import Commit, Engine
from jobs.compute.placement import Extent
from jobs.compute.relations import Statement
from jobs.compute.resources import Resources
from jobs.compute.session import Session
from jobs.compute.sql import column, columns, number, rows_of, select
from jobs.engine.graph import QUADS, TRIPLES
from jobs.engine.read_graph import Thresholds
from jobs.engine.windows import EVENT, Window, look_back
from jobs.maintain.outcome import Outcome
from jobs.maintain.products import make_delta
from jobs.maintain.tasks import JOB, Task, commit_metadata
from jobs.progress.backlog import HORIZON
from jobs.progress.completion import Completion
from jobs.settings import Settings
from jobs.stage import Progress
from jobs.streams.consolidation import ConsolidatedLog, consolidated, first_unpublished
from jobs.streams.evaluation import LegInputs, leg_delta
from jobs.streams.graph_log import GraphLog
from jobs.streams.legs import Leg
from jobs.streams.reading import read_timeline, settled_until, stream_name
from jobs.streams.timeline import Timeline
from jobs.streams.windows import windows_of
from lake.commit import SaveMode, arrow_schema
from lake.lake import Lake
from lake.metadata import Metadata
from lake.tables import Table, stream, stream_embeddings


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
        with _one_database(self.settings) as settings:
            sharing = replace(self, settings=settings)
            for task in tasks:
                try:
                    sharing._maintain(task)
                except Exception as error:  # noqa: BLE001  (recorded, raised for all at the end)
                    self.outcome.failed(task, error)

    def _maintain(self, task: Task) -> None:
        started = time.monotonic()
        timeline = self._timeline(task)
        legs = timeline.legs(task.after, self.last)
        log = _consolidated_log(task)
        if any(not log.allows(leg) for leg in legs):
            reason = "an event is older than what is consolidated: its `lateness` was raised"
            task = replace(task, mode="rebased", reason=reason, stored=None)
            timeline, log = self._timeline(task), ConsolidatedLog()
            legs = timeline.legs(task.after, self.last)
        rows = 0
        commit: Commit | None = None
        # The epochs after the last leg change nothing.
        ends = [*(leg.last for leg in legs[:-1]), self.last]
        for leg, last in zip(legs, ends, strict=bool(legs)):
            mode: SaveMode = "append" if commit or task.stored is not None else "overwrite"
            metadata = self._metadata(task, last, leg.high, log)
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

    def _timeline(self, task: Task) -> Timeline:
        with self._engine() as engine:
            return read_timeline(
                engine,
                self.lake,
                _windowing(task),
                reads_graph=bool(task.query.reads),
                after=task.after,
                last=self.last,
            )

    def _metadata(
        self, task: Task, last: int, horizon: int | None, log: ConsolidatedLog
    ) -> Metadata:
        extra = {HORIZON: horizon, **log.to_json()}
        return commit_metadata(task, self.outcome.run.run_id, last, **extra)

    def _consolidate(
        self, task: Task, timeline: Timeline, commit: Commit, log: ConsolidatedLog
    ) -> Commit | None:
        """Replace what ended long ago by a state, if that is most of the log; None if not."""
        published = self.completion.published(task.query.name)
        until = settled_until(self.lake, _windowing(task), timeline, self.last)
        if published is None or until is None or task.stored is None:
            return None
        table, name = _table(task), f"log_{task.query.name}"
        before = Extent.of(self.lake.existing(table.name)).rows
        if before is None or not log.has_grown(before):
            return None
        with self._engine() as engine:
            engine.open(name, table.name)
            ((unpublished,),) = engine.rows(first_unpublished(name, published.epoch))
            if unpublished is not None:
                # A change that is not published is checked with all that is before it.
                until = min(until, int(str(unpublished)) - 1)
            fewer = f"consolidated_{task.query.name}"
            query = consolidated(name, task.plan.width, until, published.epoch)
            engine.make(Statement(fewer, query, "cache"))
            rows = engine.count(fewer)
            metadata = self._metadata(
                task, self.last, commit.metadata.extra[HORIZON], ConsolidatedLog(until, rows)
            )
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
            name = found[clause.name] = f"events{number_}"
            whole = f"{name}_stored"
            back = look_back(windows[clause.name])
            where = None if back is None else column("instant") > number(leg.low - back - 1)
            engine.open(whole, stream(stream_name(clause.stream)).name, where=where)
            known = [column("epoch") <= number(leg.last)]
            engine.make(Statement(name, select(*columns(EVENT), from_=rows_of(whole), where=known)))
        return found

    def _commit_nothing(self, task: Task) -> Commit:
        """Commit a table without rows: nothing is final yet."""
        with self._engine() as engine:
            table = _table(task)
            name = f"none_{task.query.name}"
            _make_empty(engine, name, table)
            metadata = self._metadata(task, self.last, None, ConsolidatedLog())
            return engine.write(table, name, metadata, mode="overwrite", rows=0)

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        engine = Engine.of(self.settings, self.lake, self.session, JOB)
        try:
            yield engine
        finally:
            engine.release()


@contextmanager
def _one_database(settings: Settings) -> Iterator[Settings]:
    """Settings by which all engines share one DuckDB: to start it takes as long as small work."""
    if settings.kept is not None:
        yield settings
        return
    with Resources(settings) as kept:
        yield settings.keeping(kept)


def _windowing(task: Task) -> Windowing:
    assert task.query.windowing is not None, "a query over streams"
    return task.query.windowing


def _consolidated_log(task: Task) -> ConsolidatedLog:
    if task.stored is None:
        return ConsolidatedLog()
    return ConsolidatedLog.from_json(task.stored.metadata.extra)


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
