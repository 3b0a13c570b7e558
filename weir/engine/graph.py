"""The graph as a log and as an interval relation, per scope."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from weir.compute.relations import Keep, Statement
from weir.compute.sql import (
    alias,
    all_of,
    any_of,
    ascending,
    case,
    cast,
    coalesce,
    column,
    columns,
    equal,
    greatest,
    inner_join,
    left_join,
    number,
    one_of,
    over,
    rows_of,
    select,
    small_number,
    subquery,
    sum_of,
    text,
    union_all,
)
from weir.engine.relations import BEFORE_ALL, CHANGE, FOREVER, INTERVAL, EpochRange
from weir.engine.sweep import integrate, set_log, within
from weir.lake import tables
from weir.plan.scope import Scope
from weir.rdf.reserved_graphs import RANGES, documents_of_web

DERIVED = tables.DERIVED
TRIPLES, QUADS = tables.TRIPLES.name, tables.QUADS.name
POSITIONS = ("subject", "predicate", "object")


def graph_columns(scope: Scope) -> tuple[str, ...]:
    """The columns of a triple in `scope`: with its graph's name where each graph is by itself."""
    return ("graph", *POSITIONS) if scope.each else POSITIONS


def shown_columns(scope: Scope) -> list[exp.Expr]:
    """The columns of a scope's log, out of rows as they are stored.

    A document of a traversal is shown by its own IRI, and not by the name of its graph.
    """
    shown = columns(log_columns(scope))
    if not scope.webs:
        return [*shown]
    graph, cases = column("graph"), []
    for web in scope.webs:
        length = len(documents_of_web(web)[0]) - len("http")
        iri = exp.Substring(this=graph, start=small_number(length + 1))
        whole = exp.Concat(expressions=[text("<"), iri], safe=False, coalesce=False)
        cases.append((_is_within(graph, documents_of_web(web)), whole))
    return [alias(case(*cases, otherwise=graph), "graph"), *shown[1:]]


def log_columns(scope: Scope) -> tuple[str, ...]:
    """The columns of a scope's log."""
    return (*graph_columns(scope), *CHANGE)


def stored_logs(scope: Scope) -> Mapping[str, str]:
    """The tables with the triples in `scope`, each with the name of the relation of all its rows.

    `triples` has the union of all graphs, `quads` some of them, and a derived graph has its own.
    """
    tables = [*map(DERIVED.name, scope.derived)]
    if not scope.is_derived:
        tables.insert(0, TRIPLES if scope.has_union else QUADS)
    return {table: log_relation(table) for table in tables}


def log_relation(table: str) -> str:
    """The name of the relation of all rows of a table with triples."""
    return table.replace("/", "_")


def stored_columns(table: str) -> tuple[str, ...]:
    """The columns of a table with triples."""
    return ("graph", *POSITIONS, *CHANGE) if table == QUADS else (*POSITIONS, *CHANGE)


def scope_log(
    scope: Scope,
    last: int,
    predicates: frozenset[str] | None = None,
    stored: Mapping[str, str] | None = None,
) -> exp.Query:
    """The log (`log_columns`) of the triples in `scope` up to `last`.

    Args:
        scope: which graphs.
        last: the last epoch.
        predicates: the predicates to read; None for all.
        stored: by table of `stored_logs` a relation of rows of it; by default that of all rows.
    """
    until_last: list[exp.Expr] = [column("epoch") <= number(last)]
    if predicates is not None:
        until_last.append(one_of(column("predicate"), sorted(predicates)))
    parts = []
    for table, relation in (stored or stored_logs(scope)).items():
        where = [condition.copy() for condition in until_last]
        if table == QUADS:
            where.append(graphs_of(scope))
        parts.append(select(*shown_columns(scope), from_=rows_of(relation), where=where))
    rows = union_all(parts)
    if not scope.is_merge:
        return rows
    # FROM a FROM b: their merge is a set, so a triple counts once while any of them has it.
    return set_log(rows, graph_columns(scope), EpochRange(BEFORE_ALL, last))


def graphs_of(scope: Scope) -> exp.Expr:
    """The condition on the column `graph` of the quads of a scope that is not the union."""
    if scope.graphs is None:
        return all_of([column("graph").neq(text("")), is_unreserved()])
    graph = column("graph")
    parts = [_is_within(graph, documents_of_web(web)) for web in scope.webs]
    if scope.graphs:
        parts.append(one_of(graph, scope.graphs))
    return any_of(parts) if parts else exp.false()


def _is_within(graph: exp.Column, names: tuple[str, str]) -> exp.Expr:
    """The condition that the name of a graph is in a range: the first, and after the last."""
    return all_of([graph >= text(names[0]), graph < text(names[1])])


def is_unreserved(table: str | None = None) -> exp.Expr:
    """The condition on the column `graph` (of `table`) that a graph is not reserved."""
    graph = column("graph", table)
    return all_of([any_of([graph < text(first), graph >= text(after)]) for first, after in RANGES])


def changes_in(scope: Scope, log: str, epochs: EpochRange) -> exp.Select:
    """The rows of relation `log`, of `scope`, within `epochs`."""
    return select(
        *columns(log_columns(scope)),
        from_=rows_of(log),
        where=[within(column("epoch"), epochs)],
    )


def whole_graph(scope: Scope, name: str, log: str, epochs: EpochRange) -> list[Statement]:
    """Statements that make the interval relation `name` of the whole log, without shuffling it.

    Asserted rows are joined with the first retraction after them; only rows that were retracted at
    all are grouped. A triple that is asserted twice has two intervals.

    Args:
        scope: which triples.
        name: the relation to make: graph columns of the scope, since, until.
        log: the scope's log up to the last epoch.
        epochs: the range; if it starts from nothing, all that holds at its start is new there.
    """
    retracted, ended = f"{name}_retracted", f"{name}_ended"
    triple = graph_columns(scope)
    retractions = select(
        *columns((*triple, "epoch")), from_=rows_of(log), where=[column("weight") < 0]
    )
    first_after = select(
        *columns((*triple, "epoch"), "a"),
        alias(exp.Min(this=column("epoch", "r")), "until"),
        from_=rows_of(log, "a"),
        joins=[
            inner_join(
                rows_of(retracted, "r"),
                *equal(triple, "a", "r"),
                column("epoch", "r") > column("epoch", "a"),
            )
        ],
        where=[column("weight", "a") > 0],
        group_by=columns((*triple, "epoch"), "a"),
    )
    until = coalesce(column("until", "e"), number(FOREVER))
    asserted, since, start = column("weight", "a") > 0, column("epoch", "a"), number(epochs.start)
    graph = select(
        *columns(triple, "a"),
        alias(greatest(since, start) if epochs.from_nothing else since, "since"),
        alias(until, "until"),
        from_=rows_of(log, "a"),
        joins=[left_join(rows_of(ended, "e"), *equal((*triple, "epoch"), "a", "e"))],
        where=[asserted, until > start] if epochs.from_nothing else [asserted],
    )
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
        keep: how the relation is stored.
    """
    triple, log = graph_columns(scope), log_columns(scope)
    before = [_retracted_first(triple, changes)]
    if fetched:
        before.append(_present(triple, log, fetched, epochs))
    at_start = select(
        *columns(triple),
        alias(number(epochs.after), "epoch"),
        alias(cast(small_number(1), exp.DType.INT), "weight"),
        from_=subquery(union_all(before), "before"),
        distinct=True,
    )
    rows = union_all([at_start, select(*columns(log), from_=rows_of(changes))])
    graph = select(
        *columns((*triple, *INTERVAL)), from_=subquery(integrate(rows, triple), "intervals")
    )
    return Statement(name, graph, keep)


def _retracted_first(triple: tuple[str, ...], changes: str) -> exp.Select:
    """The triples whose first change is a retraction: they held before the range."""
    first = over(exp.RowNumber(), columns(triple), [ascending(column("epoch"))])
    numbered = select(*columns((*triple, "weight")), alias(first, "nth"), from_=rows_of(changes))
    return select(
        *columns(triple),
        from_=subquery(numbered, "numbered"),
        where=[column("nth").eq(1), column("weight") < 0],
    )


def _present(
    triple: tuple[str, ...], log: tuple[str, ...], fetched: list[str], epochs: EpochRange
) -> exp.Select:
    """The triples of the rows that were looked up which held before the range."""
    looked_up = union_all([select(*columns(log), from_=rows_of(relation)) for relation in fetched])
    once = select(
        *columns(log),
        from_=subquery(looked_up, "fetched"),
        where=[column("epoch") <= number(epochs.after)],
        distinct=True,
    )
    return select(
        *columns(triple),
        from_=subquery(once, "once"),
        group_by=columns(triple),
        having=sum_of(column("weight")) > 0,
    )
