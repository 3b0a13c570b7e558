"""The shared lookups: the part of the graph that the changes of a range can join with.

All lookups of one hop, of all queries, are answered by one scan of the graph per side. The lookups
themselves are rows of a small relation, so the statements do not grow with the number of queries.
The result is a superset of what is needed: it can only cost, never change, an answer, because a
solution with an end in the range uses a changed triple, and from that triple's pattern all its
other triples are reached along shared variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from jobs.compute.relations import Statement
from jobs.compute.sql import (
    alias,
    all_of,
    any_of,
    as_text,
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
from jobs.engine.graph import POSITIONS
from jobs.plan.lookups import Lookup, Seed

_LOG = (*POSITIONS, "epoch", "weight")
_SIDE = "side"


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop: statements that make the keys and the rows found by them."""

    keys: Statement
    rows: Statement


def hops(
    prefix: str, log: str, changes: str, lookups: Sequence[Lookup], fetched: tuple[str, ...] = _LOG
) -> list[Hop]:
    """The hops of `lookups`, nearest first; all have the same scope.

    Args:
        prefix: begins the names of the relations that are made.
        log: the graph's log (subject, predicate, object, epoch, weight) up to the last epoch.
        changes: its rows within the range.
        lookups: from `plan.lookups`.
        fetched: the columns of the log that are fetched.
    """
    ids: dict[Lookup | Seed, str] = {lookup: f"l{i}" for i, lookup in enumerate(lookups)}
    made: list[Hop] = []
    for depth in range(1, max((lookup.depth for lookup in lookups), default=0) + 1):
        here = [lookup for lookup in lookups if lookup.depth == depth]
        table = _lookup_table(here, ids)
        if depth == 1:
            found = _keys_of_changes(changes, table)
        else:
            found = _keys_of_rows(made[-1].rows.name, table)
        keys = Statement(f"{prefix}_keys{depth}", found, "broadcast")
        rows = _rows(log, keys.name, here, fetched)
        made.append(Hop(keys, Statement(f"{prefix}_rows{depth}", rows, "small")))
    return made


def touched_shapes(changes: str, seeds: Sequence[Seed]) -> exp.Select:
    """How many changes each seed has: columns `seed` (its index) and `changes`; none, no row."""
    rows = [_described(seed, str(i)) for i, seed in enumerate(seeds)]
    table = _values(rows, ("seed", *POSITIONS), "seeds")
    return select(
        column("seed", "seeds"),
        alias(exp.Count(this=exp.Star(), big_int=True), "changes"),
        from_=rows_of(changes, "c"),
        joins=[inner_join(table, _has_shape("c", "seeds", ""))],
        group_by=[column("seed", "seeds")],
    )


def _described(seed: Seed, name: str) -> tuple[str | None, ...]:
    return (name, seed.shape.subject, seed.shape.predicate, seed.shape.object)


def _lookup_table(lookups: Sequence[Lookup], ids: dict[Lookup | Seed, str]) -> exp.Expr:
    rows: list[tuple[str | None, ...]] = []
    for lookup in lookups:
        source, shape = lookup.source, lookup.shape
        origin = source.shape
        rows.append(
            (
                ids[lookup],
                ids.get(source),
                origin.subject,
                origin.predicate,
                origin.object,
                lookup.source_side,
                lookup.side,
                shape.subject,
                shape.predicate,
                shape.object,
            )
        )
    names = ("lookup", "source", *(f"source_{p}" for p in POSITIONS), "source_side", _SIDE)
    return _values(rows, (*names, *POSITIONS), "l")


def _keys_of_changes(changes: str, table: exp.Expr) -> exp.Select:
    return _keys(changes, table, _has_shape("c", "l", "source_"))


def _keys_of_rows(rows: str, table: exp.Expr) -> exp.Select:
    # The rows of the lookup before have its shape already.
    return _keys(rows, table, column("lookup", "c").eq(column("source", "l")))


def _keys(rows: str, table: exp.Expr, condition: exp.Expr) -> exp.Select:
    """The terms that lookups of `table` look for, from the `rows` that lead to them."""
    ifs = [exp.If(this=text(position), true=column(position, "c")) for position in POSITIONS]
    # A triple of a ground segment is found by its own subject.
    key = exp.Case(this=column("source_side", "l"), ifs=ifs, default=column("subject", "l"))
    return select(
        *columns(("lookup", _SIDE, *POSITIONS), "l"),
        alias(key, "key"),
        from_=rows_of(rows, "c"),
        joins=[inner_join(table, condition)],
        distinct=True,
    )


def _rows(log: str, keys: str, lookups: Sequence[Lookup], fetched: tuple[str, ...]) -> exp.Query:
    sides = sorted({lookup.side for lookup in lookups})
    return union_all([_rows_by(side, log, keys, lookups, fetched) for side in sides])


def _rows_by(
    side: str, log: str, keys: str, lookups: Sequence[Lookup], fetched: tuple[str, ...]
) -> exp.Select:
    """The log rows of the lookups on `side`: one scan."""
    wanted = select("*", from_=rows_of(keys), where=[column(_SIDE).eq(text(side))])
    matches: list[exp.Expr] = [column(side, "t").eq(column("key", "k"))]
    matches += [
        any_of([is_null(column(p, "k")), column(p, "t").eq(column(p, "k"))])
        for p in POSITIONS
        if p != side
    ]
    predicates = {lookup.shape.predicate for lookup in lookups if lookup.side == side}
    known = sorted(predicate for predicate in predicates if predicate is not None)
    return select(
        column("lookup", "k"),
        *columns(fetched, "t"),
        from_=rows_of(log, "t"),
        joins=[inner_join(subquery(wanted, "k"), *matches)],
        # Written out, so that the statistics of the files rule most of them out.
        where=[one_of(column("predicate", "t"), known)] if len(known) == len(predicates) else [],
    )


def _has_shape(row: str, table: str, prefix: str) -> exp.Expr:
    """Whether `row` has the constants in the columns `<prefix>subject`, ... of `table`."""
    return all_of(
        [
            any_of(
                [
                    is_null(column(prefix + p, table)),
                    column(prefix + p, table).eq(column(p, row)),
                ]
            )
            for p in POSITIONS
        ]
    )


def _values(
    rows: Sequence[tuple[str | None, ...]], names: Sequence[str], name: str
) -> exp.Subquery:
    """A relation of string constants; typed, for a column may be null throughout."""
    cells = [
        tuple(as_text(exp.null() if cell is None else text(cell)) for cell in row) for row in rows
    ]
    table = exp.values(cells, alias="rows", columns=list(names))
    return subquery(select(*columns(names), from_=table), name)
