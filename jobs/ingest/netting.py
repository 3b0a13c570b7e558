"""Set semantics of incoming changes: which of them change the graph, at every epoch of a batch.

Every statement reads relations by name and is rendered for Spark and for DuckDB alike.

A *quad assertion* states that a quad holds (`insert`) or does not hold (not `insert`) from an epoch
on. A quad changes at an epoch where its last assertion differs from what held before:

    before(e) = the assertion of the latest epoch < e that has one, else presence before the batch
    log       = +1 where insert and not before,  -1 where before and not insert

Relations and their columns, QUAD = graph, subject, predicate, object:

    assertions   epoch, line, insert, QUAD
    present      QUAD, once each, that held before the batch; at least those with the triples of
                 the assertions, in any graph
    log          epoch, weight, QUAD
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.expressions import select

from jobs.compute.sql import column, columns, number, text

QUAD = ("graph", "subject", "predicate", "object")
TRIPLE = ("subject", "predicate", "object")


def present(log: str) -> exp.Select:
    """The quads of the relation `log` whose weights add up to more than nothing."""
    return present_in(select(*columns((*QUAD, "weight"))).from_(log))


def present_in(log: exp.Query) -> exp.Select:
    """The quads of `log` whose weights add up to more than nothing."""
    return (
        select(*columns(QUAD))
        .from_(log.subquery("log"))
        .group_by(*columns(QUAD))
        .having(exp.func("SUM", column("weight")) > number(0))
    )


def rows_about(
    rows: str,
    changes: str,
    key: tuple[str, ...] = TRIPLE,
    predicates: Sequence[str] | None = None,
) -> exp.Select:
    """The `rows` that agree with one of the `changes` in `key`.

    Args:
        rows: relation with the columns of `key`.
        changes: relation with the columns of `key`.
        key: what has to agree.
        predicates: all predicates of `changes`, if they are few: as literals they let Delta skip
            files.
    """
    wanted = select(*columns(key)).distinct().from_(changes).subquery("wanted")
    found = (
        select(exp.Star())
        .from_(exp.to_table(rows, alias="stored"))
        .join(
            wanted,
            on=exp.and_(*(column(name, "stored").eq(column(name, "wanted")) for name in key)),
            join_type="left semi",
        )
    )
    if predicates is None:
        return found
    return found.where(column("predicate", "stored").isin(*(text(term) for term in predicates)))


def last_assertions(assertions: str) -> exp.Select:
    """One assertion per quad and epoch, that of the highest line: epoch, insert, QUAD."""
    last = exp.ArgMax(this=column("insert"), expression=column("line"))
    return (
        select(column("epoch"), last.as_("insert", quoted=True), *columns(QUAD))
        .from_(assertions)
        .group_by(column("epoch"), *columns(QUAD))
    )


def net_quads(assertions: str, present: str) -> exp.Select:
    """The log of the quads: assertions that change something."""
    was_there = exp.not_(exp.Is(this=column("there", "before"), expression=exp.null()))
    before = exp.Window(
        this=exp.Lag(
            this=column("insert"), offset=exp.Literal.number(1), default=column("was_there")
        ),
        partition_by=columns(QUAD),
        order=_by("epoch"),
    )
    with_presence = (
        select(
            *(column(name, "incoming") for name in ("epoch", "insert", *QUAD)),
            was_there.as_("was_there", quoted=True),
        )
        .from_(last_assertions(assertions).subquery("incoming"))
        .join(
            select(*columns(QUAD), exp.true().as_("there", quoted=True))
            .from_(present)
            .subquery("before"),
            on=exp.and_(*(column(n, "incoming").eq(column(n, "before")) for n in QUAD)),
            join_type="left",
        )
    )
    sequenced = select(
        *columns(("epoch", "insert", *QUAD)), before.as_("before", quoted=True)
    ).from_(with_presence.subquery("with_presence"))
    return (
        select(*columns(QUAD), column("epoch"), _sign(column("insert")))
        .from_(sequenced.subquery("sequenced"))
        .where(column("insert").neq(column("before")))
    )


def net_triples(log: str, present: str) -> exp.Select:
    """The log of the union of all graphs, from the log of the quads.

    A sweep over the number of graphs that hold the triple: it appears where the number leaves zero
    and vanishes where it gets there.
    """
    events = exp.union(
        select(*columns(TRIPLE), column("epoch"), column("weight")).from_(log),
        # Epochs start at 1, so that what held before the batch comes first.
        select(
            *columns(TRIPLE),
            number(0).as_("epoch", quoted=True),
            exp.Literal.number(1).as_("weight", quoted=True),
        ).from_(present),
        distinct=False,
    )
    per_epoch = (
        select(
            *columns(TRIPLE),
            column("epoch"),
            exp.func("SUM", column("weight")).as_("change", quoted=True),
        )
        .from_(events.subquery("events"))
        .group_by(*columns(TRIPLE), column("epoch"))
    )
    graphs = exp.Window(
        this=exp.func("SUM", column("change")), partition_by=columns(TRIPLE), order=_by("epoch")
    )
    swept = select(*columns((*TRIPLE, "epoch", "change")), graphs.as_("graphs", quoted=True)).from_(
        per_epoch.subquery("per_epoch")
    )
    holds = column("graphs") > number(0)
    held = (column("graphs") - column("change")) > number(0)
    return (
        select(*columns(TRIPLE), column("epoch"), _sign(holds))
        .from_(swept.subquery("swept"))
        .where(exp.and_(column("epoch") > number(0), holds.copy().neq(exp.paren(held))))
    )


def state_assertions(states: str, versions: str, key: tuple[str, ...] = ()) -> exp.Select:
    """The differences between successive versions of a state, as quad assertions.

    Gaps and islands: a quad appears where the version before does not hold it, and vanishes after
    the last version of each run of versions that hold it, unless that is the last version.

    Args:
        states: version, QUAD: what each version holds; version 0 is the state before the batch.
        versions: version, epoch, key: the epoch of each version from 1 on.
        key: columns of the quad within which versions are numbered.
    """

    def beside(neighbour: exp.Lag | exp.Lead) -> exp.Window:
        return exp.Window(this=neighbour, partition_by=columns(QUAD), order=_by("version"))

    once = select(column("version"), *columns(QUAD)).distinct().from_(states)
    islands = select(
        column("version"),
        *columns(QUAD),
        beside(exp.Lag(this=column("version"))).as_("previous", quoted=True),
        beside(exp.Lead(this=column("version"))).as_("following", quoted=True),
        # Both ends from one reading: Spark would compute the windows of a union's halves twice.
        exp.Explode(this=exp.array(exp.true(), exp.false())).as_("insert", quoted=True),
    ).from_(once.subquery("once"))
    version = column("version")
    appears = exp.and_(
        column("insert"),
        version > number(0),
        exp.func("COALESCE", column("previous"), number(-1)) < version - number(1),
    )
    vanishes = exp.and_(
        exp.not_(column("insert")),
        exp.or_(
            exp.Is(this=column("following"), expression=exp.null()),
            column("following") > version + number(1),
        ),
    )
    at = exp.Case().when(column("insert"), version).else_(version + number(1))
    edges = (
        select(exp.cast(at, "BIGINT").as_("version", quoted=True), *columns(("insert", *QUAD)))
        .from_(islands.subquery("islands"))
        .where(exp.or_(appears, vanishes))
    )
    return (
        select(
            column("epoch", "named"),
            number(0).as_("line", quoted=True),
            *columns(("insert", *QUAD), "edges"),
        )
        .from_(edges.subquery("edges"))
        # There is no version after the last one.
        .join(
            select(*columns(("version", "epoch", *key))).from_(versions).subquery("named"),
            on=exp.and_(*(column(n, "edges").eq(column(n, "named")) for n in ("version", *key))),
        )
    )


def _by(name: str) -> exp.Order:
    return exp.Order(expressions=[exp.Ordered(this=column(name))])


def _sign(insert: exp.Expr) -> exp.Expr:
    case = exp.Case().when(insert.copy(), exp.Literal.number(1)).else_(exp.Literal.number(-1))
    return exp.cast(case, "INT").as_("weight", quoted=True)
