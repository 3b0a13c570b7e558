"""The changes of the graph that rows may come from: which relations have them, and their quads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Statement
from weir.compute.sql import (
    alias,
    column,
    columns,
    equal,
    inner_join,
    rows_of,
    select,
    subquery,
    text,
    union_all,
)
from weir.engine.graph import (
    POSITIONS,
    QUADS,
    TRIPLES,
    graphs_of,
    is_unreserved,
    log_relation,
    shown_columns,
    stored_columns,
    stored_logs,
)
from weir.plan.scope import Scope
from weir.timeline.graph_log import GraphLog
from weir.why.explanation import Change, Triple


def newest(relation: str) -> str:
    """The name of the relation of the rows of a log that are changes."""
    return f"why_{relation}"


def make_newest(engine: SqlEngine, log: GraphLog, epochs: Sequence[int]) -> None:
    """Make the relations of the changes of some epochs (`newest`)."""
    for table, recent in log.recent.items():
        own = columns(stored_columns(table))
        where = log.is_change(table, column("epoch"), epochs)
        rows = select(*own, from_=rows_of(recent), where=[where])
        engine.make(Statement(newest(log_relation(table)), rows))


def changed_triples(scope: Scope) -> exp.Query:
    """The triples of a scope that changes have (`newest`), with the graph of each.

    Columns: graph, `POSITIONS`, epoch, weight. Of a derived graph, `graph` is the name of its
    table.
    """
    return union_all([*_changed_quads(scope)])


def quads_of(
    engine: SqlEngine, scopes: Iterable[Scope], triples: Sequence[Triple]
) -> Sequence[Change]:
    """The quads of the changes that have one of some triples, in graphs that are read."""
    changes: set[Change] = set()
    if not triples:
        return []
    with engine.scope() as own:
        own.load("why_named", triples_table(triples))
        for scope in scopes:
            named = select(
                *columns(("graph", *POSITIONS, "weight", "epoch"), "q"),
                from_=subquery(changed_triples(scope), "q"),
                joins=[inner_join(rows_of("why_named", "s"), *equal(POSITIONS, "q", "s"))],
            )
            changes |= {
                Change(str(name), (str(s), str(p), str(o)), int(str(weight)), int(str(epoch)))
                for name, s, p, o, weight, epoch in own.rows(named)
            }
    return sorted(changes, key=lambda change: (change.triple, change.graph, change.epoch))


def triples_table(triples: Sequence[Triple]) -> pa.Table:
    """A relation of triples: `POSITIONS`."""
    cells = [pa.array([triple[i] for triple in triples], pa.string()) for i in range(3)]
    return pa.table(cells, [*POSITIONS])


def _changed_quads(scope: Scope) -> Iterator[exp.Query]:
    log = columns((*POSITIONS, "epoch", "weight"))
    for table, relation in stored_logs(scope).items():
        if table in (QUADS, TRIPLES):
            graph = shown_columns(scope)[0] if scope.each else column("graph")
            changed, name = rows_of(newest(QUADS)), graph.unalias()
            where = [is_unreserved() if scope.has_union else graphs_of(scope)]
        else:
            changed, name, where = rows_of(newest(relation)), text(table), []
        yield select(alias(name, "graph"), *log, from_=changed, where=where)
