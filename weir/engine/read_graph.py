"""Make the interval relation of the graph for a range: its neighbourhood, or all of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Keep, Statement
from weir.compute.relations import Lookup as RowsLookup
from weir.compute.sql import (
    column,
    columns,
    equal,
    inner_join,
    rows_of,
    select,
    semi_join,
    subquery,
    union_all,
)
from weir.engine.graph import (
    POSITIONS,
    QUADS,
    TRIPLES,
    changes_in,
    log_columns,
    restricted_graph,
    scope_log,
    stored_columns,
    stored_logs,
    whole_graph,
)
from weir.engine.neighbourhood import Hop, hops
from weir.engine.relations import EpochRange
from weir.engine.thresholds import Thresholds, reason_for_whole
from weir.plan.leaves import Component
from weir.plan.lookups import Lookup, Position, Seed, needed, predicates
from weir.plan.scope import Scope

if TYPE_CHECKING:
    from weir.compute.engine import Engine


@dataclass(frozen=True, slots=True)
class GraphRead:
    """What was read of the graph for a range of epochs.

    Attributes:
        relation: the name of its interval relation.
        reason_whole: why it is the whole graph; None if it is the neighbourhood of the changes.
        looked_up: how many rows were looked up, also if the whole graph was read after all.
        keep: how relations as large as this one are stored.
    """

    relation: str
    reason_whole: str | None
    looked_up: int
    keep: Keep


def read_neighbourhood(
    engine: SqlEngine,
    components: Sequence[Component],
    lookups: Iterable[Lookup],
    changes: str,
    scope: Scope,
    epochs: EpochRange,
    thresholds: Thresholds,
    prefix: str,
    touched: frozenset[Seed] | None = None,
) -> GraphRead:
    """The part of the graph that `changes` can join with, or the whole if that is large.

    Args:
        engine: runs the statements.
        components: the touched segments of all queries of the group, all in `scope`.
        lookups: of these queries, in any scope.
        changes: relation of the log rows of the scope within `epochs`.
        scope: which triples.
        epochs: the range.
        thresholds: when to give up looking up.
        prefix: begins the names of the relations that are made.
        touched: the patterns that have changes, where that is known.
    """
    known, whole = predicates(components), f"{prefix}_whole"
    count = engine.count(changes)
    if reason := reason_for_whole(count, thresholds):
        return read_whole(engine, scope, epochs, whole, known, reason=reason)
    log = _ScopeLog(engine, scope, epochs.last, known, prefix)
    fetched: list[str] = []
    rows = 0
    for hop in hops(prefix, changes, needed(lookups, scope, touched), log_columns(scope)):
        hop.run(engine)
        if engine.count(hop.keys.name) == 0:
            break
        engine.make(hop.rows({side: log.looked_up(hop, side) for side in hop.sides}))
        rows += engine.count(hop.relation)
        if rows > thresholds.neighbourhood_rows:
            reason = (
                f"the neighbourhood of {count} changes has more than "
                f"neighbourhood_rows = {thresholds.neighbourhood_rows} rows"
            )
            read = read_whole(engine, scope, epochs, whole, known, reason=reason)
            return replace(read, looked_up=rows)
        fetched.append(hop.relation)
    keep: Keep = "small" if count + rows <= thresholds.small_rows else "cache"
    graph = neighbourhood_graph(scope, prefix, fetched, changes, epochs, keep)
    engine.make(graph)
    return GraphRead(graph.name, None, rows, keep)


@dataclass(slots=True)
class _ScopeLog:
    """The log of a scope up to an epoch, of which rows are looked up by an index or by a scan."""

    engine: SqlEngine
    scope: Scope
    last: int
    known: frozenset[str] | None
    prefix: str
    _whole: str | None = None

    def looked_up(self, hop: Hop, side: Position) -> str:
        """The relation in which the keys of a hop on one side are looked for."""
        if side != "predicate":
            name, key = f"{hop.relation}_{side}", (side, "predicate")
            rows = looked_up(self.engine, self.scope, name, key, hop.wanted(side))
            if rows != stored_logs(self.scope):
                return self._log(f"{name}_log", rows)
        if self._whole is None:
            self._whole = self._log(f"{self.prefix}_log", stored_logs(self.scope))
        return self._whole

    def _log(self, name: str, stored: Mapping[str, str]) -> str:
        self.engine.make(Statement(name, scope_log(self.scope, self.last, self.known, stored)))
        return name


def looked_up(
    engine: SqlEngine, scope: Scope, name: str, key: tuple[str, ...], wanted: exp.Query
) -> Mapping[str, str]:
    """By table of `stored_logs`, rows with wanted values by its index, or all that it has.

    Of a merge they are always only these: what is wanted may be little, and all of it is swept.

    Args:
        engine: knows the relations.
        scope: which triples.
        name: begins the names of the relations that are made.
        key: the columns of the values.
        wanted: rows of the values; a null in the last column stands for any.
    """
    rows = {}
    for table, whole in stored_logs(scope).items():
        some = f"{name}_{whole}"
        lookup = RowsLookup(some, table, key, wanted.copy(), null_is_any=True, whole=whole)
        rows[table] = some
        if engine.look_up(lookup):
            continue
        if not scope.is_merge:
            rows[table] = whole
            continue
        first, *_ = wanted.named_selects
        has_one = column(key[0], "t").eq(column(first, "k"))
        joined = semi_join(subquery(wanted.copy(), "k"), has_one)
        own = columns(stored_columns(table), "t")
        engine.make(Statement(some, select(*own, from_=rows_of(whole, "t"), joins=[joined])))
    return rows


def neighbourhood_graph(
    scope: Scope,
    prefix: str,
    fetched: list[str],
    changes: str,
    epochs: EpochRange,
    keep: Keep = "small",
) -> Statement:
    """The statement that makes the interval relation of what was fetched."""
    return restricted_graph(scope, f"{prefix}_graph", fetched, changes, epochs, keep)


def read_whole(
    engine: SqlEngine,
    scope: Scope,
    epochs: EpochRange,
    prefix: str,
    known: frozenset[str] | None = None,
    *,
    reason: str,
) -> GraphRead:
    """The whole graph, or its triples with the predicates `known`."""
    log, name = f"{prefix}_log", f"{prefix}_graph"
    engine.make(Statement(log, scope_log(scope, epochs.last, known)))
    for statement in whole_graph(scope, name, log, epochs):
        engine.make(statement)
    return GraphRead(name, reason, 0, "cache")


def changes_relation(
    engine: SqlEngine,
    scope: Scope,
    epochs: EpochRange,
    name: str,
    known: frozenset[str] | None = None,
    keep: Keep = "small",
) -> None:
    """Make the relation of a scope's changes by reading its log (where no change feed is read).

    Those of the predicates `known`, if that is given.
    """
    log = subquery(scope_log(scope, epochs.last, known), "log")
    engine.make(Statement(f"{name}_log", select("*", from_=log)))
    engine.make(Statement(name, changes_in(scope, f"{name}_log", epochs), keep))


def changes_of_merge(
    engine: SqlEngine,
    scope: Scope,
    epochs: EpochRange,
    name: str,
    parts: Sequence[str],
    keep: Keep = "small",
) -> None:
    """Make the relation of the changes of a merge, of which those of its parts are known.

    A triple that comes to one part is no change while another one has it: of the triples that
    changed in any part, the log is read.

    Args:
        engine: makes it.
        scope: merges graphs.
        epochs: the range.
        name: of the relation.
        parts: relations with the log rows of the parts within the range.
        keep: how the rows are stored.
    """
    touched, triple = f"{name}_touched", columns(POSITIONS)
    rows = union_all([select(*columns(POSITIONS), from_=rows_of(part)) for part in parts])
    distinct = select(*triple, from_=subquery(rows, "changed"), distinct=True)
    engine.make(Statement(touched, distinct, keep))
    wanted = select(*columns(("subject", "predicate")), from_=rows_of(touched), distinct=True)
    stored = looked_up(engine, scope, f"{name}_of", ("subject", "predicate"), wanted)
    narrowed = {}
    for table, relation in stored.items():
        narrowed[table] = f"{name}_in_{relation}"
        joined = inner_join(rows_of(touched, "c"), *equal(POSITIONS, "t", "c"))
        names = columns(stored_columns(table), "t")
        own = select(*names, from_=rows_of(relation, "t"), joins=[joined])
        engine.make(Statement(narrowed[table], own, keep))
    log = subquery(scope_log(scope, epochs.last, None, narrowed), "log")
    engine.make(Statement(f"{name}_log", select("*", from_=log)))
    engine.make(Statement(name, changes_in(scope, f"{name}_log", epochs), keep))


def open_graph(engine: Engine, scopes: Iterable[Scope]) -> Mapping[str, str]:
    """Name the stored logs of some scopes, and those of the graph; gives the names by table."""
    logs: dict[str, str] = {QUADS: QUADS, TRIPLES: TRIPLES}
    for scope in scopes:
        if scope.window is None:
            logs |= stored_logs(scope)
    for table, relation in logs.items():
        engine.open(relation, table)
    return logs
