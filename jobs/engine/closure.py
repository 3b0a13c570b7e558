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

from dataclasses import dataclass

from sqlglot import exp

from jobs.compute.relations import Keep, Statement
from jobs.compute.sql import column, columns, number, rows_of, same_row, select, text
from jobs.engine.fixpoint import Fixpoint, Step
from jobs.engine.relations import EpochRange
from jobs.engine.sweep import Key, differentiate, ends, presence
from jobs.plan.operators import Closure

_INTERVAL = ("since", "until")


@dataclass(frozen=True, slots=True)
class Steps:
    """The relations of a closure's steps, in the columns of its child.

    `log`: rows of the child, from the state at the beginning of the range on; `delta`: those of the
    range.
    """

    log: str
    delta: str


def closure_statements(node: Closure, steps: Steps, name: str, keep: Keep) -> list[Step]:
    """The statements that make relation `name`: partition, source, target, since, until; no set."""
    part, source, target = node.partition, column(node.source), column(node.target)
    key = (*part, "source", "target")
    all_steps = select(
        *columns(part), source.as_("source", quoted=True), target.as_("target", quoted=True)
    ).distinct(copy=False)
    ever = Statement(f"{name}_ever", all_steps.from_(rows_of(steps.log), copy=False), keep)
    changed = (
        select(*columns(part), source.copy().as_("node", quoted=True))
        .distinct(copy=False)
        .from_(rows_of(steps.delta), copy=False)
    )
    nodes = (*part, "node")
    touched = Fixpoint(
        f"{name}_touched",
        nodes,
        changed,
        lambda found: _neighbours(part, found, ever.name, "target", "source"),
        keep,
    )
    sources = select(*columns(nodes)).from_(rows_of(touched.name), copy=False)
    if node.start is not None:
        sources = sources.where(column("node").eq(text(node.start)), copy=False)
    reach = Fixpoint(
        f"{name}_reach",
        nodes,
        sources,
        lambda found: _neighbours(part, found, ever.name, "source", "target"),
        keep,
    )
    edges = Statement(f"{name}_edges", _edges(node, steps.log, reach.name), keep)
    start = (
        select(*columns((*key, *_INTERVAL), "e"))
        .from_(rows_of(edges.name).as_("e"), copy=False)
        .join(
            sources.copy().subquery("s", copy=False),
            on=exp.and_(*same_row(part, "e", "s"), column("source", "e").eq(column("node", "s"))),
            join_type="inner",
            copy=False,
        )
    )
    pairs = Fixpoint(
        name, (*key, *_INTERVAL), start, lambda found: _longer(part, found, edges.name), keep
    )
    return [ever, touched, reach, edges, pairs]


def closure_delta(node: Closure, pairs: str, epochs: EpochRange) -> exp.Select:
    """The log of the pairs of relation `pairs` within `epochs`, not netted."""
    key = (*node.partition, "source", "target")
    # A pair holds as often as it has paths at a time.
    paths = select(*columns((*key, *_INTERVAL)), number(1).as_("weight", quoted=True)).from_(
        rows_of(pairs), copy=False
    )
    held = presence(ends(paths, key), key)
    named = select(
        *columns(node.partition),
        column("source").as_(node.source, quoted=True),
        column("target").as_(node.target, quoted=True),
        *columns((*_INTERVAL, "weight")),
    ).from_(held.subquery("held", copy=False), copy=False)
    return differentiate(named, node.variables, epochs)


def _neighbours(part: Key, found: str, ever: str, here: str, there: str) -> exp.Select:
    return (
        select(*columns(part, "e"), column(there, "e").as_("node", quoted=True))
        .from_(rows_of(found).as_("f"), copy=False)
        .join(
            rows_of(ever).as_("e"),
            on=exp.and_(*same_row(part, "f", "e"), column("node", "f").eq(column(here, "e"))),
            join_type="inner",
            copy=False,
        )
    )


def _edges(node: Closure, log: str, reach: str) -> exp.Select:
    """The steps from what is reached, as a set with intervals."""
    part = node.partition
    events = (
        select(
            *columns(part, "s"),
            column(node.source, "s").as_("source", quoted=True),
            column(node.target, "s").as_("target", quoted=True),
            *columns(("epoch", "weight"), "s"),
        )
        .from_(rows_of(log).as_("s"), copy=False)
        .join(
            rows_of(reach).as_("r"),
            on=exp.and_(
                *same_row(part, "s", "r"), column(node.source, "s").eq(column("node", "r"))
            ),
            join_type="inner",
            copy=False,
        )
    )
    key = (*part, "source", "target")
    return select(*columns((*key, *_INTERVAL))).from_(
        presence(events, key).subquery("edges", copy=False), copy=False
    )


def _longer(part: Key, found: str, edges: str) -> exp.Select:
    since = exp.func("GREATEST", column("since", "f"), column("since", "e"))
    until = exp.func("LEAST", column("until", "f"), column("until", "e"))
    meets = exp.and_(
        column("since", "f") < column("until", "e"), column("since", "e") < column("until", "f")
    )
    on = exp.and_(*same_row(part, "f", "e"), column("target", "f").eq(column("source", "e")), meets)
    return (
        select(
            *columns((*part, "source"), "f"),
            column("target", "e"),
            since.as_("since", quoted=True),
            until.as_("until", quoted=True),
        )
        .from_(rows_of(found).as_("f"), copy=False)
        .join(rows_of(edges).as_("e"), on=on, join_type="inner", copy=False)
    )
