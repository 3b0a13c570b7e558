"""What is around a change of the answer of a query: of its graph, and of its windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.sql import column, number
from weir.plan.scope import Scope
from weir.why.explanation import (
    MOST_NAMED,
    Cause,
    ChangedRow,
    Event,
    Match,
    MovedEvent,
    Part,
)
from weir.why.fewest import Needed, fewest
from weir.why.graph_changes import quads_of
from weir.why.last_elements import LastEvents
from weir.why.marked import Mark, MarkedRows
from weir.why.surroundings import Surroundings
from weir.why.whole_match import StoredGraph, WholeMatch
from weir.why.worlds import Positions, Worlds

MOST_TRIPLES = 20_000
"""In more triples around the changes, no match is looked for."""

Content: TypeAlias = MarkedRows | LastEvents
"""What a scope has around a change."""


@dataclass(frozen=True, slots=True)
class PlanSurroundings(Surroundings[Part]):
    """Triples that changed and events that came or went, and what is beside them.

    Attributes:
        worlds: evaluates the query; its engine has the quads of the changes, too (`newest`).
        content: by scope.
        steps: what may have changed the answer: triples, and events with the weight they have as
            causes.
        known: conditions on the embeddings that are the state before the change, after it, and as
            it was if no step had happened; None if there is nothing.
        looks_back: whether a step matters before the change, too.
        graph: the log of the graph; None if it cannot be looked up.
        graph_epochs: by mark, the epoch that the state of the graph is of.
        corrected: of a correction of an answer over streams, the epoch before which the rows of its
            log are those that it corrects; else None.
    """

    worlds: Worlds
    content: Mapping[Scope, Content]
    steps: Mapping[Part, int]
    known: Mapping[Mark, Sequence[exp.Expr] | None]
    looks_back: bool = False
    corrected: int | None = None
    graph: StoredGraph | None = None
    graph_epochs: Mapping[Mark, int] = field(default_factory=dict)

    @property
    def is_correction(self) -> bool:
        """Whether what was final before is corrected."""
        return self.corrected is not None

    @property
    def _is_beside_stored(self) -> bool:
        """Whether the query stores rows of parts that read the graph; of windows all is there."""
        reads_graph = any(scope.window is None for scope in self.content)
        return reads_graph and self.worlds.body.reads_stored

    def changed(self, row: ChangedRow) -> Sequence[Part]:
        """What may have changed a row: for one that appeared, first what came."""
        by = 1 if row.weight > 0 else -1
        return sorted(self.steps, key=lambda step: -by * self.steps[step])

    def undone_after(self, row: ChangedRow, steps: Sequence[Part]) -> int | None:
        """After how many of the steps are taken back the row does not change; None if it does."""
        at = Positions(len(steps), self.looks_back)

        def histories(engine: SqlEngine) -> Mapping[Scope, exp.Query]:
            return {
                scope: content.taken_back(engine, scope, steps, at, f"why{i}")
                for i, (scope, content) in enumerate(self.content.items())
            }

        totals = self.worlds.totals(row.row, histories, at.last, self.known["before"])
        by, before = 1 if row.weight > 0 else -1, self._recorded(row)

        def weight(undone: int) -> int:
            change = totals.value(at.after(undone)) - totals.value(at.before(undone))
            return change - before

        assert weight(0) == row.weight, "the row is evaluated as it was"
        return next((n for n in range(len(steps) + 1) if by * weight(n) <= 0), None)

    def match(self, row: ChangedRow, first: Sequence[Part]) -> Match | None:
        """The fewest triples and events with which there is one copy of the row more.

        All goes, and comes back one by one.
        """
        there = self._there(row)
        if there is None:
            return None
        if self._is_beside_stored:
            whole = self._whole_match(row, first, there)
            if whole is not None:
                return Match(whole.steps, whole.is_all, is_beside_stored=False)
        known = frozenset(there)
        order = dict.fromkeys([*(step for step in first if step in known), *there])
        parts = fewest([*order], lambda some: self._again_after(row, some), MOST_NAMED)
        if parts is None:
            return None
        return Match(parts.steps, parts.is_all, self._is_beside_stored)

    def _whole_match(
        self, row: ChangedRow, first: Sequence[Part], there: Sequence[Part]
    ) -> Needed[Part] | None:
        """The same, with the triples that stored rows came from; None if they are not found."""
        where = self._where(row)
        if self.graph is None or where not in self.graph_epochs:
            return None
        events = {}
        for scope, content in self.content.items():
            if scope.window is None:
                continue
            match content:
                case MarkedRows():
                    own = content.parts(self.worlds.engine, column(where), MOST_TRIPLES)
                    events[scope] = [part for part in own if isinstance(part, Event)]
                case LastEvents():
                    events[scope] = [*content.content(where)]
        seeds = [part for part in first if part in there] or [*there][:MOST_NAMED]
        whole = WholeMatch(self.worlds, self.graph, self.graph_epochs[where], row.row, events)
        return whole.parts(seeds)

    def _there(self, row: ChangedRow) -> Sequence[Part] | None:
        """The triples and events where the row is; None if they are more than `MOST_TRIPLES`."""
        where, parts = self._where(row), dict[Part, None]()
        for content in self.content.values():
            match content:
                case MarkedRows():
                    some = content.parts(self.worlds.engine, column(where), MOST_TRIPLES)
                case LastEvents():
                    some = content.content(where)
            parts |= dict.fromkeys(some)
            if len(parts) > MOST_TRIPLES:
                return None
        return [*parts]

    def _again_after(self, row: ChangedRow, steps: Sequence[Part]) -> int | None:
        """After how many of the steps are put back the row is there; None if it is not."""
        where = self._where(row)

        def histories(engine: SqlEngine) -> Mapping[Scope, exp.Query]:
            return {
                scope: content.put_back(engine, scope, steps, where, f"why{i}")
                for i, (scope, content) in enumerate(self.content.items())
            }

        known = self.known[where]
        totals = self.worlds.totals(row.row, histories, 1 + len(steps), known)
        gone = totals.value(1)
        if gone == 0:
            return 0
        return next(
            (n for n in range(1, len(steps) + 1) if totals.value(1 + n) > gone),
            None,
        )

    def causes(self, steps: Sequence[Part]) -> Sequence[Cause]:
        """The events of some steps, and the quads of the changes that have one of the triples."""
        events = [step for step in steps if isinstance(step, Event)]
        moved = [MovedEvent(event, self.steps[event]) for event in events]
        triples = [step for step in steps if not isinstance(step, Event)]
        scopes = [scope for scope in self.content if scope.window is None]
        return [*moved, *quads_of(self.worlds.engine, scopes, triples)]

    def _where(self, row: ChangedRow) -> Mark:
        """Where the row is: after the change, or before it if it vanished.

        A row that a correction makes appear may be one that does not vanish any more, as it is not
        there before either; and the other way round.
        """
        where: Mark = "after" if row.weight > 0 else "before"
        if self.corrected is None or self._copies(row, where):
            return where
        return "before_undone" if row.weight > 0 else "after_undone"

    def _copies(self, row: ChangedRow, where: Mark) -> int:
        """How often a row is in the answer."""
        known = self.known[where]
        return 0 if known is None else self.worlds.recorded(row.row, known)

    def _recorded(self, row: ChangedRow) -> int:
        """By how much the row changed at its instant by what is recorded, and now corrected."""
        if self.corrected is None:
            return 0
        assert row.instant is not None, "it is of an answer over streams"
        at = column("instant").eq(number(row.instant))
        return self.worlds.recorded(row.row, [at, column("epoch") < number(self.corrected)])
