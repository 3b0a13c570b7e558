"""A whole match of a row: its triples are followed from those that changed, term by term.

Around the changes, the engine has of other parts of a query what these have stored, and not the
triples that it came from. So the triples of the graph are looked up that share a term with the row
or the changes, then those that share one with these, and so on, until the row is in the answer over
them alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Lookup, Statement
from weir.compute.sql import (
    any_of,
    column,
    columns,
    inner_join,
    is_null,
    number,
    rows_of,
    select,
    subquery,
    sum_of,
    union_all,
)
from weir.engine.graph import graph_columns, scope_log, stored_logs
from weir.engine.relations import FOREVER, INTERVAL
from weir.plan.lookups import by_scope, predicates
from weir.plan.scope import Scope
from weir.sparql.algebra.expressions import Constant
from weir.sparql.algebra.patterns import TriplePattern
from weir.why.explanation import MOST_NAMED, Event, Part, Row, Triple
from weir.why.fewest import Needed, fewest
from weir.why.worlds import Worlds

_SIDES = ("subject", "object")
_MOST_HOPS = 6
"""Triples that are further away from the changes are not looked up."""
_MOST_ROWS = 2_000
"""More triples than so many are not looked up in a hop."""


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """The log of the graph, to look triples up in.

    Attributes:
        logs: the relations with all rows of `triples` and `quads`.
        scans: whether the logs may be read as a whole where they have no index.
    """

    logs: Mapping[str, str]
    scans: bool


@dataclass(slots=True)
class WholeMatch:
    """Looks for the triples and events that a row comes from.

    Attributes:
        worlds: evaluates the query.
        graph: the log of the graph.
        epoch: that the state of the graph is of.
        row: that is in the answer.
        events: of each scope that is a window, the events that are in it.
    """

    worlds: Worlds
    graph: StoredGraph
    epoch: int
    row: Row
    events: Mapping[Scope, Sequence[Event]]
    _rows: dict[Scope, dict[tuple[str, ...], None]] = field(default_factory=dict)

    def parts(self, first: Sequence[Part]) -> Needed[Part] | None:
        """The fewest parts by which the row is in the answer; None if they are not found.

        Args:
            first: parts that probably are among them.
        """
        patterns = {
            scope: [pattern for part in parts for pattern in part.patterns]
            for scope, parts in by_scope(self.worlds.body.components).items()
            if scope.window is None
        }
        self._rows = {scope: {} for scope in patterns}
        known = {triple_of(part) for part in first}
        terms = {cell for cell in self.row if cell is not None}
        terms |= {term for triple in known for term in (triple[0], triple[2])}
        terms |= {
            pattern.subject.term
            for own in patterns.values()
            for pattern in own
            if isinstance(pattern.subject, Constant)
        }
        seen: set[str] = set()
        for _ in range(_MOST_HOPS):
            new = terms - seen
            if not new:
                break
            seen |= new
            looked_up = {
                scope: self._looked_up(scope, own, new, f"why_hop{i}")
                for i, (scope, own) in enumerate(patterns.items())
            }
            terms |= {term for rows in looked_up.values() for row in rows for term in row[-3::2]}
            parts = self._fewest(first) if self._add(looked_up) else None
            if parts is not None:
                return parts
        if not self.graph.scans:
            return None
        # What shares no term with the changes, as in a count of everything.
        added = self._add({scope: self._all(scope) for scope in patterns})
        return self._fewest(first) if added else None

    def _fewest(self, first: Sequence[Part]) -> Needed[Part] | None:
        """The fewest of the parts that are known by now, by which the row is in the answer."""
        return fewest(self._steps(first), self._there_after, MOST_NAMED)

    def _add(self, rows: Mapping[Scope, Iterable[tuple[str, ...]]]) -> bool:
        """Add triples of scopes; says whether there was a new one, or if there is no scope."""
        before = sum(map(len, self._rows.values()))
        for scope, own in rows.items():
            self._rows[scope] |= dict.fromkeys(own)
        return not before or before < sum(map(len, self._rows.values()))

    def _steps(self, first: Sequence[Part]) -> Sequence[Part]:
        there: dict[Part, None] = {}
        for events in self.events.values():
            there |= dict.fromkeys(events)
        for rows in self._rows.values():
            there |= dict.fromkeys((row[-3], row[-2], row[-1]) for row in rows)
        order = dict.fromkeys(part for part in first if part in there)
        return [*(order | there)]

    def _there_after(self, steps: Sequence[Part]) -> int | None:
        """After how many of the steps the row is in the answer over them; None if it is not."""
        turns = {step: nth for nth, step in enumerate(steps, start=1)}

        def histories(engine: SqlEngine) -> Mapping[Scope, exp.Query]:
            return {
                scope: _history(engine, scope, self._pieces(scope, turns), f"why_piece{i}")
                for i, scope in enumerate(by_scope(self.worlds.body.components))
            }

        totals = self.worlds.totals(self.row, histories, 1 + len(steps), None)
        return next((n for n in range(len(steps) + 1) if totals.value(1 + n) > 0), None)

    def _pieces(self, scope: Scope, turns: Mapping[Part, int]) -> Mapping[tuple[str, ...], int]:
        """The triples of a scope, with the first step that has each."""
        pieces: dict[tuple[str, ...], int] = {}
        if scope in self.events:
            for event in self.events[scope]:
                if event in turns:
                    nth = turns[event]
                    pieces[event.triple] = min(pieces.get(event.triple, nth), nth)
            return pieces
        for row in self._rows[scope]:
            triple: Triple = (row[-3], row[-2], row[-1])
            if triple in turns:
                pieces[row] = turns[triple]
        return pieces

    def _looked_up(
        self, scope: Scope, patterns: Sequence[TriplePattern], terms: Iterable[str], prefix: str
    ) -> Sequence[tuple[str, ...]]:
        """The triples of a scope that have one of some terms where a pattern has a variable."""
        terms = sorted(terms)
        with self.worlds.engine.scope() as engine:
            parts: list[exp.Query] = []
            for side in _SIDES:
                wanted = {
                    (term, predicate) for predicate in _predicates(patterns, side) for term in terms
                }
                if not wanted:
                    continue
                keys, rows = f"{prefix}_{side}", dict[str, str]()
                engine.load(keys, _keys_table(wanted))
                for log, whole in self._logs(scope).items():
                    name, key = f"{keys}_{whole}", (side, "predicate")
                    query = select(*columns(("key", "predicate")), from_=rows_of(keys))
                    if engine.look_up(Lookup(name, log, key, query, null_is_any=True)):
                        rows[log] = name
                    elif self.graph.scans:
                        rows[log] = name
                        engine.make(Statement(name, _scanned(whole, keys, side), "cache"))
                if rows:
                    log_of_rows = scope_log(scope, self.epoch, None, rows)
                    parts.append(select("*", from_=subquery(log_of_rows, "log")))
            return self._held(engine, scope, parts) if parts else []

    def _all(self, scope: Scope) -> Sequence[tuple[str, ...]]:
        """The triples of a scope that patterns may match, of a small graph; not too many."""
        own = by_scope(self.worlds.body.components)[scope]
        log = scope_log(scope, self.epoch, predicates(own), self._logs(scope))
        return self._held(self.worlds.engine, scope, [log])

    def _logs(self, scope: Scope) -> Mapping[str, str]:
        """By table, the relations with all rows of a scope."""
        logs = self.graph.logs
        return {table: logs.get(table, whole) for table, whole in stored_logs(scope).items()}

    def _held(
        self, engine: SqlEngine, scope: Scope, logs: Sequence[exp.Query]
    ) -> Sequence[tuple[str, ...]]:
        """The triples that hold by some rows of the log of a scope, each row once."""
        names = graph_columns(scope)
        unique = select(
            *columns((*names, "epoch", "weight")),
            from_=subquery(union_all(logs), "logs"),
            distinct=True,
        )
        held = select(
            *columns(names),
            from_=subquery(unique, "log"),
            group_by=columns(names),
            having=sum_of(column("weight")) > number(0),
            limit=_MOST_ROWS,
        )
        ordered = held.order_by(*columns(names))
        return [tuple(map(str, row)) for row in engine.rows(ordered)]


def triple_of(part: Part) -> Triple:
    """The triple of a part of a match."""
    return part.triple if isinstance(part, Event) else part


def _predicates(patterns: Sequence[TriplePattern], side: str) -> set[str | None]:
    """The predicates of the patterns that have a variable on a side; None for any."""
    predicates: set[str | None] = set()
    for pattern in patterns:
        if not isinstance(getattr(pattern, side), Constant) or side == "subject":
            own = pattern.predicate
            predicates.add(own.term if isinstance(own, Constant) else None)
    return predicates


def _keys_table(wanted: Iterable[tuple[str, str | None]]) -> pa.Table:
    rows = sorted(wanted, key=lambda row: (row[0], row[1] or ""))
    cells = [pa.array([row[i] for row in rows], pa.string()) for i in range(2)]
    return pa.table(cells, ["key", "predicate"])


def _scanned(log: str, keys: str, side: str) -> exp.Select:
    """The rows of a log that have one of some keys on a side."""
    is_any = any_of(
        [is_null(column("predicate", "k")), column("predicate", "l").eq(column("predicate", "k"))]
    )
    return select(
        exp.Column(this=exp.Star(), table=exp.to_identifier("l")),
        from_=rows_of(log, "l"),
        joins=[inner_join(rows_of(keys, "k"), column(side, "l").eq(column("key", "k")), is_any)],
        distinct=True,
    )


def _history(
    engine: SqlEngine, scope: Scope, pieces: Mapping[tuple[str, ...], int], name: str
) -> exp.Query:
    """The intervals of triples from the position on at which each comes."""
    names = graph_columns(scope)
    cells = [pa.array([row[i] for row in pieces], pa.string()) for i in range(len(names))]
    since = pa.array([1 + nth for nth in pieces.values()], pa.int64())
    until = pa.array([FOREVER] * len(pieces), pa.int64())
    engine.load(name, pa.table([*cells, since, until], [*names, *INTERVAL]))
    return select(*columns((*names, *INTERVAL)), from_=rows_of(name))
