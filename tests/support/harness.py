"""Maintain a query over a history in one DuckDB connection, as the maintain stage does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

import pyarrow as pa
from sqlglot.expressions import select

from tests.support.duck import DuckOfTest
from tests.support.generators.basic_cases import Quad
from weir.compute.engine import Engine
from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep
from weir.engine.fixpoint import make
from weir.engine.neighbourhood import touched_seeds
from weir.engine.plan_delta import plan_delta
from weir.engine.read_graph import (
    changes_of_merge,
    changes_relation,
    read_neighbourhood,
    read_whole,
)
from weir.engine.relations import EpochRange, Inputs
from weir.engine.thresholds import Thresholds
from weir.plan.leaves import Component
from weir.plan.lookups import Lookup, Seed, by_scope, seeds
from weir.plan.plan import ANSWER, Plan
from weir.plan.scope import Scope
from weir.rdf.reserved_graphs import is_reserved

History = Sequence[tuple[frozenset[Quad], frozenset[Quad]]]
LogRow = tuple[int, int, tuple[str | None, ...]]
"""Epoch, weight, the published columns."""

LOOKED_UP = Thresholds(1, bulk_share=1e9, bulk_quads=0, neighbourhood_rows=10**9, small_rows=10**9)
WHOLE = Thresholds(0, bulk_share=0, bulk_quads=1, neighbourhood_rows=-1, small_rows=0)


class Memory:
    """A graph's log and one query's embeddings, in memory.

    Without `optimized`, DuckDB's optimizer is off, which is faster for few rows; comparing with an
    optimized run also tests the optimizer.
    """

    def __init__(self, plan: Plan, history: History, *, optimized: bool = True) -> None:
        self.plan = plan
        self.engine = DuckOfTest(optimized=optimized)
        self.connection = self.engine.connection
        self._load(history)
        texts = ", ".join(f"{name} VARCHAR" for name in self.texts)
        self.connection.execute(f"CREATE TABLE stored ({texts}, epoch BIGINT, weight BIGINT)")

    @property
    def tables(self) -> tuple[str, ...]:
        """The relations that statements read."""
        return ("quads", "triples", "stored")

    @property
    def texts(self) -> list[str]:
        """The columns of text that stored rows have."""
        return ["node", *(f"v{i}" for i in range(self.plan.width))]

    @property
    def components(self) -> Sequence[Component]:
        """The segments that say which part of the graph is read."""
        return self.plan.components

    @property
    def lookups(self) -> Sequence[Lookup]:
        """What changes lead to in the graph."""
        return self.plan.lookups

    def _load(self, history: History) -> None:
        self.connection.execute(
            "CREATE TABLE quads (graph VARCHAR, subject VARCHAR, predicate VARCHAR, "
            "object VARCHAR, epoch BIGINT, weight INT)"
        )
        self.connection.execute(
            "CREATE TABLE triples (subject VARCHAR, predicate VARCHAR, object VARCHAR, "
            "epoch BIGINT, weight INT)"
        )
        quads, triples = [], []
        holders: Counter[tuple[str, str, str]] = Counter()
        for epoch, (vanish, appear) in enumerate(history, start=1):
            before = set(+holders)
            for graph, s, p, o in vanish:
                quads.append((graph, s, p, o, epoch, -1))
                holders[s, p, o] -= not is_reserved(graph)
            for graph, s, p, o in appear:
                quads.append((graph, s, p, o, epoch, 1))
                holders[s, p, o] += not is_reserved(graph)
            after = set(+holders)
            triples += [(*triple, epoch, -1) for triple in before - after]
            triples += [(*triple, epoch, 1) for triple in after - before]
        for table, rows in (("quads", quads), ("triples", triples)):
            if rows:
                names = [f"c{i}" for i in range(len(rows[0]))]
                columns = [pa.array(values) for values in zip(*rows, strict=True)]
                self.connection.register("loaded", pa.table(columns, names))
                self.connection.execute(f"INSERT INTO {table} SELECT * FROM loaded")

    def run(
        self, after: int, last: int, *, thresholds: Thresholds = LOOKED_UP, initial: bool = False
    ) -> None:
        """Process the epochs (after, last]; with `initial`, the first one as a state."""
        with self.running(after, last, thresholds=thresholds, initial=initial):
            pass

    @contextmanager
    def running(
        self, after: int, last: int, *, thresholds: Thresholds = LOOKED_UP, initial: bool = False
    ) -> Iterator[None]:
        """Process some epochs; within the block the relations of the run are there."""
        with self.engine.scope():
            made = self.made(self.engine, after, last, thresholds, initial=initial)
            self.connection.execute(f"INSERT INTO stored SELECT * FROM {made}")
            yield

    def new_rows(self, after: int, last: int) -> list[tuple[object, ...]]:
        """The rows that a run over (after, last] would store."""
        with self.engine.scope():
            made = self.made(self.engine, after, last, LOOKED_UP, initial=False)
            return self.connection.execute(f"SELECT * FROM {made}").fetchall()

    def made(
        self,
        engine: DuckOfTest | Engine,
        after: int,
        last: int,
        thresholds: Thresholds,
        *,
        initial: bool,
    ) -> str:
        """The relation of an engine that has the new rows of all stored nodes."""
        epochs = EpochRange(after, last, from_nothing=initial or after == 0)
        graphs = {}
        touched: set[Seed] | None = None if initial else set()
        # As in production: rows of a whole graph may be many.
        keep: Keep = "cache" if initial else "small"
        for i, (scope, parts) in enumerate(by_scope(self.components).items()):
            prefix = f"scope{i}"
            if initial:
                read = read_whole(engine, scope, epochs, prefix, reason="initial")
            else:
                _changes(engine, scope, epochs, f"{prefix}_changes")
                own = seeds(parts)
                assert touched is not None
                touched |= touched_seeds(engine, f"{prefix}_changes", own, f"{prefix}_seeds")
                read = read_neighbourhood(
                    engine,
                    parts,
                    self.lookups,
                    f"{prefix}_changes",
                    scope,
                    epochs,
                    thresholds,
                    prefix,
                    frozenset(touched),
                )
                keep = "cache" if read.keep == "cache" else keep
            graphs[scope] = read.relation
        # Of a plan of many parts, statements are made while others are planned.
        at_once = engine if after % 2 else None
        inputs = self.inputs(graphs, touched)
        delta = plan_delta(self.plan, epochs, inputs, "q", keep, at_once)
        for statement in (*delta.statements, delta.result):
            make(engine, statement)
        return delta.result.name

    def inputs(self, graphs: dict[Scope, str], touched: Collection[Seed] | None) -> Inputs:
        """What the plan reads, given the graph of each scope, and the patterns with changes."""
        return Inputs(graphs, "stored", None, None if touched is None else frozenset(touched))

    def log(self, node: str = ANSWER) -> list[LogRow]:
        """The log of the answer, or all columns of that of another node, sorted."""
        columns = [column for _, column in self.plan.columns]
        if node != ANSWER:
            columns = [f"v{i}" for i in range(self.plan.width)]
        query = select("epoch", "weight", *columns).from_("stored").where(f"node = '{node}'")
        rows = self.connection.execute(query.sql(dialect="duckdb")).fetchall()
        return sorted(((e, w, tuple(row)) for e, w, *row in rows), key=repr)

    def stored(self) -> list[tuple[object, ...]]:
        """Every stored row, sorted."""
        return sorted(self.connection.execute("SELECT * FROM stored").fetchall(), key=repr)


def _changes(engine: SqlEngine, scope: Scope, epochs: EpochRange, name: str) -> None:
    """Make the relation of the changes of a scope; of a merge as maintain does, from its parts."""
    if not scope.is_merge or scope.each:
        changes_relation(engine, scope, epochs, name)
        return
    parts = [f"{name}_part{i}" for i, _ in enumerate(scope.parts)]
    for part, of_part in zip(parts, scope.parts, strict=True):
        changes_relation(engine, of_part, epochs, part)
    changes_of_merge(engine, scope, epochs, name, parts)


def state(log: Iterable[LogRow], epoch: int) -> Counter[tuple[str | None, ...]]:
    """The answer at an epoch: rows and multiplicities."""
    total: Counter[tuple[str | None, ...]] = Counter()
    for at, weight, row in log:
        if at <= epoch:
            total[row] += weight
    return Counter({row: weight for row, weight in total.items() if weight})


def run_in_cuts(memory: Memory, last: int, cuts: Sequence[int], **options: object) -> Memory:
    """Run the epochs up to `last`, one run up to each cut."""
    after = 0
    for cut in (*cuts, last):
        if cut > after:
            memory.run(after, cut, **options)  # type: ignore[arg-type]
            after = cut
    return memory
