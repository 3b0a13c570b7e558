"""Maintain a query over streams: leg after leg, one commit each."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from uuid import uuid4

from jobs.catalog.maintained import Maintained
from jobs.catalog.output_streams import in_order_of_streams, upstreams_of
from jobs.catalog.windowing import Upstream, Windowing
from jobs.compute.engine import Commit, Engine
from jobs.compute.placement import Extent
from jobs.compute.relations import Statement
from jobs.compute.resources import Resources
from jobs.compute.session import Session
from jobs.compute.sql import column, columns, number, rows_of, select
from jobs.engine.graph import QUADS, TRIPLES
from jobs.engine.read_graph import Thresholds
from jobs.engine.windows import EVENT, Window, look_back
from jobs.errors import WeirError
from jobs.maintain.outcome import Outcome
from jobs.maintain.output_streams import BEGAN, OutputStream
from jobs.maintain.products import make_delta
from jobs.maintain.tasks import JOB, Task, commit_metadata
from jobs.progress.backlog import HORIZON
from jobs.progress.completion import Completion
from jobs.settings import Settings
from jobs.stage import Progress
from jobs.streams.consolidation import ConsolidatedLog, consolidated, first_unpublished
from jobs.streams.elements import elements_as_events
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

_UPSTREAMS = "upstreams"
"""What the metadata of embeddings has: the logs of the queries that it reads, by query."""


@dataclass(frozen=True, slots=True)
class StreamQueries:
    """Maintains queries over streams, one after the other, and the streams out of them."""

    session: Session
    settings: Settings
    lake: Lake
    outcome: Outcome
    completion: Completion
    progress: Progress
    _begun: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    """The ids of the logs of embeddings that this run began, by query."""

    @property
    def last(self) -> int:
        """The newest epoch."""
        return self.completion.head

    def maintain(self, queries: Iterable[Maintained], tasks: Mapping[str, Task]) -> None:
        """Bring the embeddings of queries over streams, and their streams, to the last epoch.

        One may fail by itself, with those that read its stream.

        Args:
            queries: all that can be maintained.
            tasks: by name, of those that are behind.
        """
        failed: set[str] = set()
        with _one_database(self.settings) as settings:
            sharing = replace(self, settings=settings)
            for query in in_order_of_streams(queries):
                task = tasks.get(query.name) or self._later_task(query)
                if task is None:
                    continue
                try:
                    for upstream in upstreams_of(query):
                        _check_upstream(query, upstream, failed)
                    sharing._maintain(self._after_upstreams(task))
                except Exception as error:  # noqa: BLE001  (recorded, raised for all at the end)
                    failed.add(query.name)
                    self.outcome.failed(task, error)

    def _later_task(self, query: Maintained) -> Task | None:
        """The task of a query at the last epoch, if a run ended before all that follows from it."""
        stored = self.completion.maintained(query.name)
        if stored is None:
            return None
        task = Task(query, "incremental", "", collapsed=False, stored=stored)
        output = OutputStream.of(query)
        is_behind = output is not None and output.is_behind(self.lake, stored.metadata)
        return task if is_behind or self._after_upstreams(task).stored is None else None

    def _after_upstreams(self, task: Task) -> Task:
        """The task; one that recomputes the query if a stream that it reads was recomputed."""
        if task.stored is None:
            return task
        read = task.stored.metadata.extra.get(_UPSTREAMS, {})
        for name, began in self._upstreams(task.query).items():
            if read.get(name) != began:
                reason = f"the query {name}, whose stream it reads, was recomputed"
                return replace(task, mode="rebased", reason=reason, stored=None)
        return task

    def _upstreams(self, query: Maintained) -> dict[str, str]:
        """The queries whose streams a query reads, with the ids of their logs."""
        return {each.query: self._began(each.query) for each in upstreams_of(query)}

    def _began(self, query: str) -> str:
        found = self.lake.last_metadata(f"embeddings/{query}", job=JOB)
        return "" if found is None else found[1].extra.get(BEGAN, "")

    def _maintain(self, task: Task) -> None:
        started = time.monotonic()
        timeline = self._timeline(task)
        legs = timeline.legs(task.after, self.last)
        log = _consolidated_log(task)
        if any(not log.allows(leg) for leg in legs):
            reason = "an event is older than what is consolidated: its `lateness` was raised"
        elif self._must_emit_again(task, log):
            reason = "its stream is to be emitted from the beginning, and the log is consolidated"
        else:
            reason = None
        if reason is not None:
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
        self._emit(task, timeline, commit)
        if commit is None:
            self.outcome.untouched(task)
            return
        commit = self._consolidate(task, commit, log) or commit
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

    def _must_emit_again(self, task: Task, log: ConsolidatedLog) -> bool:
        """Whether there is no table of elements that the consolidated log could continue."""
        output = OutputStream.of(task.query)
        if output is None or log.until is None:
            return False
        return not output.complete_to(self.lake, self._began(task.query.name))

    def _emit(self, task: Task, timeline: Timeline, commit: Commit | None) -> None:
        """Append to the stream out of a query what follows from its new rows, or from closes."""
        output = OutputStream.of(task.query)
        if output is None:
            return
        found = self.lake.last_metadata(f"embeddings/{task.query.name}", job=JOB)
        assert found is not None, "it was maintained"
        began = found[1].extra[BEGAN]
        if commit is None and not output.is_behind(self.lake, found[1]):
            emission = output.emission(self.lake, timeline, self.last, began)
            if emission.operator != "rstream" or not emission.has_closes:
                return
        metadata = commit_metadata(task, self.outcome.run.run_id, self.last, **{BEGAN: began})
        with self._engine() as engine:
            made = output.emit(
                engine, self.lake, timeline, metadata, self.settings.limits.rstream_rows
            )
        self.progress(f"{task.query.name}: its stream has {made.rows} new elements")

    def _metadata(
        self, task: Task, last: int, horizon: int | None, log: ConsolidatedLog
    ) -> Metadata:
        if task.stored is None:
            began = self._begun.setdefault(task.query.name, uuid4().hex)
        else:
            began = task.stored.metadata.extra.get(BEGAN, "")
        extra = {HORIZON: horizon, BEGAN: began, **log.to_json()}
        upstreams = self._upstreams(task.query)
        if upstreams:
            extra[_UPSTREAMS] = upstreams
        return commit_metadata(task, self.outcome.run.run_id, last, **extra)

    def _consolidate(self, task: Task, commit: Commit, log: ConsolidatedLog) -> Commit | None:
        """Replace what ended long ago by a state, if that is most of the log; None if not."""
        published = self.completion.published(task.query.name)
        until = settled_until(self.lake, _windowing(task), self.last)
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
            upstream = windowing.upstream(clause.stream)
            if upstream is not None:
                engine.open(whole, f"output_streams/{upstream.query}", where=where)
                engine.make(Statement(name, elements_as_events(whole, leg.last)))
                continue
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


def _check_upstream(query: Maintained, upstream: Upstream, failed: Collection[str]) -> None:
    if upstream.query in failed:
        raise WeirError(
            f"the query {upstream.query}, whose stream it reads, was not maintained",
            query.file.name,
            "It is maintained again when that query is.",
        )


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
