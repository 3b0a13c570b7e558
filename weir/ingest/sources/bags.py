"""Quads of a table that may hold a quad in more than one row."""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import (
    alias,
    coalesce,
    column,
    columns,
    descending,
    equal,
    left_join,
    number,
    over,
    rows_of,
    select,
    subquery,
    sum_of,
)
from weir.ingest.netting import QUAD


def bag_assertions(changes: str, held: str) -> exp.Select:
    """The quad assertions of commits of a table that may hold a quad more than once.

    A quad holds as long as one row of it is left. The number of rows left after an epoch is
    computed from the end: the rows of the last version, less what later epochs changed.

        left(e) = held - the sum of sign over the epochs > e

    Args:
        changes: epoch, sign, QUAD: a row that appeared (+1) or vanished (-1).
        held: QUAD: the rows of the last version, at least those with the quads of `changes`.
    """
    per_epoch = select(
        column("epoch"),
        *columns(QUAD),
        alias(sum_of(column("sign")), "change"),
        from_=rows_of(changes),
        group_by=columns(("epoch", *QUAD)),
        having=exp.NEQ(this=sum_of(column("sign")), expression=number(0)),
    )
    rows = select(
        *columns(QUAD),
        alias(exp.Count(this=exp.Star()), "rows_left"),
        from_=rows_of(held),
        group_by=columns(QUAD),
    )
    from_here_on = over(
        sum_of(column("change", "per_epoch")),
        columns(QUAD, "per_epoch"),
        [descending(column("epoch", "per_epoch"))],
    )
    later = from_here_on - column("change", "per_epoch")
    left = coalesce(column("rows_left", "held"), number(0)) - exp.paren(later)
    return select(
        column("epoch", "per_epoch"),
        alias(number(0), "line"),
        alias(exp.paren(left > number(0)), "insert"),
        *columns(QUAD, "per_epoch"),
        from_=subquery(per_epoch, "per_epoch"),
        joins=[left_join(subquery(rows, "held"), *equal(QUAD, "per_epoch", "held"))],
    )
