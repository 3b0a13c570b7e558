"""Maintain one query over streams: leg after leg, one commit each; then the stream out of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import uuid4

from weir.catalog.maintained import Maintained
from weir.catalog.output_streams import upstreams_of
from weir.catalog.windowing import Windowing
from weir.compute.budget import Budget
from weir.compute.engine import Engine
from weir.compute.lost_rows import repeated_if_lost
from weir.compute.placement import Extent
from weir.compute.relations import Statement
from weir.compute.sql import columns, rows_of, select, union_all
from weir.compute.writing import Commit
from weir.engine.graph import POSITIONS
from weir.engine.relations import BEFORE_ALL, FOREVER
from weir.lake.counted import counted
from weir.lake.delta.commit import SaveMode
from weir.lake.delta.metadata import BEGUN_TO, LOG_ID, Metadata
from weir.lake.instants import instant_text
from weir.lake.lake import Lake
from weir.lake.tables import EMBEDDINGS, TRIPLES
from weir.lake.upkeep.consolidated import consolidated_until
from weir.maintain.emitted_streams import OutputStream
from weir.maintain.leg_commit import (
    commit_leg,
    make_empty,
    name_events,
    table_of,
    windowing_of,
)
from weir.maintain.outcome import Outcome
from weir.maintain.tasks import JOB, Task, commit_metadata
from weir.maintain.unmatched import Place, unmatched
from weir.progress.backlog import HORIZON, LaterStart
from weir.progress.completion import Completion
from weir.project import Project
from weir.stage import Progress
from weir.streams.completeness import first_complete, settled_until
from weir.streams.consolidation import ConsolidatedLog, consolidated, first_unpublished
from weir.streams.legs import Leg
from weir.streams.reading import read_timeline
from weir.streams.retention import begins_within
from weir.streams.stream_names import stream_name
from weir.streams.timeline import Timeline

UPSTREAMS = "upstreams"
"""What the metadata of embeddings has: the logs of the queries that it reads, by query."""


@dataclass(frozen=True, slots=True)
class StreamQuery:
    """Maintains queries over streams whose upstreams are complete."""

    project: Project
    outcome: Outcome
    completion: Completion
    progress: Progress
    _log_ids: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    """The ids of the logs of embeddings that this run began, by query."""

    @property
    def lake(self) -> Lake:
        """The lake of the project."""
        return self.project.lake

    @property
    def last(self) -> int:
        """The newest epoch."""
        return self.completion.head

    def maintain(self, task: Task) -> bool:
        """Maintain a query; whether that could be done, because it need not wait."""
        started = time.monotonic()
        log, start = _consolidated_log(task), _later_start(task)
        timeline = self._timeline(task, start)
        why = self._why_rebased(task, timeline, log)
        if why is not None:
            task = task.from_the_first_instant(why)
            log = ConsolidatedLog()
        if task.stored is None:
            timeline = self._timeline(task, None)
            start = self._start(task, timeline)
            if start is not None:
                at = instant_text(start.begins) if start.begins < FOREVER else ""
                horizon = timeline.horizon(self.last)
                if horizon is None or horizon < start.begins:
                    self._wait(task, at)
                    return False
                reason = f"{task.reason}; begins at {at}: older data that it needs were deleted"
                task = replace(task, reason=reason)
                timeline = self._timeline(task, start)
        legs = timeline.legs(task.after, self.last)
        if legs and _is_first_leg(task):
            repeated_if_lost(partial(self._warn_of_unmatched, task, timeline), self.progress)
        extra = {**log.to_json(), **({} if start is None else start.to_json())}
        rows = 0
        commit: Commit | None = None
        # The epochs after the last leg change nothing.
        ends = [*(leg.last for leg in legs[:-1]), self.last]
        for leg, last in zip(legs, ends, strict=bool(legs)):
            mode: SaveMode = "append" if commit or task.stored is not None else "overwrite"
            metadata = self._metadata(task, last, leg.high, extra)
            # What a run begins to commit it completes: a log must not end before what is published.
            is_begun = commit is not None or _is_begun(task)
            even_empty = is_begun and last == self.last
            commit_rows = partial(
                self._commit_leg, task, timeline, leg, metadata, mode, even_empty=even_empty
            )
            made = repeated_if_lost(commit_rows, self.progress)
            if made is not None:
                commit = made
                rows += made.rows
                what = "corrects and continues" if leg.corrects else "continues"
                self.progress(
                    f"{task.query.name}: epoch {last} {what}, {counted(made.rows, 'row')}"
                )
        if commit is None and task.stored is None:
            commit = self._commit_nothing(task)
        self._emit(task, timeline, commit)
        if commit is None:
            self.outcome.untouched(task)
            return True
        commit = self._consolidate(task, commit, log) or commit
        seconds = time.monotonic() - started
        self.outcome.committed(task, replace(commit, rows=rows), None, seconds)
        return True

    def _warn_of_unmatched(self, task: Task, timeline: Timeline) -> None:
        query = task.query
        # Not within the time of the query: what is said of it must not end it.
        with self.project.engine(JOB) as engine:
            windowing = windowing_of(task)
            sought = {frozenset[str](), *(windows for windows, _ in query.patterns)}
            sought |= {frozenset([clause.name]) for clause in windowing.windows}
            places = self._places(engine, windowing, timeline, sorted(sought, key=sorted))
            patterns = [(places[at], shape) for at, shape in query.patterns if at in places]
            for name, what in unmatched(engine, {query.name: patterns}, [*places.values()]):
                self.outcome.warn(name, what, self.progress)

    def _places(
        self,
        engine: Engine,
        windowing: Windowing,
        timeline: Timeline,
        sought: Sequence[frozenset[str]],
    ) -> dict[frozenset[str], Place]:
        """Where triples are looked for, by the windows that may have them; without, the graph."""
        streams = {clause.name: stream_name(clause.stream) for clause in windowing.windows}
        assert timeline.origin is not None, "there is a leg"
        events = name_events(engine, self.lake, windowing, self.last, timeline.origin)
        places: dict[frozenset[str], Place] = {}
        for windows in sought:
            if not windows:
                if self.lake.exists(TRIPLES.name):
                    engine.open(TRIPLES.name, TRIPLES.name)
                    places[windows] = Place(TRIPLES.name)
                continue
            relation = f"sought{len(places)}"
            parts = [
                select(*columns(POSITIONS), from_=rows_of(events[name])) for name in sorted(windows)
            ]
            engine.make(Statement(relation, union_all(parts)))
            names = sorted({streams[window] for window in windows})
            kind = "stream" if len(names) == 1 else "streams"
            places[windows] = Place(relation, relation, f"the {kind} {', '.join(names)}")
        return places

    def _why_rebased(self, task: Task, timeline: Timeline, log: ConsolidatedLog) -> str | None:
        """Why a query has to be recomputed that was maintained before; None if not."""
        legs = timeline.legs(task.after, self.last)
        if any(not log.allows(leg) for leg in legs):
            return "an event is older than what is consolidated: a `lateness` was raised"
        if self._must_emit_again(task, log):
            return "its stream is to be emitted from the beginning, and the log is consolidated"
        if task.stored is None or not legs or timeline.origin is None:
            return None
        with self._engine() as engine:
            complete = first_complete(
                engine, self.lake, windowing_of(task), timeline, task.after, self.last
            )
        if all(begins_within(leg, timeline.origin, complete) for leg in legs):
            return None
        return "a change is older than the events that are kept"

    def _start(self, task: Task, timeline: Timeline) -> LaterStart | None:
        """Where a query begins that is computed from nothing; None if with its streams."""
        if timeline.origin is None:
            return None
        with self._engine() as engine:
            begins = first_complete(engine, self.lake, windowing_of(task), timeline, 0, self.last)
        if task.query.reads:
            begins = max(begins, self._graph_begins(task, timeline))
        if begins <= timeline.origin:
            return None
        published = self.completion.published(task.query.name)
        horizon = None if published is None else timeline.horizon(published.epoch)
        # The horizon of an earlier text may be a microsecond before that of this one.
        unknown_from = BEFORE_ALL if horizon is None else min(horizon, begins)
        return LaterStart(begins, unknown_from)

    def _graph_begins(self, task: Task, timeline: Timeline) -> int:
        """The first instant at which the graph's log has all that holds."""
        until = max(consolidated_until(self.lake, log) for log in task.query.reads)
        held = [instant for epoch, instant in timeline.graph_times if epoch <= until]
        return max(held, default=BEFORE_ALL)

    def _wait(self, task: Task, at: str) -> None:
        """Leave a query that cannot begin yet."""
        until = f"until the streams reach {at}" if at else "until more events arrive"
        why = f"{task.reason}; older data that it needs were deleted; waits {until}"
        self.progress(f"{task.query.name}: {why}")
        self.outcome.waits(task, why)

    def _timeline(self, task: Task, start: LaterStart | None) -> Timeline:
        with self._engine() as engine:
            return read_timeline(
                engine,
                self.lake,
                windowing_of(task),
                reads_graph=bool(task.query.reads),
                after=task.after,
                last=self.last,
                begins=None if start is None else start.begins,
            )

    def _must_emit_again(self, task: Task, log: ConsolidatedLog) -> bool:
        """Whether there is no table of elements that the consolidated log could continue."""
        output = OutputStream.of(task.query)
        if output is None or log.until is None:
            return False
        return not output.complete_to(self.lake, log_of(self.lake, task.query.name))

    def _emit(self, task: Task, timeline: Timeline, commit: Commit | None) -> None:
        """Append to the stream out of a query what follows from its new rows, or from closes."""
        output = OutputStream.of(task.query)
        if output is None:
            return
        last = self.lake.last_metadata(EMBEDDINGS.name(task.query.name), job=JOB)
        assert last is not None, "it was maintained"
        _, maintained = last
        emission = output.emission(self.lake, timeline, maintained, self.last)
        reports = emission.operator == "rstream" and emission.has_closes
        if commit is None and not reports and not output.is_behind(self.lake, maintained):
            return
        extra = {LOG_ID: maintained.extra[LOG_ID]}
        metadata = commit_metadata(task, self.outcome.run.run_id, self.last, **extra)
        with self._engine() as engine:
            made = output.emit(
                engine, emission, metadata, self.project.settings.limits.rstream_rows
            )
        self.progress(f"{task.query.name}: its stream has {made.rows} new elements")

    def _metadata(
        self, task: Task, last: int, horizon: int | None, extra: Mapping[str, Any]
    ) -> Metadata:
        if task.stored is None:
            log_id = self._log_ids.setdefault(task.query.name, uuid4().hex)
            begun_to = self.last
        else:
            stored = task.stored.metadata.extra
            log_id, begun_to = stored.get(LOG_ID, ""), stored.get(BEGUN_TO, 0)
        all_extra = {HORIZON: horizon, LOG_ID: log_id, BEGUN_TO: begun_to, **extra}
        upstreams = logs_of_upstreams(self.lake, task.query)
        if upstreams:
            all_extra[UPSTREAMS] = upstreams
        return commit_metadata(task, self.outcome.run.run_id, last, **all_extra)

    def _consolidate(self, task: Task, commit: Commit, log: ConsolidatedLog) -> Commit | None:
        """Replace what ended long ago by a state, if that is most of the log; None if not."""
        published = self.completion.published(task.query.name)
        table, name = table_of(task), f"log_{task.query.name}"
        before = Extent.of(self.lake.existing(table.name)).rows
        if published is None or task.stored is None or before is None or not log.has_grown(before):
            return None
        until = settled_until(self.lake, windowing_of(task), self.last)
        if until is None:
            return None
        with self._engine() as engine:
            engine.open(name, table.name)
            ((unpublished,),) = engine.rows(first_unpublished(name, published.epoch))
            if unpublished is not None:
                # A change that is not published is checked with all that is before it.
                until = min(until, int(str(unpublished)) - 1)
            if log.until is not None and until <= log.until:
                # After `lateness` was raised, less is settled than is consolidated already.
                return None
            fewer = f"consolidated_{task.query.name}"
            query = consolidated(name, task.query.width, until, published.epoch)
            engine.make(Statement(fewer, query, "cache"))
            rows = engine.count(fewer)
            start = LaterStart.from_json(commit.metadata.extra)
            extra = ConsolidatedLog(until, rows).to_json()
            extra |= {} if start is None else start.to_json()
            horizon = commit.metadata.extra[HORIZON]
            metadata = self._metadata(task, self.last, horizon, extra)
            self.progress(f"{task.query.name}: {counted(before, 'row')} consolidated to {rows:,}")
            return engine.write(table, fewer, metadata, mode="overwrite", rows=rows)

    def _commit_nothing(self, task: Task) -> Commit:
        """Commit a table without rows: nothing is final yet."""
        with self._engine() as engine:
            table = table_of(task)
            name = f"none_{task.query.name}"
            make_empty(engine, name, table)
            metadata = self._metadata(task, self.last, None, {})
            return engine.write(table, name, metadata, mode="overwrite", rows=0)

    def _commit_leg(
        self,
        task: Task,
        timeline: Timeline,
        leg: Leg,
        metadata: Metadata,
        mode: SaveMode,
        *,
        even_empty: bool,
    ) -> Commit | None:
        limits = self.project.settings.limits
        with self._engine() as engine:
            return commit_leg(
                engine,
                self.lake,
                limits,
                task,
                timeline,
                leg,
                metadata,
                mode,
                even_empty=even_empty,
            )

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        """An engine for one step; what was committed before it stays if it takes too long."""
        with self.project.engine(JOB) as engine:
            yield engine.within(Budget(self.project.settings.limits.query_seconds))


def _is_first_leg(task: Task) -> bool:
    """Whether the next leg is the first of a new text: until then, a table has no rows."""
    if task.stored is None:
        return task.is_new
    return task.stored.metadata.extra.get(HORIZON) is None


def logs_of_upstreams(lake: Lake, query: Maintained) -> dict[str, str]:
    """The queries whose streams a query reads, with the ids of their logs."""
    return {upstream.query: log_of(lake, upstream.query) for upstream in upstreams_of(query)}


def log_of(lake: Lake, query: str) -> str:
    """The id of the log of embeddings of a query over streams."""
    last = lake.last_metadata(EMBEDDINGS.name(query), job=JOB)
    return "" if last is None else last[1].extra.get(LOG_ID, "")


def _is_begun(task: Task) -> bool:
    """Whether the log has begun by a run that did not reach its last epoch."""
    if task.stored is None:
        return False
    return task.after < int(task.stored.metadata.extra.get(BEGUN_TO, 0))


def _consolidated_log(task: Task) -> ConsolidatedLog:
    if task.stored is None:
        return ConsolidatedLog()
    return ConsolidatedLog.from_json(task.stored.metadata.extra)


def _later_start(task: Task) -> LaterStart | None:
    return None if task.stored is None else LaterStart.from_json(task.stored.metadata.extra)
