"""Quads of a table that may hold a quad in more than one row."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.expressions import select

from jobs.compute.sql import column, columns, number
from jobs.ingest.netting import QUAD


def bag_assertions(changes: str, held: str) -> exp.Select:
    """The quad assertions of commits of a table that may hold a quad more than once.

    A quad holds as long as one row of it is left. The number of rows left after an epoch is
    computed from the end: the rows of the last version, less what later epochs changed.

        left(e) = held - the sum of sign over the epochs > e

    Args:
        changes: epoch, sign, QUAD: a row that appeared (+1) or vanished (-1).
        held: QUAD: the rows of the last version, at least those with the quads of `changes`.
    """
    per_epoch = (
        select(
            column("epoch"),
            *columns(QUAD),
            exp.func("SUM", column("sign")).as_("change", quoted=True),
        )
        .from_(changes)
        .group_by(column("epoch"), *columns(QUAD))
        .having(exp.func("SUM", column("sign")).neq(0))
    )
    rows = (
        select(*columns(QUAD), exp.func("COUNT", exp.Star()).as_("rows_left", quoted=True))
        .from_(held)
        .group_by(*columns(QUAD))
    )
    newest_first = exp.Order(expressions=[exp.Ordered(this=column("epoch"), desc=True)])
    from_here_on = exp.Window(
        this=exp.func("SUM", column("change", "per_epoch")),
        partition_by=columns(QUAD, "per_epoch"),
        order=newest_first,
    )
    later = from_here_on - column("change", "per_epoch")
    left = exp.func("COALESCE", column("rows_left", "held"), number(0)) - exp.paren(later)
    return (
        select(
            column("epoch", "per_epoch"),
            number(0).as_("line", quoted=True),
            exp.paren(left > number(0)).as_("insert", quoted=True),
            *columns(QUAD, "per_epoch"),
        )
        .from_(per_epoch.subquery("per_epoch"))
        .join(
            rows.subquery("held"),
            on=exp.and_(*(column(n, "per_epoch").eq(column(n, "held")) for n in QUAD)),
            join_type="left",
        )
    )
