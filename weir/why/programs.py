"""What is around a point of the answer of a program: its events, the graph, and what rules derive.

What rules derive at a point may depend on any event that they look back at, also on one that
neither came nor went there (`N = T + 3`). So the program is evaluated at the point before and at
the point, over streams without some events, until the fewest are known without which a row does
not change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.compute.sql import (
    anti_join,
    case,
    column,
    columns,
    descending,
    equal,
    is_null,
    left_join,
    number,
    one_of,
    rows_of,
    select,
    subquery,
)
from weir.engine.fixpoint import make
from weir.engine.graph import POSITIONS, log_relation, stored_columns, stored_logs
from weir.engine.windows import EVENT
from weir.lars.syntax import PointWindow, points_of
from weir.rules.leg_rows import Rules
from weir.sparql.algebra.expressions import Constant
from weir.timeline.evaluation import InstantInputs
from weir.timeline.graph_log import GraphLog
from weir.timeline.legs import Leg, Stamp
from weir.timeline.timeline import Timeline
from weir.why.derivations import World, derivation_of
from weir.why.explanation import (
    Cause,
    ChangedRow,
    Event,
    Match,
    MovedEvent,
    Part,
    Triple,
)
from weir.why.fewest import searched
from weir.why.graph import MOST_CHANGES
from weir.why.graph_changes import changed_triples, make_newest, quads_of, triples_table
from weir.why.marked import Mark
from weir.why.moments import Moment
from weir.why.surroundings import Surroundings
from weir.why.whole_match import triple_of
from weir.why.windows import KNOWN, KNOWN_EVENT, KNOWN_UNDONE, StreamReads, TooManyChangesError
from weir.why.worlds import STORED, Worlds

_STEPS = "why_steps"


@dataclass(frozen=True, slots=True)
class ProgramSurroundings(Surroundings[Part]):
    """Events that rules look back at, and changes of the graph at a point.

    Attributes:
        worlds: its engine has the embeddings as `STORED`; its body is that of the program.
        rules: the program, and how it is read.
        reads: what the program reads; the log of the graph is by epoch.
        timeline: up to the epoch.
        moment: the first instant of the point, as known at the epoch.
        steps: what may have changed the answer, with the weight that it has as a cause.
        product_rows: most rows of a product in a rule.
    """

    worlds: Worlds
    rules: Rules
    reads: StreamReads
    timeline: Timeline
    moment: Moment
    steps: Mapping[Part, int]
    product_rows: int | None = None
    _undone: dict[tuple[ChangedRow, frozenset[Part]], bool] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        worlds: Worlds,
        rules: Rules,
        reads: StreamReads,
        timeline: Timeline,
        moment: Moment,
        product_rows: int | None = None,
    ) -> ProgramSurroundings:
        """Read what may have changed the answer at a point.

        Raises:
            TooManyChangesError: more than is looked at.
        """
        known = replace(reads, graph=_background(worlds.engine, rules, reads.graph))
        own = cls(worlds, rules, known, timeline, moment, {}, product_rows)
        steps: dict[Part, int] = {**own._moved_events()}
        steps |= dict.fromkeys(own._changed_triples(), 0)
        if len(steps) > MOST_CHANGES:
            raise TooManyChangesError
        return replace(own, steps=steps)

    @property
    def is_correction(self) -> bool:
        """Whether what was final before is corrected."""
        return self.moment.corrects

    def changed(self, row: ChangedRow) -> Sequence[Part]:
        """What may have changed a row: what came or went, before other events and the graph.

        First comes what has a term of the row: what is tried first takes the fewest evaluations.
        """
        by, terms = 1 if row.weight > 0 else -1, {*row.row}
        rank = {by: 0, -by: 1, 0: 2}

        def order(step: Part) -> tuple[int, bool]:
            return rank[self.steps[step]], terms.isdisjoint(triple_of(step))

        return sorted(self.steps, key=order)

    def undone_after(self, row: ChangedRow, steps: Sequence[Part]) -> int | None:
        """After how many of the steps are taken back the row does not change; None if it does."""
        by, before = 1 if row.weight > 0 else -1, self._recorded(row)

        def is_undone(number_: int) -> bool:
            key = row, frozenset(steps[:number_])
            if key not in self._undone:
                change = self._change(row, steps[:number_])
                self._undone[key] = by * (change - before) <= 0
            return self._undone[key]

        return searched(is_undone, len(steps))

    def match(self, row: ChangedRow, first: Sequence[Part]) -> Match | None:
        """One derivation of the row by rules, where it is."""
        del first
        where = self._where(row)
        with self.worlds.engine.scope() as engine:
            derivation = derivation_of(self._world(engine, where), row.row)
        if derivation is None:
            return None
        return Match(derivation.parts, True, False, derivation)

    def causes(self, steps: Sequence[Part]) -> Sequence[Cause]:
        """The events of some steps, and the quads of the changes that have one of the triples."""
        moved = [MovedEvent(step, self.steps[step]) for step in steps if isinstance(step, Event)]
        triples = [step for step in steps if not isinstance(step, Event)]
        return [*moved, *quads_of(self.worlds.engine, [self.rules.scope], triples)]

    def _where(self, row: ChangedRow) -> Mark:
        where: Mark = "after" if row.weight > 0 else "before"
        if not self.moment.corrects or self._copies(row, where):
            return where
        return "before_undone" if row.weight > 0 else "after_undone"

    def _copies(self, row: ChangedRow, where: Mark) -> int:
        instant = number(self.moment.instant)
        upto = column("instant") < instant if where == "before" else column("instant") <= instant
        return self.worlds.recorded(row.row, [upto])

    def _recorded(self, row: ChangedRow) -> int:
        """By how much the row changed at its point by what is recorded, and now corrected."""
        if not self.moment.corrects:
            return 0
        at = column("instant").eq(number(self.moment.instant))
        return self.worlds.recorded(row.row, [at, column("epoch") < number(self.moment.epoch)])

    def _change(self, row: ChangedRow, undone: Sequence[Part]) -> int:
        """By how much a row changes at the point if some steps had not happened."""
        moment, unit = self.moment, self.rules.axis.unit
        low, high = moment.instant - 1, moment.instant + unit - 1
        stamp = Stamp(low, high, moment.epoch)
        leg = Leg(moment.epoch - 1, moment.epoch, low, None, high, (stamp,))
        assert self.timeline.origin is not None, "there is a row"
        with self.worlds.engine.scope() as engine:
            events = self._events(engine, undone)
            inputs = InstantInputs(
                engine=engine,
                leg=leg,
                origin=self.timeline.origin,
                events={name: events[of] for name, of in self.reads.streams.items()},
                windows=self.reads.windows,
                stored=STORED,
                prefix="why_q",
                thresholds=self.reads.thresholds,
                graph=self._graph(engine, undone),
                starts=self.timeline.starts,
                product_rows=self.product_rows,
            )
            delta = self.worlds.body.delta(inputs)
            for statement in (*delta.statements, delta.result):
                make(engine, statement)
            return replace(self.worlds, engine=engine).recorded(
                row.row, [column("instant").eq(number(moment.instant))], delta.result.name
            )

    def _events(self, engine: SqlEngine, undone: Sequence[Part]) -> Mapping[str, str]:
        """By stream, the events without those that are taken back."""
        relations = {}
        for i, (stream, known) in enumerate(self.reads.events.items()):
            own = [part for part in undone if isinstance(part, Event) and part.stream == stream]
            steps, name = f"{_STEPS}{i}", f"why_without{i}"
            engine.load(steps, _events_table(own))
            otherwise = column(KNOWN_UNDONE, "e") if self.moment.corrects else exp.false()
            there = case((is_null(column("taken", "s")), column(KNOWN, "e")), otherwise=otherwise)
            rows = select(
                *columns(EVENT, "e"),
                from_=rows_of(known, "e"),
                joins=[left_join(rows_of(steps, "s"), *equal(EVENT, "e", "s"))],
                where=[there],
            )
            engine.make(Statement(name, rows, "cache"))
            relations[stream] = name
        return relations

    def _graph(self, engine: SqlEngine, undone: Sequence[Part]) -> GraphLog | None:
        """The log of the graph by epoch, without the changes that are taken back."""
        graph = self.reads.graph
        if graph is None:
            return None
        triples = [part for part in undone if not isinstance(part, Event)]
        engine.load("why_kept", triples_table(triples))
        own, instant = self.moment.graph, self.moment.instant
        names: dict[str, dict[str, str]] = {"stored": {}, "recent": {}}
        for part, relations in (("stored", graph.stored), ("recent", graph.recent)):
            for log, relation in relations.items():
                name = names[part][log] = f"why_{part}_{log_relation(log)}"
                is_change = graph.is_change(log, column("epoch", "l"), own.changes)
                rows = select(
                    *columns(stored_columns(log), "l"),
                    from_=rows_of(relation, "l"),
                    joins=[
                        anti_join(rows_of("why_kept", "k"), *equal(POSITIONS, "l", "k"), is_change)
                    ],
                )
                engine.make(Statement(name, rows))
        times = [(epoch, instant) for epoch in own.begin]
        if own.own is not None:
            times.append((own.own, instant - 1 if own.own_is_earlier else instant))
        return replace(
            graph,
            stored=names["stored"],
            recent=names["recent"],
            settled=own.settled,
            times=tuple(times),
        )

    def _world(self, engine: SqlEngine, where: Mark) -> World:
        """What the program reads at the point, or at that before it."""
        rules, moment = self.rules, self.moment
        point = rules.axis.point(moment.instant) - where.startswith("before")
        is_undone = where.endswith("undone")
        undone = [*self.steps] if is_undone else []
        # All that an epoch brought is no step of a row alone.
        known = KNOWN_UNDONE if is_undone else KNOWN
        events = {}
        for i, (stream, relation) in enumerate(self.reads.events.items()):
            events[stream] = f"why_world{i}"
            there = select(*columns(EVENT), from_=rows_of(relation), where=[column(known)])
            engine.make(Statement(events[stream], there, "cache"))
        graph = self._graph(engine, undone)
        if graph is not None:
            held = [epoch for epoch, at in graph.times if rules.axis.point(at) <= point]
            graph = replace(graph, settled=max((graph.settled, *held)), times=())
        return World(engine, rules, point, rules.axis.point(self._starts), events, graph)

    @property
    def _starts(self) -> int:
        """The first instant of the streams."""
        starts = self.timeline.starts if self.timeline.starts is not None else self.timeline.origin
        assert starts is not None, "there is a row"
        return starts

    def _moved_events(self) -> Mapping[Part, int]:
        """The events that rules look back at, with the weight that each has as a cause."""
        moment, rules = self.moment, self.rules
        back, unit, axis = rules.program.look_back, rules.axis.unit, rules.axis
        point = axis.point(moment.instant)
        where: list[exp.Expr] = [column("instant") <= number(moment.instant + unit - 1)]
        if back.points is not None and not back.tuples:
            oldest = axis.instant(point - 1 - back.points)
            where.append(column("instant") >= number(oldest))
        if moment.corrects:
            where.append(column(KNOWN).neq(column(KNOWN_UNDONE)))
        else:
            where.append(column(KNOWN))
        if not back.tuples:
            where += _has_predicate(rules, "stream")
        start = rules.axis.point(self._starts)
        moves = [
            [points_of(read.window, at, start) for at in (point - 1, point)]
            for read in rules.program.window_reads
            if isinstance(read.window, PointWindow)
        ]
        steps: dict[Part, int] = {}
        for stream, relation in self.reads.events.items():
            newest = select(
                *columns(KNOWN_EVENT),
                from_=rows_of(relation),
                where=[condition.copy() for condition in where],
                order_by=[descending(column(name)) for name in ("instant", "epoch", "line")],
                limit=MOST_CHANGES + 1,
            )
            for s, p, o, *rest, known, _ in self.worlds.engine.rows(newest):
                instant, epoch, line = (int(str(value)) for value in rest)
                event = Event(stream, (str(s), str(p), str(o)), instant, epoch, line)
                at = axis.point(instant)
                entered = at == point or any(at in now and at not in was for was, now in moves)
                left = any(at in was and at not in now for was, now in moves)
                moved = 1 if entered else -1 if left else 0
                steps[event] = (1 if known else -1) if moment.corrects else moved
        return steps

    def _changed_triples(self) -> Sequence[Triple]:
        """The triples of the graph that change at the point."""
        engine, graph, moment = self.worlds.engine, self.reads.graph, self.moment
        if graph is None:
            return []
        make_newest(engine, graph, moment.graph.changes)
        if moment.is_first and not moment.corrects:
            return []
        changed = (
            select(
                *columns(POSITIONS),
                from_=subquery(changed_triples(self.rules.scope), "changed"),
                distinct=True,
            )
            .order_by(*columns(POSITIONS))
            .limit(MOST_CHANGES + 1)
        )
        return [(str(s), str(p), str(o)) for s, p, o in engine.rows(changed)]


def _background(engine: SqlEngine, rules: Rules, graph: GraphLog | None) -> GraphLog | None:
    """The logs of the graph in which the rows that atoms may have are read once."""
    if graph is None:
        return None
    stored = dict(graph.stored)
    for table, relation in stored_logs(rules.scope).items():
        rows = select(
            *columns(stored_columns(table)),
            from_=rows_of(graph.stored[table]),
            where=_has_predicate(rules, "graph"),
        )
        stored[table] = f"why_background_{relation}"
        engine.make(Statement(stored[table], rows, "cache"))
    return replace(graph, stored=stored)


def _has_predicate(rules: Rules, origin: Literal["stream", "graph"]) -> list[exp.Expr]:
    """The condition that a triple may be of an atom of the streams, or of the graph."""
    predicates = {
        triple.predicate
        for pattern in rules.program.read_patterns
        for triple in pattern.triples
        if pattern.origin == origin
    }
    terms = {term.term for term in predicates if isinstance(term, Constant)}
    known = len(terms) == len(predicates)
    return [one_of(column("predicate"), sorted(terms))] if known else []


def _events_table(events: Sequence[Event]) -> pa.Table:
    return (
        triples_table([event.triple for event in events])
        .append_column("taken", pa.array([True] * len(events), pa.bool_()))
        .append_column("instant", pa.array([event.instant for event in events], pa.int64()))
        .append_column("epoch", pa.array([event.epoch for event in events], pa.int64()))
        .append_column("line", pa.array([event.line for event in events], pa.int64()))
    )
