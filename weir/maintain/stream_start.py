"""Where the log of a definition that reads streams begins or goes on: timeline, recomputation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import itemgetter
from typing import Any

from sqlglot import exp

from weir.compute.engine import Engine
from weir.compute.lost_rows import repeated_if_lost
from weir.compute.relations import Statement
from weir.compute.sql import columns, rows_of, select, union_all
from weir.engine.graph import POSITIONS, log_relation
from weir.engine.relations import BEFORE_ALL, FOREVER
from weir.lake.instants import instant_text
from weir.lake.tables import QUADS, TRIPLES
from weir.maintain.emitted_streams import OutputStream
from weir.maintain.logs import log_of
from weir.maintain.run import Run
from weir.maintain.tasks import FROM_THE_FIRST, Task
from weir.maintain.unmatched import Place, unmatched
from weir.progress.backlog import HORIZON, LaterStart
from weir.timeline.axis import Instants
from weir.timeline.completeness import first_complete
from weir.timeline.consolidation import ConsolidatedLog
from weir.timeline.reading import known_from, open_windows, read_timeline
from weir.timeline.retention import begins_within
from weir.timeline.stream_names import stream_name
from weir.timeline.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Beginning:
    """The timeline of a task, and what every commit of its log records of where that begins.

    Attributes:
        axis: of the definition.
        timeline: up to the newest epoch.
        start: where the log begins, if not with its streams.
        log: what is known of its last consolidation.
    """

    axis: Instants
    timeline: Timeline
    start: LaterStart | None = None
    log: ConsolidatedLog = field(default_factory=ConsolidatedLog)

    def to_json(self) -> dict[str, Any]:
        """The fields for the metadata of every commit."""
        return {**self.log.to_json(), **({} if self.start is None else self.start.to_json())}


@dataclass(frozen=True, slots=True)
class StreamStart:
    """Finds where tasks over streams begin.

    run: of maintain. axis: of the definition.
    """

    run: Run
    axis: Instants

    def of(self, task: Task) -> tuple[Task, Beginning] | None:
        """The task as it is to be done, and where its log begins; None if it has to wait."""
        recorded = {} if task.stored is None else task.stored.metadata.extra
        log, start = ConsolidatedLog.from_json(recorded), LaterStart.from_json(recorded)
        timeline = self._timeline(task, start)
        why = self._why_rebased(task, timeline, log)
        if why is not None:
            task, log = task.rebased(why, FROM_THE_FIRST), ConsolidatedLog()
        if task.stored is None:
            timeline = self._timeline(task, None)
            start, why = self._start(task, timeline)
            if start is not None:
                at = instant_text(start.begins) if start.begins < FOREVER else ""
                horizon = timeline.horizon(self.run.last)
                if horizon is None or horizon < start.begins:
                    self._wait(task, at, why)
                    return None
                task = replace(task, reason=f"{task.reason}; begins at {at}: {why}")
                timeline = self._timeline(task, start)
        # Until the first leg of a new text, a table has no rows.
        is_first = task.is_new if task.stored is None else recorded.get(HORIZON) is None
        if is_first and timeline.legs(task.after, self.run.last):
            warn = partial(self._warn_of_unmatched, task, timeline)
            repeated_if_lost(warn, self.run.progress)
        return task, Beginning(self.axis, timeline, start, log)

    def _timeline(self, task: Task, start: LaterStart | None) -> Timeline:
        with self.run.bounded_engine() as engine:
            return read_timeline(
                engine,
                self.run.lake,
                self.axis,
                reads_graph=bool(task.definition.logs),
                after=task.after,
                last=self.run.last,
                begins=None if start is None else start.begins,
            )

    def _why_rebased(self, task: Task, timeline: Timeline, log: ConsolidatedLog) -> str | None:
        """Why a definition has to be recomputed that was maintained before; None if not."""
        legs = timeline.legs(task.after, self.run.last)
        if any(not log.allows(leg) for leg in legs):
            return "an event is older than what is consolidated: a `lateness` was raised"
        if self._must_emit_again(task, log):
            return "its stream is to be emitted from the beginning, and the log is consolidated"
        if task.stored is None or not legs or timeline.origin is None:
            return None
        complete = self._first_complete(timeline, task.after)
        if all(begins_within(leg, timeline.origin, complete) for leg in legs):
            return None
        return "a change is older than the events that are kept"

    def _first_complete(self, timeline: Timeline, after: int) -> int:
        run = self.run
        with run.bounded_engine() as engine:
            return first_complete(engine, run.lake, self.axis, timeline, after, run.last)

    def _must_emit_again(self, task: Task, log: ConsolidatedLog) -> bool:
        """Whether there is no table of elements that the consolidated log could continue."""
        output = OutputStream.of(task.definition)
        if output is None or log.until is None:
            return False
        return not output.complete_to(self.run.lake, log_of(self.run.lake, task.name))

    def _start(self, task: Task, timeline: Timeline) -> tuple[LaterStart | None, str]:
        """Where one begins that is computed from nothing, and why; None if with its streams."""
        if timeline.origin is None:
            return None, ""
        begins, why = self._first_complete(timeline, 0), "older data that it needs were deleted"
        if task.definition.logs:
            known = self._graph_begins(task, timeline), "the graph that it reads is known from then"
            begins, why = max((begins, why), known, key=itemgetter(0))
        if begins <= timeline.origin:
            return None, ""
        published = self.run.completion.published(task.name)
        horizon = None if published is None else timeline.horizon(published.epoch)
        # The horizon of an earlier text may be a microsecond before that of this one.
        unknown_from = BEFORE_ALL if horizon is None else min(horizon, begins)
        return LaterStart(begins, unknown_from), why

    def _graph_begins(self, task: Task, timeline: Timeline) -> int:
        """The first instant at which the logs of the graph have all that holds."""
        until = max(known_from(self.run.lake, log) for log in task.definition.logs)
        held = [instant for epoch, instant in timeline.graph_times if epoch <= until]
        return max(held, default=BEFORE_ALL)

    def _wait(self, task: Task, at: str, why: str) -> None:
        """Leave a definition that cannot begin yet."""
        until = f"until the streams reach {at}" if at else "until more events arrive"
        reason = f"{task.reason}; {why}; waits {until}"
        self.run.progress(f"{task.name}: {reason}")
        self.run.outcome.waits(task, reason)

    def _warn_of_unmatched(self, task: Task, timeline: Timeline) -> None:
        """Say what the definition names and no triple has where it looks."""
        definition, run = task.definition, self.run
        # Not within the time of the query: what is said of it must not end it.
        with run.engine() as engine:
            sought = {frozenset[str](), *(windows for windows, _ in definition.patterns)}
            sought |= {frozenset([clause.name]) for clause in self.axis.windows}
            tables = (TRIPLES.name, *(table for table in definition.logs if table != QUADS.name))
            places = self._places(engine, timeline, sorted(sought, key=sorted), tables)
            patterns = [(places[at], shape) for at, shape in definition.patterns if at in places]
            for name, what in unmatched(engine, {task.name: patterns}, [*places.values()]):
                run.outcome.warn(name, what, run.progress)

    def _places(
        self,
        engine: Engine,
        timeline: Timeline,
        sought: Sequence[frozenset[str]],
        tables: Iterable[str],
    ) -> dict[frozenset[str], Place]:
        """Where triples are looked for, by the windows that may have them; without, in tables."""
        run, axis = self.run, self.axis
        streams = {clause.name: stream_name(clause.stream) for clause in axis.windows}
        assert timeline.origin is not None, "there is a leg"
        events = open_windows(engine, run.lake, axis, run.last, timeline.origin)
        places: dict[frozenset[str], Place] = {}
        for windows in sought:
            if not windows:
                logs = [table for table in dict.fromkeys(tables) if run.lake.exists(table)]
                if logs:
                    relation = "sought_in_graph"
                    engine.make(Statement(relation, _triples_of(engine, logs)))
                    places[windows] = Place(relation, relation)
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


def _triples_of(engine: Engine, tables: Iterable[str]) -> exp.Query:
    """The triples that some tables have or had."""
    parts = []
    for table in tables:
        engine.open(log_relation(table), table)
        parts.append(select(*columns(POSITIONS), from_=rows_of(log_relation(table))))
    return union_all(parts)
