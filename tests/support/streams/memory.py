"""Maintain a query over streams in one DuckDB connection, as the maintain stage does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Self

import pyarrow as pa

from tests.support.derived_memory import GIVER
from tests.support.duck import DuckOfTest
from tests.support.generators.basic_cases import Quad, Triple
from tests.support.harness import LOOKED_UP, Memory
from tests.support.streams.cases import StreamCase
from tests.support.streams.histories import Epochs, GraphChange, StreamBatch
from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.engine.fixpoint import make
from weir.engine.graph import DERIVED, QUADS, TRIPLES, log_relation
from weir.engine.windows import Window
from weir.plan.lower import lower
from weir.plan.plan import ANSWER, Plan
from weir.sparql.frontend.translate import translate
from weir.timeline.evaluation import InstantInputs, plan_rows
from weir.timeline.graph_log import GraphLog
from weir.timeline.legs import Leg
from weir.timeline.timeline import StreamHistory, Timeline

StreamRow = tuple[int, int, int, tuple[str | None, ...]]
"""Epoch, instant, weight, the published columns."""


class StreamMemory:
    """Streams, a graph's log and one query's embeddings, in memory.

    A leg whose input is that of an earlier one is not evaluated again.
    """

    def __init__(
        self,
        plan: Plan,
        windows: Mapping[str, Window],
        streams: Mapping[str, str],
        epochs: Epochs,
        corrects_back: int = 0,
        begins: int | None = None,
        construct: str | None = None,
    ) -> None:
        self.begins = begins
        self.construct = construct
        self.evaluated: dict[Hashable, list[tuple[object, ...]]] = {}
        self.plan, self.windows, self.streams = plan, windows, streams
        self.epochs, self.corrects_back = epochs, corrects_back
        self.engine = _Engine(optimized=False)
        self.connection = self.engine.connection
        self._load()
        texts = ", ".join(f"{name} VARCHAR" for name in self.texts)
        self.connection.execute(
            f"CREATE TABLE stored ({texts}, instant BIGINT, epoch BIGINT, weight BIGINT)"
        )

    @classmethod
    def of(cls, case: StreamCase, plan: Plan) -> Self:
        """The memory of a random case."""
        windows, streams, epochs = case.windows, case.streams, case.epochs
        return cls(plan, windows, streams, epochs, case.corrects_back, construct=case.construct)

    @property
    def texts(self) -> list[str]:
        """The columns of text that stored rows have."""
        return ["node", *(f"v{i}" for i in range(self.plan.width))]

    def run(self, after: int, last: int) -> list[Leg]:
        """Process the epochs (after, last]; gives the legs."""
        timeline = self.timeline(last)
        legs = timeline.legs(after, last)
        for leg in legs:
            key = (leg, timeline.origin, timeline.graph_at(leg), tuple(self.stored()))
            if key not in self.evaluated:
                self.evaluated[key] = self.new_rows(timeline, leg)
            self._insert("stored", self.evaluated[key])
        return [*legs]

    def forget(self) -> None:
        """Forget what is stored: the next run is the first."""
        self.connection.execute("DELETE FROM stored")

    def new_rows(self, timeline: Timeline, leg: Leg) -> list[tuple[object, ...]]:
        """The rows that a leg stores."""
        with self.engine.scope():
            for relation, query in self.inputs(leg).items():
                self.engine.bindings.view(relation, query)
            made = self.made(self.engine, timeline, leg)
            return self.connection.execute(f"SELECT * FROM {made}").fetchall()

    def inputs(self, leg: Leg) -> dict[str, str]:
        """The relations that a leg reads beside `stored`, and their rows as queries of DuckDB."""
        inputs = {
            f"events{i}": "SELECT * EXCLUDE (stream) FROM events"
            f" WHERE stream = '{stream}' AND epoch <= {leg.last}"
            for i, stream in enumerate(self.streams.values())
        }
        return inputs | self.graph_inputs

    @property
    def graph_inputs(self) -> dict[str, str]:
        """The relations of the logs of the graph, and their rows as queries of DuckDB."""
        triples = "subject, predicate, object, epoch, weight FROM changes"
        inputs = {
            self.logs[TRIPLES]: f"SELECT {triples}",
            self.logs[QUADS]: f"SELECT '' AS graph, {triples}",
        }
        if self.construct is not None:
            inputs[self.logs[DERIVED.name(GIVER)]] = "SELECT * FROM constructed"
        return inputs

    @property
    def logs(self) -> dict[str, str]:
        """By table, the relation of the log of the graph, or of the derived one."""
        derived = () if self.construct is None else (DERIVED.name(GIVER),)
        return {table: f"stored_{log_relation(table)}" for table in (TRIPLES, QUADS, *derived)}

    def made(self, engine: SqlEngine, timeline: Timeline, leg: Leg) -> str:
        """Make the new rows of a leg; gives their relation.

        Args:
            engine: has the relations of `inputs`, and `stored`.
            timeline: of the query.
            leg: the leg.
        """
        assert timeline.origin is not None, "there is a leg"
        graph = GraphLog(self.logs, self.logs, *timeline.graph_at(leg))
        events = {window: f"events{i}" for i, window in enumerate(self.streams)}
        inputs = InstantInputs(
            engine, leg, timeline.origin, events, self.windows, "stored", "q", LOOKED_UP, graph
        )
        delta = plan_rows(self.plan, inputs)
        for step in (*delta.statements, delta.result):
            make(engine, step)
        return delta.result.name

    def log(self) -> list[StreamRow]:
        """The answer's log, sorted."""
        columns = ", ".join(["epoch", "instant", "weight", *(c for _, c in self.plan.columns)])
        rows = self.connection.execute(
            f"SELECT {columns} FROM stored WHERE node = '{ANSWER}'"
        ).fetchall()
        return sorted(((e, t, w, tuple(row)) for e, t, w, *row in rows), key=repr)

    def stored(self) -> list[tuple[object, ...]]:
        """Every stored row, sorted."""
        return sorted(self.connection.execute("SELECT * FROM stored").fetchall(), key=repr)

    def timeline(self, last: int) -> Timeline:
        """The timeline up to an epoch."""
        return Timeline.of(
            [*self.windows.values()],
            [recorded(self.epochs[:last], name) for name in sorted({*self.streams.values()})],
            graph_changes(self.epochs[:last]),
            self.corrects_back,
            self.begins,
        )

    def _load(self) -> None:
        run = self.connection.execute
        run(
            "CREATE TABLE events (stream VARCHAR, subject VARCHAR, predicate VARCHAR,"
            " object VARCHAR, instant BIGINT, epoch BIGINT, line BIGINT)"
        )
        run(
            "CREATE TABLE changes (subject VARCHAR, predicate VARCHAR, object VARCHAR,"
            " epoch BIGINT, weight INT)"
        )
        events: list[tuple[object, ...]] = []
        triples: list[tuple[object, ...]] = []
        for epoch, change in enumerate(self.epochs, start=1):
            match change:
                case StreamBatch():
                    events += [
                        (change.stream, *triple, instant, epoch, line)
                        for line, (triple, instant) in enumerate(change.events)
                    ]
                case GraphChange():
                    triples += [(*triple, epoch, -1) for triple in change.vanish]
                    triples += [(*triple, epoch, 1) for triple in change.appear]
        self._insert("events", events)
        self._insert("changes", triples)
        if self.construct is not None:
            run(
                "CREATE TABLE constructed (subject VARCHAR, predicate VARCHAR, object VARCHAR,"
                " epoch BIGINT, weight INT)"
            )
            self._insert("constructed", constructed_log(self.construct, self.epochs))

    def _insert(self, table: str, rows: Sequence[tuple[object, ...]]) -> None:
        if not rows:
            return
        names = [f"c{i}" for i in range(len(rows[0]))]
        arrays = [pa.array(values) for values in zip(*rows, strict=True)]
        self.connection.register("loaded", pa.table(arrays, names))
        self.connection.execute(f"INSERT INTO {table} SELECT * FROM loaded")


class _Engine(DuckOfTest):
    """No relation is a view: for few rows, binding it wherever it is read takes longer."""

    def make(self, statement: Statement) -> None:
        """Make a relation, as `DuckEngine` does."""
        super().make(replace(statement, keep="cache"))


def constructed_log(construct: str, epochs: Epochs) -> list[tuple[object, ...]]:
    """The log of the graph that a query gives: `POSITIONS`, epoch, weight."""
    history: list[tuple[frozenset[Quad], frozenset[Quad]]] = []
    for change in epochs:
        vanish, appear = frozenset[Triple](), frozenset[Triple]()
        if isinstance(change, GraphChange):
            vanish, appear = change.vanish, change.appear
        history.append((_unnamed(vanish), _unnamed(appear)))
    giver = Memory(lower(translate(construct, "union"), allow_product=True), history)
    giver.run(0, len(history))
    return [(*row, epoch, weight) for epoch, weight, row in giver.log()]


def _unnamed(triples: Iterable[Triple]) -> frozenset[Quad]:
    return frozenset(("", *triple) for triple in triples)


def recorded(epochs: Epochs, stream: str, starts: int | None = None) -> StreamHistory | None:
    """What ingest recorded of a stream, which begins with its first event unless it is said."""
    frontiers, earliest = [], {}
    for epoch, change in enumerate(epochs, start=1):
        if isinstance(change, StreamBatch) and change.stream == stream:
            frontiers.append((epoch, change.frontier))
            if change.events:
                earliest[epoch] = min(instant for _, instant in change.events)
    if not earliest:
        return None
    first = earliest[min(earliest)] if starts is None else starts
    return StreamHistory(first, frontiers, earliest)


def graph_changes(epochs: Epochs) -> list[tuple[int, int | None]]:
    """(epoch, event time) of the epochs that change the graph."""
    return [
        (epoch, change.event_time)
        for epoch, change in enumerate(epochs, start=1)
        if isinstance(change, GraphChange) and (change.vanish or change.appear)
    ]


def state(log: Sequence[StreamRow], epoch: int, instant: int) -> Counter[tuple[str | None, ...]]:
    """The answer at an instant, as known at an epoch: rows and multiplicities."""
    total: Counter[tuple[str | None, ...]] = Counter()
    for recorded, at, weight, row in log:
        if recorded <= epoch and at <= instant:
            total[row] += weight
    return Counter({row: weight for row, weight in total.items() if weight})
