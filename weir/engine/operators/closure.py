"""Closure: the pairs that one or more steps connect, each for as long as some path holds.

A path of steps holds during the intersection of their intervals, a pair during the union of its
paths' intervals. So the sequenced closure is a fixpoint over intervals, then a sweep:

    reached(x, y, [s, u)) if step(x, y, [s, u))
    reached(x, z, both)   if reached(x, y, i) and step(y, z, j) and both = i meets j

Touched sources are what can reach the source of a changed step over steps that hold at any moment
of the range: the pairs of other sources have no path with an end in it. A deletion is an end like
any other, and a cycle adds no interval that is not there: the ends are finitely many.
https://www.w3.org/TR/sparql11-query/#defn_evalPathOneOrMorePath
"""

from __future__ import annotations

from functools import partial

from sqlglot import exp

from weir.compute.sql import (
    alias,
    all_of,
    cast,
    coalesce,
    column,
    columns,
    greatest,
    inner_join,
    least,
    number,
    rows_of,
    same_row,
    select,
    subquery,
    sum_of,
)
from weir.engine.conditions import value_sql
from weir.engine.fixpoint import Steps
from weir.engine.relations import CHANGE, INTERVAL
from weir.engine.run import Run
from weir.engine.sweep import Key, differentiate, ends, presence
from weir.plan.operators import Closure
from weir.sparql.algebra.expressions import Constant


def delta(node: Closure, run: Run) -> exp.Select:
    """The pairs whose source can reach a changed step."""
    key = (*node.partition, "source", "target")
    pairs = _pairs(node, run)
    # A pair holds as often as it has paths at a time.
    paths = select(*columns((*key, *INTERVAL)), alias(number(1), "weight"), from_=rows_of(pairs))
    held = presence(ends(paths, key), key)
    named = select(
        *columns(node.partition),
        alias(column("source"), node.source),
        alias(column("target"), node.target),
        *columns((*INTERVAL, "weight")),
        from_=subquery(held, "held"),
    )
    return differentiate(named, node.variables, run.epochs)


def _pairs(node: Closure, run: Run) -> str:
    """Make the relation of all paths from touched sources: partition, source, target, interval.

    No set: a pair has a row for each of its paths' intervals.
    """
    part, pair = node.partition, (*node.partition, "source", "target")
    path = (*pair, *INTERVAL)
    name = run.name(node, "pairs")
    steps = run.make(run.name(node, "steps"), run.log(node, node.child), "view")
    if run.epochs.from_nothing and node.start is None:
        # Paths start wherever there is a step.
        edges = run.make(f"{name}_edges", _edges(node, steps))
        start = select(*columns(path), from_=rows_of(edges))
    else:
        touched, reach = _touched(node, run, steps)
        edges = run.make(f"{name}_edges", _edges(node, steps, reach))
        is_source = inner_join(
            subquery(_sources(node, run, touched), "s"),
            *same_row(part, "e", "s"),
            column("source", "e").eq(column("node", "s")),
        )
        start = select(*columns(path, "e"), from_=rows_of(edges, "e"), joins=[is_source])
    longer = partial(_longer, part)
    return run.repeat(name, path, start, Steps(edges, path, longer, partial(_joined, part)), longer)


def _touched(node: Closure, run: Run, steps: str) -> tuple[str, str]:
    """Make the relations of the touched sources, and of what is reached from where paths start."""
    part, name = node.partition, run.name(node, "pairs")
    ever = run.make(f"{name}_ever", _ever(node, steps))
    pairs = Steps(
        ever,
        (*part, "source", "target"),
        lambda first, second: select(
            *columns((*part, "source"), "f"),
            column("target", "e"),
            from_=rows_of(first, "f"),
            joins=[_next(part, "target", rows_of(second, "e"), "source")],
        ),
        partial(_joined, part),
    )
    changed = select(
        *columns(part),
        alias(column(node.source), "node"),
        from_=rows_of(run.stored(node.child)),
        distinct=True,
    )

    def reachable(suffix: str, seed: exp.Query, here: str, there: str) -> str:
        def follow(nodes: str, strides: str) -> exp.Query:
            return select(
                *columns(part, "e"),
                alias(column(there, "e"), "node"),
                from_=rows_of(nodes, "f"),
                joins=[_next(part, "node", rows_of(strides, "e"), here)],
            )

        return run.repeat(f"{name}_{suffix}", (*part, "node"), seed, pairs, follow)

    touched = reachable("touched", changed, "target", "source")
    return touched, reachable("reach", _sources(node, run, touched), "source", "target")


def _ever(node: Closure, steps: str) -> exp.Select:
    """The steps that hold at any moment of the range."""
    return select(
        *columns(node.partition),
        alias(column(node.source), "source"),
        alias(column(node.target), "target"),
        from_=rows_of(steps),
        distinct=True,
    )


def _sources(node: Closure, run: Run, touched: str) -> exp.Select:
    """The touched nodes that a path may start from."""
    names = (*node.partition, "node")
    if node.start is None:
        return select(*columns(names), from_=rows_of(touched))
    start = Constant(node.start)
    rows = run.with_parameters(select(*columns(names), from_=rows_of(touched)), names, start)
    is_start = column("node").eq(value_sql(start, frozenset()))
    return select(*columns(names), from_=subquery(rows, "touched"), where=[is_start])


def _edges(node: Closure, steps: str, reach: str | None = None) -> exp.Select:
    """The steps, or those from what is reached, as a set with intervals."""
    part, key = node.partition, (*node.partition, "source", "target")
    events = select(
        *columns(part, "s"),
        alias(column(node.source, "s"), "source"),
        alias(column(node.target, "s"), "target"),
        *columns(CHANGE, "s"),
        from_=rows_of(steps, "s"),
        joins=[]
        if reach is None
        else [
            inner_join(
                rows_of(reach, "r"),
                *same_row(part, "s", "r"),
                column(node.source, "s").eq(column("node", "r")),
            )
        ],
    )
    return select(*columns((*key, *INTERVAL)), from_=subquery(presence(events, key), "edges"))


def _longer(part: Key, paths: str, edges: str) -> exp.Select:
    """The paths of relation `paths`, each followed by one of relation `edges`."""
    meets = all_of(
        [
            column("since", "f") < column("until", "e"),
            column("since", "e") < column("until", "f"),
        ]
    )
    return select(
        *columns((*part, "source"), "f"),
        column("target", "e"),
        alias(greatest(column("since", "f"), column("since", "e")), "since"),
        alias(least(column("until", "f"), column("until", "e")), "until"),
        from_=rows_of(paths, "f"),
        joins=[_next(part, "target", rows_of(edges, "e"), "source", meets)],
    )


def _next(part: Key, at: str, edges: exp.Expr, here: str, *conditions: exp.Expr) -> exp.Join:
    """The rows `e` that begin where row `f` is: their columns `here` and `at`."""
    return inner_join(
        edges,
        *same_row(part, "f", "e"),
        column(at, "f").eq(column(here, "e")),
        *conditions,
    )


def _joined(part: Key, edges: str) -> exp.Select:
    """The number of pairs of rows of a relation of which one ends where the other begins."""

    def rows_by(end: str) -> exp.Select:
        key = (*part, end)
        rows = alias(cast(exp.Count(this=exp.Star()), exp.DType.DOUBLE), "rows")
        return select(*columns(key), rows, from_=rows_of(edges), group_by=columns(key))

    total = sum_of(column("rows", "f") * column("rows", "e"))
    return select(
        alias(coalesce(total, number(0)), "rows"),
        from_=subquery(rows_by("target"), "f"),
        joins=[_next(part, "target", subquery(rows_by("source"), "e"), "source")],
    )
