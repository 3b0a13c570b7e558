"""Ownership of graphs: a graph belongs to the source that wrote it first."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp
from sqlglot.expressions import select

from jobs.compute.sql import column, columns


@dataclass(frozen=True, slots=True)
class Refusal:
    """The first change set of a source that writes another's graph."""

    source: str
    ordinal: int
    graph: str
    owner: str


def claims(changes: str, sources: str, owners: str) -> exp.Select:
    """The graphs that each source writes: source, graph, first, owner, winner.

    first is the first change set that writes the graph; owner is null for a new graph; winner is
    the source that may write it: of several that write a new graph, the one of the first change
    set.

    Args:
        changes: ordinal, graph.
        sources: ordinal, source: of each change set.
        owners: graph, source: the graphs that have an owner.
    """
    first = exp.func("MIN", column("ordinal", "changes"))
    written = (
        select(
            column("source", "sources"), column("graph", "changes"), first.as_("first", quoted=True)
        )
        .from_(exp.to_table(changes, alias="changes"))
        .join(
            exp.to_table(sources, alias="sources"),
            on=column("ordinal", "changes").eq(column("ordinal", "sources")),
        )
        .group_by(column("source", "sources"), column("graph", "changes"))
    )
    first_comer = exp.Window(
        this=exp.FirstValue(this=column("source", "written")),
        partition_by=[column("graph", "written")],
        order=exp.Order(expressions=[exp.Ordered(this=column("first", "written"))]),
    )
    owner = column("source", "owners")
    return (
        select(
            *columns(("source", "graph", "first"), "written"),
            owner.as_("owner", quoted=True),
            exp.func("COALESCE", owner.copy(), first_comer).as_("winner", quoted=True),
        )
        .from_(written.subquery("written"))
        .join(
            exp.to_table(owners, alias="owners"),
            on=column("graph", "written").eq(column("graph", "owners")),
            join_type="left",
        )
    )


def refusals(claims: str) -> exp.Select:
    """The first change set of each source that writes another's graph: source, ordinal, graph,
    owner.
    """
    return (
        select(
            column("source"),
            exp.func("MIN", column("first")).as_("ordinal", quoted=True),
            exp.ArgMin(this=column("graph"), expression=column("first")).as_("graph", quoted=True),
            exp.ArgMin(this=column("winner"), expression=column("first")).as_("owner", quoted=True),
        )
        .from_(claims)
        .where(column("source").neq(column("winner")))
        .group_by(column("source"))
    )


def new_graphs(claims: str, epochs: str) -> exp.Select:
    """The graphs that get an owner: graph, source.

    Args:
        claims: the relation of `claims`.
        epochs: ordinal, epoch: the change sets that are accepted.
    """
    return (
        select(*columns(("graph", "source"), "claims"))
        .from_(exp.to_table(claims, alias="claims"))
        .join(
            exp.to_table(epochs, alias="epochs"),
            on=column("first", "claims").eq(column("ordinal", "epochs")),
        )
        .where(exp.Is(this=column("owner", "claims"), expression=exp.null()))
    )
