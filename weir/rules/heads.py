"""Heads of rules: what a body derives, as rows of the relations `plain` and `placed`."""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from weir.compute.sql import (
    alias,
    column,
    columns,
    greatest,
    is_not_null,
    number,
    select,
    subquery,
    text,
)
from weir.engine.relations import INTERVAL
from weir.lars.syntax import Head
from weir.rules.bodies import Body
from weir.rules.literals import RuleColumns
from weir.rules.points import PointAxis, PointRange
from weir.rules.relations import POINT, arguments
from weir.sparql.algebra.expressions import Constant, Variable


def head_rows(
    head: Head, body: Body, names: RuleColumns, axis: PointAxis, points: PointRange
) -> exp.Query:
    """The atoms that a body derives: arguments, with `@T` the point, since, until.

    An atom that is derived for a point before the start is nowhere; one that is derived for a later
    point than t is nowhere at t.
    """
    key = arguments(len(head.atom.arguments))
    cells: list[exp.Expr] = []
    for name, term in zip(key, head.atom.arguments, strict=True):
        match term:
            case Constant(value):
                cells.append(alias(text(value), name))
            case Variable(variable):
                cells.append(alias(column(names.column(variable)), name))
            case _:
                assert_never(term)
    if head.time is None:
        return select(*cells, *columns(INTERVAL), from_=subquery(body.rows, "b"))
    placed = select(
        *cells,
        alias(_point(head.time, names, axis), POINT),
        *columns(INTERVAL),
        from_=subquery(body.rows, "b"),
    )
    begun = select(
        *columns((*key, POINT)),
        alias(greatest(column("since"), column(POINT)), "since"),
        column("until"),
        from_=subquery(placed, "p"),
        where=[is_not_null(column(POINT)), column(POINT) >= number(points.start)],
    )
    return select(
        *columns((*key, POINT, *INTERVAL)),
        from_=subquery(begun, "h"),
        where=[column("since") < column("until")],
    )


def keeps_apart(head: Head, body: Body, names: RuleColumns) -> bool:
    """Whether different solutions of the body derive different atoms."""
    return {*body.names} <= {names.column(variable) for variable in head.variables}


def _point(time: Variable | int, names: RuleColumns, axis: PointAxis) -> exp.Expr:
    if isinstance(time, int):
        return number(time)
    if time.name in names.points:
        return column(names.points[time.name])
    return axis.point_of_term_sql(column(names.terms[time.name]))
