"""A window of the last elements of a stream around a change: what a step lets in, or pushes out.

Whether an element is in such a window depends on those after it, so that taking one back has an
earlier one come in: its content is followed step by step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.sql import columns, rows_of, select
from weir.engine.graph import POSITIONS, graph_columns
from weir.engine.relations import FOREVER, INTERVAL
from weir.plan.scope import Scope
from weir.why.explanation import Event, Part, Triple
from weir.why.marked import Mark, united
from weir.why.worlds import Positions

_Piece = tuple[Triple, int, int]


@dataclass(frozen=True, slots=True)
class KnownEvent:
    """An event, whether it is known, and whether it is if its step had not happened."""

    event: Event
    is_known: bool
    is_known_undone: bool


@dataclass(frozen=True, slots=True)
class LastEvents:
    """What a window of the last elements has around a change.

    Attributes:
        elements: how many it has.
        before: the events of its stream up to right before the change, from the newest on: at least
            as many as the window may have if steps are taken back.
        after: those up to right after it.
    """

    elements: int
    before: Sequence[KnownEvent]
    after: Sequence[KnownEvent]

    def taken_back(
        self, engine: SqlEngine, scope: Scope, steps: Sequence[Part], at: Positions, prefix: str
    ) -> exp.Query:
        """As that of `MarkedRows`."""
        turns = {step: nth for nth, step in enumerate(steps, start=1) if isinstance(step, Event)}
        pieces: list[_Piece] = []
        for event, since, until in self._spans(self.after, turns, at.steps):
            pieces.append((event.triple, at.after(since), at.after(until)))
        for event, since, until in self._spans(self.before, turns, at.steps):
            if since == 0:
                pieces.append((event.triple, 0, 1))
            if at.looks_back:
                last = FOREVER if since == 0 else at.before(since) + 1
                pieces.append((event.triple, at.before(until - 1), last))
        return _intervals(engine, scope, pieces, prefix)

    def put_back(
        self, engine: SqlEngine, scope: Scope, steps: Sequence[Part], where: Mark, prefix: str
    ) -> exp.Query:
        """As that of `MarkedRows`."""
        turns = {step: nth for nth, step in enumerate(steps, start=1)}
        pieces: list[_Piece] = []
        for event in self.content(where):
            pieces.append((event.triple, 0, 1))
            if event in turns:
                pieces.append((event.triple, turns[event] + 1, FOREVER))
        return _intervals(engine, scope, pieces, prefix)

    def content(self, where: Mark) -> Sequence[Event]:
        """What is in the window before or after the change."""
        events = self.before if where.startswith("before") else self.after
        is_undone = where.endswith("undone")
        there = (
            known.event
            for known in events
            if (known.is_known_undone if is_undone else known.is_known)
        )
        return [*islice(there, self.elements)]

    def _spans(
        self, events: Sequence[KnownEvent], turns: Mapping[Event, int], last: int
    ) -> Iterator[tuple[Event, int, int]]:
        """From which number of steps taken back on, and up to which, an event is in the window."""
        is_there = [known.is_known for known in events]
        places = {known.event: i for i, known in enumerate(events)}
        since: dict[int, int] = {}
        # The window has those of the events up to `end` that are known.
        end = 0

        def fill(turn: int) -> None:
            nonlocal end
            while len(since) < self.elements and end < len(events):
                if is_there[end]:
                    since[end] = turn
                end += 1

        fill(0)
        for event, turn in sorted(turns.items(), key=lambda pair: pair[1]):
            place = places.get(event)
            if place is None or is_there[place] == events[place].is_known_undone:
                continue
            is_there[place] = not is_there[place]
            if place >= end:
                continue
            if is_there[place]:
                since[place] = turn
            else:
                yield event, since.pop(place), turn
            while len(since) > self.elements:
                end -= 1
                if end in since:
                    yield events[end].event, since.pop(end), turn
            fill(turn)
        yield from ((events[i].event, begin, last + 1) for i, begin in since.items())


def _intervals(engine: SqlEngine, scope: Scope, pieces: Sequence[_Piece], prefix: str) -> exp.Query:
    name, triple = f"{prefix}_content", graph_columns(scope)
    cells = [pa.array([piece[0][i] for piece in pieces], pa.string()) for i in range(3)]
    ends = [pa.array([piece[i] for piece in pieces], pa.int64()) for i in (1, 2)]
    engine.load(name, pa.table([*cells, *ends], [*POSITIONS, *INTERVAL]))
    return united(select(*columns((*triple, *INTERVAL)), from_=rows_of(name)), triple)
