"""Histories whose old events are deleted and whose embeddings are consolidated between runs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from tests.support.streams.cases import StreamCase
from tests.support.streams.definitions import content
from tests.support.streams.histories import Epochs, StreamBatch
from tests.support.streams.memory import StreamMemory, StreamRow
from weir.compute.duck import DIALECT
from weir.engine.windows import LastElements
from weir.plan.plan import Plan
from weir.timeline.consolidation import ConsolidatedLog, consolidated
from weir.timeline.retention import (
    begins_within,
    complete_from,
    elements_complete_from,
    horizons_before,
    needed_elements,
    needed_from,
    settled,
)

_CHECKED = 20
"""So many instants from the first one on are compared with the definitions."""
RUNS = 4
"""Into which a history is cut; after each, all is deleted that may be."""


def broken_by_retention(case: StreamCase, plan: Plan, log: Sequence[StreamRow]) -> Iterator[str]:
    """How a case breaks the laws of retention; `log` is its answer's log, of all events.

    * A query whose events are deleted and whose embeddings are consolidated after every run
      publishes the same log, row for row.
    * A query that is computed from the events that are kept has the same answer at every epoch and
      instant from its first one on.
    """
    rng = random.Random(f"retention {case.seed}")
    last = len(case.epochs)
    cuts = sorted(rng.sample(range(1, last), min(RUNS - 1, last - 1)))
    kept = Retained(case, plan)
    for after, until in pairwise((0, *cuts, last)):
        yield from kept.run_and_delete(after, until)
    if Counter(kept.published) != Counter(log):
        extra = Counter(kept.published) - Counter(log)
        missing = Counter(log) - Counter(kept.published)
        yield f"deleted after {cuts}: {[*extra][:4]} too many, {[*missing][:4]} missing"
    yield from _newcomer(case, plan, log, rng)


class Retained(StreamMemory):
    """A query that is published, consolidated, and loses the events it no longer needs."""

    def __init__(self, case: StreamCase, plan: Plan) -> None:
        windows, streams, epochs = case.windows, case.streams, case.epochs
        super().__init__(
            plan, windows, streams, epochs, case.corrects_back, construct=case.construct
        )
        self.published: list[StreamRow] = []
        self.consolidation = ConsolidatedLog()

    def run_and_delete(self, after: int, last: int) -> Iterator[str]:
        """Process the epochs (after, last], then delete what no leg needs any more."""
        timeline = self.timeline(last)
        if not all(self.consolidation.allows(leg) for leg in timeline.legs(after, last)):
            yield f"a leg after epoch {after} begins within what is consolidated"
        self.evaluated.clear()
        self.run(after, last)
        self.published += [row for row in self.log() if row[0] > after]
        horizon = timeline.horizon(last)
        if horizon is None:
            return
        low = settled(
            horizon,
            self.corrects_back,
            [
                (frontier_at(self.epochs, name, last), lateness_of(self.epochs, name))
                for name in {*self.streams.values()}
            ],
        )
        self._consolidate(low, last)
        for name in {*self.streams.values()}:
            before = self._needed(name, low, last)
            if before is not None:
                delete_events(self, name, before, last)

    def _needed(self, stream: str, low: int, last: int) -> int | None:
        bounds = []
        for name, window in self.windows.items():
            if self.streams[name] != stream:
                continue
            if not isinstance(window, LastElements):
                bounds.append(needed_from(window, low))
                continue
            view = _events_of(self, stream, last)
            query = needed_elements(view, window, low, last).sql(dialect=DIALECT)
            rows = self.connection.execute(query).fetchall()
            if not rows:
                return None
            bounds.append(rows[0][0])
        return min(bounds)

    def _consolidate(self, until: int, epoch: int) -> None:
        rows = consolidated("stored", self.plan.width, until, epoch).sql(dialect=DIALECT)
        self.connection.execute(f"CREATE OR REPLACE TABLE fewer AS {rows}")
        self.connection.execute("DELETE FROM stored")
        self.connection.execute("INSERT INTO stored SELECT * FROM fewer")
        self.consolidation = ConsolidatedLog(until, 0)


def _newcomer(
    case: StreamCase, plan: Plan, log: Sequence[StreamRow], rng: random.Random
) -> Iterator[str]:
    """A query that is first computed when events are deleted, as far as a stream may be."""
    last = len(case.epochs)
    registered = rng.randint(1, last)
    memory = StreamMemory.of(case, plan)
    kept_from = {}
    for name in sorted({*case.streams.values()}):
        instants = [
            instant
            for change in case.epochs[:registered]
            if isinstance(change, StreamBatch) and change.stream == name
            for _, instant in change.events
        ]
        if instants:
            latest = frontier_at(case.epochs, name, registered) - lateness_of(case.epochs, name)
            # Right after an event, so that a window that begins too early lacks one.
            after = [instant + 1 for instant in instants if instant < latest]
            kept_from[name] = rng.choice(after or [min(instants)])
            delete_events(memory, name, kept_from[name], registered)
    timeline = memory.timeline(registered)
    complete = first_complete(memory, kept_from, registered)
    if timeline.origin is None or complete is None:
        return
    begins = max(complete, timeline.origin)
    yield from _incomplete(case, kept_from, registered, begins)
    first = next(
        (
            arrival.epoch
            for arrival in timeline.arrivals
            if (arrival.horizon or begins - 1) >= begins
        ),
        None,
    )
    if first is None:
        # It waits: nothing from its first instant on is final.
        return
    memory.begins = begins
    memory.run(0, registered)
    later = memory.timeline(last)
    assert later.origin is not None, "it was evaluated"
    if not all(begins_within(leg, later.origin, begins) for leg in later.legs(registered, last)):
        yield f"a leg of a query that begins at {begins} needs events before it"
    memory.run(registered, last)
    # Its first row at an instant has the state there; its first epoch is one that reaches it.
    expected: Counter[tuple[int, int, tuple[str | None, ...]]] = Counter()
    for epoch, instant, weight, row in log:
        expected[max(epoch, first), max(instant, begins), row] += weight
    sums: Counter[tuple[int, int, tuple[str | None, ...]]] = Counter()
    for epoch, instant, weight, row in memory.log():
        sums[epoch, instant, row] += weight
    wrong = {key for key in {*expected, *sums} if expected[key] != sums[key]}
    if wrong:
        yield (
            f"registered at epoch {registered} with events from {kept_from}, from {begins} on:"
            f" {[(key, sums[key], expected[key]) for key in sorted(wrong, key=repr)][:3]}"
        )


def _incomplete(
    case: StreamCase, kept_from: Mapping[str, int], registered: int, begins: int
) -> Iterator[str]:
    """A window that lacks a deleted event where it is said to be complete, by the definitions."""
    meaning = case.meaning()
    for name, window in case.windows.items():
        stream = case.streams[name]
        events = [
            (instant, epoch, line, triple)
            for epoch, change in enumerate(case.epochs, start=1)
            if isinstance(change, StreamBatch) and change.stream == stream
            for line, (triple, instant) in enumerate(change.events)
        ]
        kept = [e for e in events if e[0] >= kept_from[stream] or e[1] > registered]
        for epoch, horizon in enumerate(meaning.horizons):
            last = begins - 1 if horizon is None else min(horizon, begins + _CHECKED)
            known, left = ([e for e in some if e[1] <= epoch] for some in (events, kept))
            for instant in range(begins, last + 1):
                if content(window, known, instant) != content(window, left, instant):
                    yield f"{window} lacks events at epoch {epoch} and instant {instant}"
                    return


def first_complete(memory: StreamMemory, kept_from: dict[str, int], last: int) -> int | None:
    """The first instant from which on no window lacks an event; None if there is none yet."""
    bounds = []
    for name, window in memory.windows.items():
        stream = memory.streams[name]
        if stream not in kept_from:
            return None
        if not isinstance(window, LastElements):
            bounds.append(complete_from(window, kept_from[stream]))
            continue
        view = _events_of(memory, stream, last)
        memory.connection.register("horizons", horizons_before(memory.timeline(last).arrivals))
        query = elements_complete_from(view, window, kept_from[stream], "horizons", 0)
        rows = memory.connection.execute(query.sql(dialect=DIALECT)).fetchall()
        if not rows:
            return None
        bounds.append(rows[0][0])
    return max(bounds)


def delete_events(memory: StreamMemory, stream: str, before: int, last: int) -> None:
    """Delete the events of a stream before an instant that are known at an epoch."""
    where = f"stream = '{stream}' AND instant < {before} AND epoch <= {last}"
    memory.connection.execute(f"DELETE FROM events WHERE {where}")


def frontier_at(epochs: Epochs, stream: str, last: int) -> int:
    """The frontier of a stream after an epoch; it has had an event."""
    return next(
        epoch.frontier
        for epoch in reversed(epochs[:last])
        if isinstance(epoch, StreamBatch) and epoch.stream == stream
    )


def lateness_of(epochs: Epochs, stream: str) -> int:
    """How late the latest event of a stream is: the least `lateness` that takes all its events."""
    frontier, lateness = None, 0
    for epoch in epochs:
        if isinstance(epoch, StreamBatch) and epoch.stream == stream:
            if frontier is not None:
                lateness = max([lateness, *(frontier - instant for _, instant in epoch.events)])
            frontier = epoch.frontier
    return lateness


def _events_of(memory: StreamMemory, stream: str, last: int) -> str:
    memory.connection.execute(
        "CREATE OR REPLACE VIEW kept AS SELECT * EXCLUDE (stream) FROM events"
        f" WHERE stream = '{stream}' AND epoch <= {last}"
    )
    return "kept"
