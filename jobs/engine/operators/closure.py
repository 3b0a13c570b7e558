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

from jobs.compute.sql import (
    alias,
    all_of,
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
)
from jobs.engine.conditions import value_sql
from jobs.engine.relations import CHANGE, INTERVAL
from jobs.engine.run import Run
from jobs.engine.sweep import Key, differentiate, ends, presence
from jobs.plan.operators import Closure
from jobs.sparql.algebra.expressions import Constant


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
    part, key = node.partition, (*node.partition, "source", "target")
    found_in = (*part, "node")

    def name(suffix: str) -> str:
        return run.name(node, f"pairs_{suffix}")

    changes = run.stored(node.child)
    steps = run.make(run.name(node, "steps"), run.log(node, node.child), "view")
    ever = run.make(name("ever"), _ever(node, steps))
    changed = select(
        *columns(part), alias(column(node.source), "node"), from_=rows_of(changes), distinct=True
    )
    touched = run.repeat(
        name("touched"),
        found_in,
        changed,
        lambda found: _neighbours(part, found, ever, "target", "source"),
    )
    reach = run.repeat(
        name("reach"),
        found_in,
        _sources(node, run, touched),
        lambda found: _neighbours(part, found, ever, "source", "target"),
    )
    edges = run.make(name("edges"), _edges(node, steps, reach))
    start = select(
        *columns((*key, *INTERVAL), "e"),
        from_=rows_of(edges, "e"),
        joins=[
            inner_join(
                subquery(_sources(node, run, touched), "s"),
                *same_row(part, "e", "s"),
                column("source", "e").eq(column("node", "s")),
            )
        ],
    )
    # From nothing, paths start wherever there is a step, and so are made of paths.
    is_whole = run.epochs.from_nothing and node.start is None
    return run.repeat(
        run.name(node, "pairs"),
        (*key, *INTERVAL),
        start,
        lambda paths: _longer(part, paths, edges),
        partial(_longer, part) if is_whole else None,
    )


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


def _neighbours(part: Key, found: str, ever: str, here: str, there: str) -> exp.Select:
    return select(
        *columns(part, "e"),
        alias(column(there, "e"), "node"),
        from_=rows_of(found, "f"),
        joins=[
            inner_join(
                rows_of(ever, "e"),
                *same_row(part, "f", "e"),
                column("node", "f").eq(column(here, "e")),
            )
        ],
    )


def _edges(node: Closure, steps: str, reach: str) -> exp.Select:
    """The steps from what is reached, as a set with intervals."""
    part, key = node.partition, (*node.partition, "source", "target")
    events = select(
        *columns(part, "s"),
        alias(column(node.source, "s"), "source"),
        alias(column(node.target, "s"), "target"),
        *columns(CHANGE, "s"),
        from_=rows_of(steps, "s"),
        joins=[
            inner_join(
                rows_of(reach, "r"),
                *same_row(part, "s", "r"),
                column(node.source, "s").eq(column("node", "r")),
            )
        ],
    )
    return select(*columns((*key, *INTERVAL)), from_=subquery(presence(events, key), "edges"))


def _longer(part: Key, found: str, edges: str) -> exp.Select:
    """The paths of relation `found`, each followed by one of relation `edges`."""
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
        from_=rows_of(found, "f"),
        joins=[
            inner_join(
                rows_of(edges, "e"),
                *same_row(part, "f", "e"),
                column("target", "f").eq(column("source", "e")),
                meets,
            )
        ],
    )
