"""The shared lookups: the part of the graph that the changes of a range can join with.

All lookups of one hop, of all queries, are answered by one scan of the graph per side. Seeds and
lookups are rows of loaded relations, joined with the changes by the places that have constants: a
hash join for each combination of places. So neither the statements nor the cost per change grow
with the number of queries. The result is a superset of what is needed: it can only cost, never
change, an answer, because a solution with an end in the range uses a changed triple, and from that
triple's pattern all its other triples are reached along shared variables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.relations import Loaded, Statement
from weir.compute.sql import (
    alias,
    any_of,
    column,
    columns,
    inner_join,
    is_null,
    one_of,
    rows_of,
    select,
    subquery,
    text,
    union_all,
)
from weir.engine.graph import POSITIONS
from weir.plan.lookups import Lookup, Position, Seed, Shape

_LOG = (*POSITIONS, "epoch", "weight")
_SIDE = "side"


_CONSTANTS = "constants"
"""The column with the places of a pattern that have constants: `p`, `sp`, ..; empty for none."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop from the changes: its lookups, and statements that make the keys and the rows found
    by them.

    Attributes:
        lookups: the relation of the lookups.
        keys: the statement that makes the terms that they look for.
        relation: the name of that of the rows.
        fetched: the columns of the log that are fetched.
        predicates: those of the lookups, by side; None for any.
    """

    lookups: Loaded
    keys: Statement
    relation: str
    fetched: tuple[str, ...]
    predicates: Mapping[Position, frozenset[str | None]]

    @property
    def sides(self) -> list[Position]:
        """The columns in which keys are looked for."""
        return sorted(self.predicates)

    def wanted(self, side: Position) -> exp.Select:
        """The keys on a side, each with the predicate of its lookup, or null."""
        return select(
            *columns(("key", "predicate")),
            from_=rows_of(self.keys.name),
            where=[column(_SIDE).eq(text(side))],
            distinct=True,
        )

    def rows(self, logs: Mapping[Position, str]) -> Statement:
        """The statement that makes the rows: one scan of each log.

        Args:
            logs: by side, relations with at least the rows of the log that have one of the keys.
        """
        parts = [
            _rows_by(side, logs[side], self.keys.name, self.predicates[side], self.fetched)
            for side in self.sides
        ]
        return Statement(self.relation, union_all(parts), "small")

    def run(self, engine: SqlEngine) -> None:
        """Make the relation of the keys; the caller makes that of the rows if there are keys."""
        engine.load(self.lookups.name, self.lookups.rows)
        engine.make(self.keys)


def hops(
    prefix: str, changes: str, lookups: Sequence[Lookup], fetched: tuple[str, ...] = _LOG
) -> list[Hop]:
    """The statements that answer `lookups`, one hop per distance from the changes, nearest first.

    Args:
        prefix: begins the names of the relations that are made.
        changes: the rows of the log within the range.
        lookups: from `plan.lookups`.
        fetched: the columns of the log that are fetched.
    """
    ids: dict[Lookup | Seed, str] = {lookup: f"l{i}" for i, lookup in enumerate(lookups)}
    made: list[Hop] = []
    for depth in range(1, max((lookup.depth for lookup in lookups), default=0) + 1):
        here = [lookup for lookup in lookups if lookup.depth == depth]
        table = Loaded(f"{prefix}_lookups{depth}", _lookup_table(here, ids))
        if depth == 1:
            key_query = _keys_of_changes(changes, table)
        else:
            key_query = _keys_of_rows(made[-1].relation, table)
        keys = Statement(f"{prefix}_keys{depth}", key_query, "broadcast")
        predicates = {
            side: frozenset(lookup.shape.predicate for lookup in here if lookup.side == side)
            for side in {lookup.side for lookup in here}
        }
        made.append(Hop(table, keys, f"{prefix}_rows{depth}", fetched, predicates))
    return made


def touched_seeds(
    engine: SqlEngine, changes: str, seeds: Sequence[Seed], name: str
) -> frozenset[Seed]:
    """The seeds that have changes.

    Args:
        engine: finds them.
        changes: relation of the log rows of the seeds' scope within the range.
        seeds: which ones are in question.
        name: of the relation of seeds that is loaded.
    """
    if not seeds:
        return frozenset()
    shapes = [(number, shape) for number, seed in enumerate(seeds) for shape in seed.shapes]
    places = [_places(shape) for _, shape in shapes]
    numbers = pa.array([number for number, _ in shapes], pa.int64())
    cells = _texts([_terms(shape) for _, shape in shapes], POSITIONS)
    table = Loaded(name, cells.append_column("seed", numbers).append_column(_CONSTANTS, [places]))
    engine.load(table.name, table.rows)
    touched = _by_constants(changes, table, "", [column("seed", "l")])
    return frozenset(seeds[int(str(number))] for (number,) in engine.rows(touched))


def _terms(shape: Shape) -> tuple[str | None, ...]:
    return (shape.subject, shape.predicate, shape.object)


def _places(shape: Shape) -> str:
    """The initials of the places of `shape` that have constants."""
    terms = zip(POSITIONS, _terms(shape), strict=True)
    return "".join(position[0] for position, term in terms if term is not None)


def _lookup_table(lookups: Sequence[Lookup], ids: dict[Lookup | Seed, str]) -> pa.Table:
    rows = [
        (
            ids[lookup],
            ids.get(lookup.source),
            *_terms(source),
            lookup.source_side,
            lookup.side,
            *_terms(lookup.shape),
            _places(source),
        )
        for lookup in lookups
        for source in lookup.source_shapes
    ]
    names = ("lookup", "source", *(f"source_{p}" for p in POSITIONS), "source_side", _SIDE)
    return _texts(rows, (*names, *POSITIONS, _CONSTANTS))


def _keys_of_changes(changes: str, table: Loaded) -> exp.Query:
    return _by_constants(changes, table, "source_", _key_columns())


def _keys_of_rows(rows: str, table: Loaded) -> exp.Select:
    # The rows of the lookup before have its shape already.
    joined = inner_join(rows_of(table.name, "l"), column("lookup", "c").eq(column("source", "l")))
    return select(*_key_columns(), from_=rows_of(rows, "c"), joins=[joined], distinct=True)


def _key_columns() -> list[exp.Expr]:
    """The terms that lookups `l` look for, from the rows `c` that lead to them."""
    ifs = [exp.If(this=text(position), true=column(position, "c")) for position in POSITIONS]
    # A triple of a ground segment is found by its own subject.
    key = exp.Case(this=column("source_side", "l"), ifs=ifs, default=column("subject", "l"))
    return [*columns(("lookup", _SIDE, *POSITIONS), "l"), alias(key, "key")]


def _by_constants(
    changes: str, table: Loaded, prefix: str, selected: Sequence[exp.Expr]
) -> exp.Query:
    """What is `selected` of each pair of a change `c` and a row `l` of `table` whose constants it
    has, each once; the constants are in the columns `<prefix>subject`, ...
    """
    combinations = sorted({str(places) for places in table.rows[_CONSTANTS].to_pylist()})
    return union_all(
        [
            _with_constants(
                changes, table.name, places, prefix, [expression.copy() for expression in selected]
            )
            for places in combinations
        ]
    )


def _with_constants(
    changes: str, table: str, places: str, prefix: str, selected: Sequence[exp.Expr]
) -> exp.Select:
    """The pairs for the rows of `table` that have constants at `places`: one hash join."""
    own = select("*", from_=rows_of(table), where=[column(_CONSTANTS).eq(text(places))])
    same = [
        column(position, "c").eq(column(prefix + position, "l"))
        for position in POSITIONS
        if position[0] in places
    ]
    return select(
        *selected,
        from_=rows_of(changes, "c"),
        joins=[inner_join(subquery(own, "l"), *same)],
        distinct=True,
    )


def _texts(rows: Sequence[tuple[str | None, ...]], names: Sequence[str]) -> pa.Table:
    """Rows of strings; typed, for a column may be null throughout."""
    cells = [*zip(*rows, strict=True)] if rows else [()] * len(names)
    return pa.table([pa.array(values, pa.string()) for values in cells], list(names))


def _rows_by(
    side: str, log: str, keys: str, predicates: frozenset[str | None], fetched: tuple[str, ...]
) -> exp.Select:
    """The rows of a log of the lookups on `side`: one scan."""
    wanted = select("*", from_=rows_of(keys), where=[column(_SIDE).eq(text(side))])
    matches: list[exp.Expr] = [column(side, "t").eq(column("key", "k"))]
    matches += [
        any_of([is_null(column(p, "k")), column(p, "t").eq(column(p, "k"))])
        for p in POSITIONS
        if p != side
    ]
    known = sorted(predicate for predicate in predicates if predicate is not None)
    return select(
        column("lookup", "k"),
        *columns(fetched, "t"),
        from_=rows_of(log, "t"),
        joins=[inner_join(subquery(wanted, "k"), *matches)],
        # Written out, so that the statistics of the files rule most of them out.
        where=[one_of(column("predicate", "t"), known)] if len(known) == len(predicates) else [],
    )
