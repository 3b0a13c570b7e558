"""The graph as a log and as an interval relation, per scope."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import select

from jobs.engine.component import POSITIONS
from jobs.engine.relations import (
    FOREVER,
    EpochRange,
    Keep,
    Statement,
    column,
    columns,
    number,
    text,
    union_all,
)
from jobs.engine.sweep import differentiate, integrate, sweep, within
from jobs.plan.operators import Scope

TRIPLES = "triples"
QUADS = "quads"

_LOG = (*POSITIONS, "epoch", "weight")


def scope_log(scope: Scope, last: int, predicates: frozenset[str] | None = None) -> exp.Query:
    """The log (subject, predicate, object, epoch, weight) of the triples in `scope` up to `last`.

    Reads the relations `triples` (the union of all graphs) or `quads`.

    Args:
        scope: which graphs.
        last: the last epoch.
        predicates: the predicates to read; None for all.
    """
    until_last: exp.Condition = column("epoch") <= number(last)
    if predicates is not None:
        wanted = column("predicate").isin(*(text(predicate) for predicate in sorted(predicates)))
        until_last = exp.and_(until_last, wanted)
    if scope.graphs is None:
        return select(*columns(_LOG)).from_(TRIPLES, copy=False).where(until_last, copy=False)
    in_scope = column("graph").isin(*(text(graph) for graph in scope.graphs))
    quads = select(*columns(_LOG)).from_(QUADS, copy=False).where(until_last, in_scope, copy=False)
    if len(scope.graphs) == 1:
        return quads
    # FROM a FROM b: their merge is a set, so a triple counts once while any of them has it.
    segments = sweep(quads, POSITIONS, {"graphs": column("weight")})
    merged = (
        select(*columns(POSITIONS), column("since"), column("until"))
        .select(number(1).as_("weight", quoted=True), copy=False)
        .from_(segments.subquery("segments", copy=False), copy=False)
        .where(column("graphs") > 0, copy=False)
    )
    ends = differentiate(merged, POSITIONS, EpochRange(0, last))
    total = exp.func("SUM", column("weight"))
    return (
        select(
            *columns(POSITIONS), column("epoch"), exp.cast(total, "INT").as_("weight", quoted=True)
        )
        .from_(ends.subquery("ends", copy=False), copy=False)
        .group_by(*columns(POSITIONS), column("epoch"), copy=False)
        .having(total.copy().neq(0), copy=False)
    )


def changes_in(log: str, epochs: EpochRange) -> exp.Select:
    """The rows of relation `log` within `epochs`."""
    return (
        select(*columns(_LOG))
        .from_(log, copy=False)
        .where(within(column("epoch"), epochs), copy=False)
    )


def whole_graph(name: str, log: str, epochs: EpochRange, *, collapsed: bool) -> list[Statement]:
    """Statements that make the interval relation `name` of the whole log, without shuffling it.

    Asserted rows are joined with the first retraction after them; only rows that were retracted at
    all are grouped. A triple that is asserted twice has two intervals.

    Args:
        name: the relation to make: subject, predicate, object, since, until.
        log: the graph's log up to the last epoch.
        epochs: the range.
        collapsed: take everything that holds at the last epoch as new in it.
    """
    retracted, ended = f"{name}_retracted", f"{name}_ended"
    retractions = (
        select(*columns((*POSITIONS, "epoch")))
        .from_(log, copy=False)
        .where(column("weight") < 0, copy=False)
    )
    first_after = (
        select(
            *columns((*POSITIONS, "epoch"), "a"),
            exp.func("MIN", column("epoch", "r")).as_("until", quoted=True),
        )
        .from_(exp.to_table(log).as_("a"), copy=False)
        .join(
            exp.to_table(retracted).as_("r"),
            on=exp.and_(
                *(column(p, "a").eq(column(p, "r")) for p in POSITIONS),
                column("epoch", "r") > column("epoch", "a"),
            ),
            copy=False,
        )
        .where(column("weight", "a") > 0, copy=False)
        .group_by(*columns((*POSITIONS, "epoch"), "a"), copy=False)
    )
    since = column("epoch", "a")
    until = exp.func("COALESCE", column("until", "e"), number(FOREVER))
    graph = (
        select(
            *columns(POSITIONS, "a"),
            (number(epochs.last) if collapsed else since).as_("since", quoted=True),
            (number(FOREVER) if collapsed else until).as_("until", quoted=True),
        )
        .from_(exp.to_table(log).as_("a"), copy=False)
        .join(
            exp.to_table(ended).as_("e"),
            on=exp.and_(
                *(column(p, "a").eq(column(p, "e")) for p in (*POSITIONS, "epoch")),
            ),
            join_type="left",
            copy=False,
        )
        .where(column("weight", "a") > 0, copy=False)
    )
    if collapsed:
        graph = graph.where(until.copy() > number(epochs.last), copy=False)
    return [
        Statement(retracted, retractions, "cache"),
        Statement(ended, first_after, "cache"),
        Statement(name, graph, "cache"),
    ]


def restricted_graph(
    name: str, fetched: list[str], changes: str, epochs: EpochRange, keep: Keep = "small"
) -> Statement:
    """The statement that makes the interval relation `name` of the neighbourhood of `changes`.

    Args:
        name: the relation to make: subject, predicate, object, since, until.
        fetched: relations with the log rows that were looked up.
        changes: the relation of the changes in the range.
        epochs: the range.
        keep: how the relation is kept.
    """
    first = exp.Window(
        this=exp.RowNumber(),
        partition_by=columns(POSITIONS),
        order=exp.Order(expressions=[exp.Ordered(this=column("epoch"))]),
    )
    numbered = select(*columns((*POSITIONS, "weight")), first.as_("nth", quoted=True)).from_(
        changes, copy=False
    )
    # A triple whose first change is a retraction was there before the range.
    there_before = (
        select(*columns(POSITIONS))
        .from_(numbered.subquery("numbered", copy=False), copy=False)
        .where(column("nth").eq(1), column("weight") < 0, copy=False)
    )
    before = [there_before]
    if fetched:
        rows = union_all(
            [select(*columns(_LOG)).from_(relation, copy=False) for relation in fetched]
        )
        once = (
            select(*columns(_LOG))
            .distinct(copy=False)
            .from_(rows.subquery("fetched", copy=False), copy=False)
            .where(column("epoch") <= number(epochs.after), copy=False)
        )
        present = (
            select(*columns(POSITIONS))
            .from_(once.subquery("once", copy=False), copy=False)
            .group_by(*columns(POSITIONS), copy=False)
            .having(exp.func("SUM", column("weight")) > 0, copy=False)
        )
        before.append(present)
    at_start = (
        select(*columns(POSITIONS))
        .distinct(copy=False)
        .select(
            number(epochs.after).as_("epoch", quoted=True),
            exp.cast(exp.Literal.number(1), "INT").as_("weight", quoted=True),
            copy=False,
        )
        .from_(union_all(before).subquery("before", copy=False), copy=False)
    )
    log = union_all([at_start, select(*columns(_LOG)).from_(changes, copy=False)])
    intervals = integrate(log, POSITIONS)
    graph = select(*columns((*POSITIONS, "since", "until"))).from_(
        intervals.subquery("intervals", copy=False), copy=False
    )
    return Statement(name, graph, keep)
