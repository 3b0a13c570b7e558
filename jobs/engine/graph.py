"""The graph as a log and as an interval relation, per scope."""

from __future__ import annotations

from sqlglot import exp

from jobs.compute.relations import Keep, Statement
from jobs.compute.sql import column, columns, number, rows_of, select, text, union_all
from jobs.engine.component import POSITIONS, graph_columns
from jobs.engine.relations import FOREVER, EpochRange
from jobs.engine.sweep import differentiate, integrate, presence, within
from jobs.plan.leaves import Scope

TRIPLES = "triples"
QUADS = "quads"


def log_columns(scope: Scope) -> tuple[str, ...]:
    """The columns of a scope's log."""
    return (*graph_columns(scope), "epoch", "weight")


def scope_log(scope: Scope, last: int, predicates: frozenset[str] | None = None) -> exp.Query:
    """The log (`log_columns`) of the triples in `scope` up to `last`.

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
    log = log_columns(scope)
    if scope.graphs is None and not scope.each:
        return (
            select(*columns(log)).from_(rows_of(TRIPLES), copy=False).where(until_last, copy=False)
        )
    quads = select(*columns(log)).from_(rows_of(QUADS), copy=False)
    quads = quads.where(until_last, _in_scope(scope), copy=False)
    if not scope.is_merge:
        return quads
    # FROM a FROM b: their merge is a set, so a triple counts once while any of them has it.
    ends = differentiate(presence(quads, POSITIONS), POSITIONS, EpochRange(0, last))
    total = exp.func("SUM", column("weight"))
    return (
        select(
            *columns(POSITIONS), column("epoch"), exp.cast(total, "INT").as_("weight", quoted=True)
        )
        .from_(ends.subquery("ends", copy=False), copy=False)
        .group_by(*columns(POSITIONS), column("epoch"), copy=False)
        .having(total.copy().neq(0), copy=False)
    )


def _in_scope(scope: Scope) -> exp.Expr:
    if scope.graphs is None:
        return column("graph").neq(text(""))
    if not scope.graphs:
        return exp.false()
    return column("graph").isin(*(text(graph) for graph in scope.graphs))


def changes_in(scope: Scope, log: str, epochs: EpochRange) -> exp.Select:
    """The rows of relation `log`, of `scope`, within `epochs`."""
    return (
        select(*columns(log_columns(scope)))
        .from_(rows_of(log), copy=False)
        .where(within(column("epoch"), epochs), copy=False)
    )


def whole_graph(
    scope: Scope, name: str, log: str, epochs: EpochRange, *, collapsed: bool
) -> list[Statement]:
    """Statements that make the interval relation `name` of the whole log, without shuffling it.

    Asserted rows are joined with the first retraction after them; only rows that were retracted at
    all are grouped. A triple that is asserted twice has two intervals.

    Args:
        scope: which triples.
        name: the relation to make: graph columns of the scope, since, until.
        log: the scope's log up to the last epoch.
        epochs: the range.
        collapsed: take everything that holds at the last epoch as new in it.
    """
    retracted, ended = f"{name}_retracted", f"{name}_ended"
    triple = graph_columns(scope)
    retractions = (
        select(*columns((*triple, "epoch")))
        .from_(rows_of(log), copy=False)
        .where(column("weight") < 0, copy=False)
    )
    first_after = (
        select(
            *columns((*triple, "epoch"), "a"),
            exp.func("MIN", column("epoch", "r")).as_("until", quoted=True),
        )
        .from_(rows_of(log).as_("a"), copy=False)
        .join(
            rows_of(retracted).as_("r"),
            on=exp.and_(
                *(column(p, "a").eq(column(p, "r")) for p in triple),
                column("epoch", "r") > column("epoch", "a"),
            ),
            copy=False,
        )
        .where(column("weight", "a") > 0, copy=False)
        .group_by(*columns((*triple, "epoch"), "a"), copy=False)
    )
    since = column("epoch", "a")
    until = exp.func("COALESCE", column("until", "e"), number(FOREVER))
    graph = (
        select(
            *columns(triple, "a"),
            (number(epochs.last) if collapsed else since).as_("since", quoted=True),
            (number(FOREVER) if collapsed else until).as_("until", quoted=True),
        )
        .from_(rows_of(log).as_("a"), copy=False)
        .join(
            rows_of(ended).as_("e"),
            on=exp.and_(
                *(column(p, "a").eq(column(p, "e")) for p in (*triple, "epoch")),
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
    scope: Scope,
    name: str,
    fetched: list[str],
    changes: str,
    epochs: EpochRange,
    keep: Keep = "small",
) -> Statement:
    """The statement that makes the interval relation `name` of the neighbourhood of `changes`.

    Args:
        scope: which triples.
        name: the relation to make: graph columns of the scope, since, until.
        fetched: relations with the log rows that were looked up.
        changes: the relation of the changes in the range.
        epochs: the range.
        keep: how the relation is kept.
    """
    triple, log = graph_columns(scope), log_columns(scope)
    first = exp.Window(
        this=exp.RowNumber(),
        partition_by=columns(triple),
        order=exp.Order(expressions=[exp.Ordered(this=column("epoch"))]),
    )
    numbered = select(*columns((*triple, "weight")), first.as_("nth", quoted=True)).from_(
        rows_of(changes), copy=False
    )
    # A triple whose first change is a retraction was there before the range.
    there_before = (
        select(*columns(triple))
        .from_(numbered.subquery("numbered", copy=False), copy=False)
        .where(column("nth").eq(1), column("weight") < 0, copy=False)
    )
    before = [there_before]
    if fetched:
        looked_up = union_all(
            [select(*columns(log)).from_(rows_of(relation), copy=False) for relation in fetched]
        )
        once = (
            select(*columns(log))
            .distinct(copy=False)
            .from_(looked_up.subquery("fetched", copy=False), copy=False)
            .where(column("epoch") <= number(epochs.after), copy=False)
        )
        present = (
            select(*columns(triple))
            .from_(once.subquery("once", copy=False), copy=False)
            .group_by(*columns(triple), copy=False)
            .having(exp.func("SUM", column("weight")) > 0, copy=False)
        )
        before.append(present)
    at_start = (
        select(*columns(triple))
        .distinct(copy=False)
        .select(
            number(epochs.after).as_("epoch", quoted=True),
            exp.cast(exp.Literal.number(1), "INT").as_("weight", quoted=True),
            copy=False,
        )
        .from_(union_all(before).subquery("before", copy=False), copy=False)
    )
    rows = union_all([at_start, select(*columns(log)).from_(rows_of(changes), copy=False)])
    intervals = integrate(rows, triple)
    graph = select(*columns((*triple, "since", "until"))).from_(
        intervals.subquery("intervals", copy=False), copy=False
    )
    return Statement(name, graph, keep)
