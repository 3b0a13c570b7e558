"""Ownership of graphs: a graph belongs to the source that wrote it first."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from weir.compute.sql import (
    alias,
    all_of,
    ascending,
    case,
    coalesce,
    column,
    columns,
    equal,
    inner_join,
    is_null,
    left_join,
    negated,
    over,
    rows_of,
    select,
    subquery,
    text,
)
from weir.engine.graph import is_unreserved
from weir.rdf.reserved_graphs import WEB


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first change set of a source that writes another's graph; '' owns a reserved one."""

    source: str
    ordinal: int
    graph: str
    owner: str


def written_graphs(changes: str, sources: str, owners: str) -> exp.Select:
    """The graphs that each source writes: source, graph, first, owner, winner.

    first is the first change set that writes the graph; owner is null for a new graph; winner is
    the source that may write it: of several that write a new graph, the one of the first change
    set; of a reserved graph that for which it is reserved, or '' if that is not among them.

    Args:
        changes: ordinal, graph.
        sources: ordinal, source, reserved: of each change set; `reserved` is what the names of the
            reserved graphs begin with that the source may write, or ''.
        owners: graph, source: the graphs that have an owner.
    """
    written = select(
        column("source", "sources"),
        column("reserved", "sources"),
        column("graph", "changes"),
        alias(exp.Min(this=column("ordinal", "changes")), "first"),
        from_=rows_of(changes, "changes"),
        joins=[inner_join(rows_of(sources, "sources"), *equal(["ordinal"], "changes", "sources"))],
        group_by=[
            column("source", "sources"),
            column("reserved", "sources"),
            column("graph", "changes"),
        ],
    )
    begins = exp.StartsWith(
        this=column("graph", "written"), expression=column("reserved", "written")
    )
    is_own = all_of([column("reserved", "written").neq(text("")), begins])
    first_comer = over(
        exp.FirstValue(this=column("source", "written")),
        [column("graph", "written")],
        [ascending(column("first", "written"))],
    )
    return select(
        *columns(("source", "graph", "first"), "written"),
        alias(column("source", "owners"), "owner"),
        alias(
            case(
                (is_unreserved("written"), coalesce(column("source", "owners"), first_comer)),
                otherwise=coalesce(
                    column("source", "owners"),
                    case((is_own, column("source", "written")), otherwise=text("")),
                ),
            ),
            "winner",
        ),
        from_=subquery(written, "written"),
        joins=[left_join(rows_of(owners, "owners"), *equal(["graph"], "written", "owners"))],
    )


def refusals(written: str) -> exp.Select:
    """The first change set of each source that writes another's graph: source, ordinal, graph,
    owner.
    """
    return select(
        column("source"),
        alias(exp.Min(this=column("first")), "ordinal"),
        alias(exp.ArgMin(this=column("graph"), expression=column("first")), "graph"),
        alias(exp.ArgMin(this=column("winner"), expression=column("first")), "owner"),
        from_=rows_of(written),
        where=[exp.NEQ(this=column("source"), expression=column("winner"))],
        group_by=[column("source")],
    )


def new_graphs(written: str, epochs: str) -> exp.Select:
    """The graphs that get an owner: graph, source.

    Args:
        written: the relation of `written_graphs`.
        epochs: ordinal, epoch: the change sets that are accepted.
    """
    return select(
        *columns(("graph", "source"), "written"),
        from_=rows_of(written, "written"),
        joins=[
            inner_join(
                rows_of(epochs, "epochs"),
                exp.EQ(this=column("first", "written"), expression=column("ordinal", "epochs")),
            )
        ],
        # Of the documents of a traversal the name says whose they are.
        where=[is_null(column("owner", "written")), negated(_is_of_web())],
    )


def _is_of_web() -> exp.Expr:
    graph = column("graph", "written")
    return all_of([graph >= text(WEB[0]), graph < text(WEB[1])])
