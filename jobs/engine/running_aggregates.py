"""Aggregates as running sums: which sums they need, and the terms that are made of them."""

from __future__ import annotations

from sqlglot import exp

from jobs.compute.functions import EVALUATE
from jobs.compute.sql import column, text
from jobs.plan.operators import Aggregate
from jobs.sparql.algebra.expressions import Call, Variable
from jobs.sparql.functions.serialization import encode

_XSD = "http://www.w3.org/2001/XMLSchema#"
# The product of an addend and its multiplicity has exactly the digits of a sum: no engine rounds.
ADDEND, TIMES = exp.DataType.build("DECIMAL(28, 10)"), exp.DataType.build("DECIMAL(9, 0)")
TOO_MANY_TIMES = 10**9
"""The least multiplicity that `TIMES` has no room for."""
EXACT = exp.DataType.build("DECIMAL(38, 10)")
_WHOLE = exp.DataType.build("DECIMAL(38, 0)")
RUNNING = ("COUNT", "SUM", "AVG")
"""The aggregates that running sums may give."""


def measures(column_: str, aggregate: Aggregate) -> dict[str, exp.DataType]:
    """The running sums of an aggregate and their types."""
    big = exp.DataType.build("BIGINT")
    match aggregate.function:
        case "COUNT":
            return {f"{column_}_count": big}
        case "SUM" | "AVG":
            names = ("count", "inexact", "decimals")
            return {f"{column_}_{name}": big for name in names} | {f"{column_}_total": EXACT}
        case _:
            return {}


def value(column_: str, aggregate: Aggregate, *, always: bool) -> exp.Expr:
    """The term of an aggregate in a segment `s`; `r_<column>` has those that are made of the rows.

    `always`: the group is there without solutions, too.
    """
    if aggregate.function == "COUNT":
        return _integer(column(f"{column_}_count", "s"))
    from_rows = column("value", f"r_{column_}")
    if aggregate.function not in RUNNING:
        if always and aggregate.function == "GROUP_CONCAT":
            nobody = column("solutions", "s").eq(exp.Literal.number(0))
            return exp.Case().when(nobody, text('""')).else_(from_rows)
        return from_rows
    inexact = column(f"{column_}_inexact", "s") > 0
    return exp.Case().when(inexact, from_rows).else_(_running(column_, aggregate))


def _running(column_: str, aggregate: Aggregate) -> exp.Expr:
    """SUM or AVG by running sums; terms are made by the evaluator, as anywhere."""
    total = column(f"{column_}_total", "s")
    whole = _integer(exp.cast(total, _WHOLE))
    decimal = _literal(exp.cast(total.copy(), "TEXT"), "decimal")
    number_ = (
        exp.Case()
        .when(column(f"{column_}_decimals", "s").eq(exp.Literal.number(0)), whole)
        .else_(decimal)
    )
    if aggregate.function == "SUM":
        # A sum is in canonical form; the digits that the type of sums has are not.
        return _evaluated("+", number_, _zero())
    count = column(f"{column_}_count", "s")
    mean = _evaluated("/", number_, _integer(count))
    return exp.Case().when(count.copy().eq(exp.Literal.number(0)), _zero()).else_(mean)


def _integer(value: exp.Expr) -> exp.Expr:
    return _literal(exp.cast(value, "TEXT"), "integer")


def _literal(lexical: exp.Expr, datatype: str) -> exp.Expr:
    opened = exp.DPipe(this=text('"'), expression=lexical)
    return exp.DPipe(this=opened, expression=text(f'"^^<{_XSD}{datatype}>'))


def _zero() -> exp.Expr:
    return text(f'"0"^^<{_XSD}integer>')


def _evaluated(function: str, *terms: exp.Expr) -> exp.Expr:
    names = [f"a{i}" for i in range(len(terms))]
    call = Call(function, tuple(Variable(name) for name in names))
    return exp.Anonymous(this=EVALUATE, expressions=[text(encode(call, names)), exp.array(*terms)])
