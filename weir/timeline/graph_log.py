"""The log of the graph on the axis of a query over streams: by instant instead of by epoch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    all_of,
    any_of,
    column,
    columns,
    equal,
    inner_join,
    number,
    rows_of,
    select,
    subquery,
    union_all,
)
from weir.engine.graph import graph_columns, log_relation, scope_log, stored_columns
from weir.engine.read_graph import changes_of_merge, changes_relation, read_neighbourhood
from weir.engine.relations import INTERVAL, EpochRange
from weir.engine.sweep import integrate, net
from weir.engine.thresholds import Thresholds
from weir.plan.leaves import Component
from weir.plan.lookups import Lookup, predicates
from weir.plan.scope import Scope


@dataclass(frozen=True, slots=True)
class GraphLog:
    """The logs of the graph and of derived graphs, by epoch.

    Attributes:
        stored: by table, the relation of all rows.
        recent: the same of at least the rows after the epoch `settled`.
        settled: the newest epoch that holds at the beginning of the range.
        times: the instant from which on each later epoch holds.
        begins: by table that has no change before an epoch but the state at it, that epoch.
    """

    stored: Mapping[str, str]
    recent: Mapping[str, str]
    settled: int
    times: tuple[tuple[int, int], ...]
    begins: Mapping[str, int] = field(default_factory=dict)

    def is_change(self, table: str, epoch: exp.Expr, epochs: Iterable[int]) -> exp.Expr:
        """Whether a row of a table is a change of one of some epochs, and not what it begins with.

        Args:
            table: the table.
            epoch: of the row.
            epochs: which.
        """
        is_one = any_of([exp.false(), *(epoch.copy().eq(number(one)) for one in epochs)])
        return all_of([epoch > number(self.begins.get(table, 0)), is_one])

    def on_axis(self, engine: SqlEngine, low: int, origin: int) -> None:
        """Make the relation of each table (`log_relation`), whose column `epoch` has instants.

        Rows of one instant are not netted. What a table begins with holds from the first instant.

        Args:
            engine: makes them.
            low: the instants after it are evaluated.
            origin: the first instant of the query; before it, nothing holds.
        """
        times = "graph_times"
        engine.load(
            times,
            pa.table(
                {
                    "epoch": pa.array([epoch for epoch, _ in self.times], pa.int64()),
                    "instant": pa.array([instant for _, instant in self.times], pa.int64()),
                }
            ),
        )
        for table, relation in self.stored.items():
            *positions, _, _ = stored_columns(table)
            until = max(self.settled, self.begins.get(table, 0))
            # Rows of different epochs stay different: rows that are looked up twice are equal.
            held = column("epoch") + number(low - until) if low >= origin else number(origin)
            settled = select(
                *columns(positions),
                alias(held, "epoch"),
                column("weight"),
                from_=rows_of(relation),
                where=[column("epoch") <= number(until)],
            )
            later = select(
                *columns(positions, "r"),
                alias(column("instant", "t"), "epoch"),
                column("weight", "r"),
                from_=rows_of(self.recent[table], "r"),
                joins=[inner_join(rows_of(times, "t"), *equal(("epoch",), "r", "t"))],
                where=[column("epoch", "r") > number(until)],
            )
            engine.make(Statement(log_relation(table), union_all([settled, later])))


def read_graph(
    engine: SqlEngine,
    components: Sequence[Component],
    lookups: Iterable[Lookup],
    scope: Scope,
    instants: EpochRange,
    thresholds: Thresholds,
    prefix: str,
) -> str:
    """Make the interval relation of what a query needs of the graph; gives its name.

    Args:
        engine: has the relations of `GraphLog.on_axis`.
        components: the segments in `scope`.
        lookups: of the query, in any scope.
        scope: which triples.
        instants: the range.
        thresholds: when to give up looking up.
        prefix: begins the names of the relations that are made.
    """
    known = predicates(components)
    if instants.from_nothing:
        return _whole(engine, scope, instants, known, prefix)
    changes = f"{prefix}_changes"
    _changes(engine, scope, instants, f"{changes}_unnetted", known)
    rows = select("*", from_=rows_of(f"{changes}_unnetted"))
    engine.make(Statement(changes, net(rows, graph_columns(scope)), "small"))
    read = read_neighbourhood(
        engine, components, lookups, changes, scope, instants, thresholds, prefix
    )
    if read.reason_whole is not None:
        return _whole(engine, scope, instants, known, prefix)
    return read.relation


def _changes(
    engine: SqlEngine, scope: Scope, instants: EpochRange, name: str, known: frozenset[str] | None
) -> None:
    """Make the relation of the changes of a scope; of a merge, out of those of its parts."""
    if not scope.is_merge:
        changes_relation(engine, scope, instants, name, known)
        return
    parts = [f"{name}_of{number_}" for number_ in range(len(scope.parts))]
    for part, own in zip(parts, scope.parts, strict=True):
        changes_relation(engine, own, instants, part, known)
    changes_of_merge(engine, scope, instants, name, parts)


def _whole(
    engine: SqlEngine,
    scope: Scope,
    instants: EpochRange,
    known: frozenset[str] | None,
    prefix: str,
) -> str:
    """Several epochs may hold from the same instant on, so the log is integrated."""
    name, triple = f"{prefix}_whole", graph_columns(scope)
    intervals = integrate(scope_log(scope, instants.last, known), triple)
    rows: exp.Query = select(*columns((*triple, *INTERVAL)), from_=subquery(intervals, "intervals"))
    engine.make(Statement(name, rows, "cache"))
    return name
