"""Maintain a program over a history in one DuckDB connection, as a stage would."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import cache

import pyarrow as pa

from tests.support.derived_memory import GIVER
from tests.support.duck import DuckOfTest
from tests.support.lars.programs import GroundAtom, Value
from tests.support.rules.cases import RuleCase
from tests.support.streams.histories import Epochs, GraphChange, StreamBatch
from tests.support.streams.memory import constructed_log, graph_changes, recorded
from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.compute.sql import column, columns, number, rows_of, select
from weir.engine.fixpoint import make
from weir.engine.graph import DERIVED, QUADS, stored_logs
from weir.engine.windows import SlidingWindow
from weir.lars.program import Program
from weir.plan.scope import Scope
from weir.rules.points import PointAxis
from weir.rules.program import ProgramInputs, program_delta
from weir.timeline.axis import Grid
from weir.timeline.graph_log import GraphLog
from weir.timeline.legs import Leg
from weir.timeline.timeline import Timeline

LogRow = tuple[int, int, int, tuple[str, ...]]
"""Epoch, instant, weight, the atom: its predicate and its arguments."""
Evaluated = dict[Hashable, list[tuple[object, ...]]]
"""The rows of legs, by all that they follow from."""


class ProgramMemory:
    """Streams, a graph's log and one program's log, in memory.

    `starts` is the first instant of all streams, if it is declared; else that of the first epoch
    with events. With the legs that another memory of the same program and history has `evaluated`,
    those of the same input are not evaluated again.
    """

    def __init__(
        self,
        program: Program,
        epochs: Epochs,
        axis: PointAxis | None = None,
        corrects_back: int = 0,
        evaluated: Evaluated | None = None,
        starts: int | None = None,
        engine: SqlEngine | None = None,
        construct: str | None = None,
    ) -> None:
        self.program, self.epochs, self.corrects_back = program, epochs, corrects_back
        self.axis, self.starts = axis or PointAxis(), starts
        self.construct = construct
        self.evaluated = {} if evaluated is None else evaluated
        self.engine = engine or engine_of_process()
        self.row = program.answer_columns
        self.stored: list[tuple[object, ...]] = []
        self.inputs = self._inputs()

    def run(self, after: int, last: int) -> list[Leg]:
        """Process the epochs (after, last]; gives the legs."""
        timeline = self.timeline(last)
        legs = timeline.legs(after, last)
        for leg in legs:
            key = (leg, timeline.origin, timeline.graph_at(leg), tuple(self._sorted()))
            if key not in self.evaluated:
                self.evaluated[key] = self._rows(timeline, leg)
            self.stored += self.evaluated[key]
        return [*legs]

    def log(self) -> list[LogRow]:
        """The program's log, sorted."""
        rows: list[LogRow] = []
        for *atom, instant, epoch, weight in self.stored:
            assert isinstance(epoch, int)
            assert isinstance(instant, int)
            assert isinstance(weight, int)
            predicate, *terms = (str(term) for term in atom if term is not None)
            rows.append((epoch, instant, weight, (predicate.strip('"'), *terms)))
        return sorted(rows)

    def timeline(self, last: int) -> Timeline:
        """The timeline up to an epoch."""
        epochs = self.epochs[:last]
        return Timeline.of(
            [SlidingWindow(1)],
            [recorded(epochs, name, self.starts) for name in self.program.streams],
            graph_changes(epochs) if self.program.reads_graph else [],
            self.corrects_back,
            grid=Grid(self.axis.unit, self.axis.origin),
        )

    @property
    def scope(self) -> Scope:
        """Which triples the atoms of the graph are made of."""
        return Scope(derived=() if self.construct is None else (GIVER,))

    @property
    def logs(self) -> dict[str, str]:
        """By table, the relation of the log of the graph, or of the derived one."""
        return {table: f"stored_{name}" for table, name in stored_logs(self.scope).items()} | {
            QUADS: f"stored_{QUADS}"
        }

    def _sorted(self) -> list[tuple[object, ...]]:
        return sorted(self.stored, key=repr)

    def _rows(self, timeline: Timeline, leg: Leg) -> list[tuple[object, ...]]:
        """The new rows of a leg."""
        with self.engine.scope() as engine:
            return self._rows_by(engine, timeline, leg)

    def _rows_by(self, engine: SqlEngine, timeline: Timeline, leg: Leg) -> list[tuple[object, ...]]:
        assert timeline.origin is not None, "there is a leg"
        for name, rows in self.inputs.items():
            engine.load(name, rows)
        engine.load("stored", self._stored_rows())
        for name in self.program.streams:
            known = [column("epoch") <= number(leg.last)]
            events = select("*", from_=rows_of(f"all_events_{name}"), where=known)
            engine.make(Statement(f"events_{name}", events))
        if self.program.reads_graph:
            settled, times = timeline.graph_at(leg)
            points = tuple((epoch, self.axis.point(time)) for epoch, time in times)
            log = GraphLog(self.logs, self.logs, settled, points)
            log.on_axis(engine, self.axis.point(leg.low), self.axis.point(timeline.origin))
        events_of = tuple(f"events_{name}" for name in self.program.streams)
        inputs = ProgramInputs(events_of, "stored", self.scope)
        delta = program_delta(
            engine, self.program, self.axis, leg, timeline.origin, inputs, "program"
        )
        for step in (*delta.statements, delta.result):
            make(engine, step)
        names = (*self.row, "instant", "epoch", "weight")
        return engine.rows(select(*columns(names), from_=rows_of(delta.result.name)))

    def _stored_rows(self) -> pa.Table:
        cells = [[row[i] for row in self.stored] for i in range(len(self.row) + 3)]
        kinds = [pa.string()] * len(self.row) + [pa.int64()] * 3
        arrays = [pa.array(values, kind) for values, kind in zip(cells, kinds, strict=True)]
        return pa.table(arrays, [*self.row, "instant", "epoch", "weight"])

    def _inputs(self) -> dict[str, pa.Table]:
        """The relations that legs read."""
        relations: dict[str, pa.Table] = {}
        for name in self.program.streams:
            events = [
                (*triple, instant, epoch, line)
                for epoch, change in enumerate(self.epochs, start=1)
                if isinstance(change, StreamBatch) and change.stream == name
                for line, (triple, instant) in enumerate(change.events)
            ]
            relations[f"all_events_{name}"] = table_of(events, _EVENT)
        if not self.program.reads_graph:
            return relations
        rows: list[tuple[object, ...]] = []
        for epoch, change in enumerate(self.epochs, start=1):
            if isinstance(change, GraphChange):
                rows += [(*triple, epoch, -1) for triple in change.vanish]
                rows += [(*triple, epoch, 1) for triple in change.appear]
        relations["stored_triples"] = table_of(rows, _LOG)
        relations["stored_quads"] = table_of([("", *row) for row in rows], ("graph", *_LOG))
        if self.construct is not None:
            derived = constructed_log(self.construct, self.epochs)
            relations[self.logs[DERIVED.name(GIVER)]] = table_of(derived, _LOG)
        return relations


_EVENT = ("subject", "predicate", "object", "instant", "epoch", "line")
_LOG = ("subject", "predicate", "object", "epoch", "weight")
_NUMBERS = {
    "instant": pa.int64(),
    "epoch": pa.int64(),
    "line": pa.int64(),
    "weight": pa.int32(),
}


def table_of(rows: Sequence[tuple[object, ...]], names: Sequence[str]) -> pa.Table:
    """Rows with the columns `names`; those that are not numbers are texts."""
    return pa.table(
        {
            name: pa.array([row[i] for row in rows], _NUMBERS.get(name, pa.string()))
            for i, name in enumerate(names)
        }
    )


def state(
    log: Sequence[LogRow], epoch: int, instant: int, value: Callable[[str], Value]
) -> Counter[GroundAtom]:
    """The atoms at an instant as known at an epoch; `value` is the constant of a term."""
    total: Counter[GroundAtom] = Counter()
    for known_at, at, weight, (predicate, *terms) in log:
        if known_at <= epoch and at <= instant:
            total[predicate, tuple(map(value, terms))] += weight
    return Counter({atom: weight for atom, weight in total.items() if weight})


def memory_of(
    case: RuleCase, evaluated: Evaluated | None = None, engine: SqlEngine | None = None
) -> ProgramMemory:
    """The memory of a random case."""
    axis, back = case.axis, case.corrects_back
    return ProgramMemory(
        case.checked, case.epochs, axis, back, evaluated, engine=engine, construct=case.construct
    )


@cache
def engine_of_process() -> DuckOfTest:
    """One for all programs: the relations of a leg are forgotten after it."""
    return DuckOfTest(optimized=False)
