"""Histories of a graph from an epoch on, in which triples go and come one after the other.

They are interval relations, as an engine reads them (`weir.engine.relations`), made of one that
knows the graph at that epoch. A step is a row (subject, predicate, object, `nth`), `nth` from 1 on.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from weir.compute.sql import (
    alias,
    case,
    coalesce,
    column,
    columns,
    equal,
    inner_join,
    left_join,
    number,
    rows_of,
    select,
    union_all,
)
from weir.engine.graph import POSITIONS, graph_columns
from weir.engine.relations import FOREVER
from weir.plan.scope import Scope

NTH = "nth"


def taken_back(scope: Scope, graph: str, epoch: int, steps: str) -> exp.Query:
    """The graph as it is at `epoch`; the step n takes back what `epoch` changed, at `epoch` + n.

    Args:
        scope: which triples.
        graph: the interval relation of a range that ends with `epoch`.
        epoch: the epoch.
        steps: the relation of the steps; what has none stays changed.
    """
    at = number(epoch)
    is_new, was_there = _since().eq(at), _until().eq(at)
    ends = coalesce(case((is_new, at + _nth())), number(FOREVER))
    stay = _spans(scope, graph, _since(), ends, left_join, steps, _since() <= at, _until() > at)
    come = _spans(scope, graph, at + _nth(), number(FOREVER), inner_join, steps, was_there)
    return union_all([stay, come])


def put_back(scope: Scope, graph: str, epoch: int, steps: str) -> exp.Query:
    """The graph as it is at `epoch`; all of it goes at `epoch` + 1, the step n comes at that + n.

    Args:
        scope: which triples.
        graph: the interval relation of a range that ends with `epoch` or the epoch after it.
        epoch: the epoch.
        steps: the relation of the steps; what has none stays away.
    """
    at, gone = number(epoch), number(epoch + 1)
    is_there = (_since() <= at, _until() > at)
    go = _spans(scope, graph, _since(), gone, left_join, steps, *is_there)
    come = _spans(scope, graph, gone + _nth(), number(FOREVER), inner_join, steps, *is_there)
    return union_all([go, come])


def _since() -> exp.Column:
    return column("since", "g")


def _until() -> exp.Column:
    return column("until", "g")


def _nth() -> exp.Column:
    return column(NTH, "s")


def _spans(
    scope: Scope,
    graph: str,
    since: exp.Expr,
    until: exp.Expr,
    join: Callable[..., exp.Join],
    steps: str,
    *where: exp.Expr,
) -> exp.Select:
    """Triples of the graph, with their steps, and since when until when they are there."""
    return select(
        *columns(graph_columns(scope), "g"),
        alias(since, "since"),
        alias(until, "until"),
        from_=rows_of(graph, "g"),
        joins=[join(rows_of(steps, "s"), *equal(POSITIONS, "g", "s"))],
        where=where,
    )
