"""Aggregates as running sums: which sums they need, their events, and the terms made of them."""

from __future__ import annotations

from sqlglot import exp

from weir.compute.functions import EVALUATE
from weir.compute.sql import (
    alias,
    any_of,
    as_text,
    case,
    cast,
    column,
    columns,
    concatenated,
    is_not_null,
    is_null,
    rows_of,
    select,
    small_number,
    subquery,
    text,
)
from weir.engine.conditions import value_sql
from weir.engine.sweep import Key
from weir.plan.operators import Aggregate
from weir.sparql.algebra.expressions import Call, Variable
from weir.sparql.functions.serialization import encode

MEASURED = ("COUNT", "SUM", "AVG")
"""The aggregates that running sums may give."""

_XSD = "http://www.w3.org/2001/XMLSchema#"
# The product of an addend and its multiplicity has exactly the digits of a sum: no engine rounds.
_ADDEND = exp.DataType.build("DECIMAL(28, 10)")
_TIMES = exp.DataType.build("DECIMAL(9, 0)")
_TOO_MANY_TIMES = 10**9
"""The least multiplicity that does not fit into `_TIMES`."""
_EXACT = exp.DataType.build("DECIMAL(38, 10)")
_WHOLE = exp.DataType.build("DECIMAL(38, 0)")
_BIGINT = exp.DataType.build("BIGINT")


def measures(name: str, aggregate: Aggregate) -> dict[str, exp.DataType]:
    """The running sums of an aggregate and their types."""
    match aggregate.function:
        case "COUNT":
            return {f"{name}_count": _BIGINT}
        case "SUM" | "AVG":
            counts = (f"{name}_{kind}" for kind in ("count", "inexact", "decimals"))
            return dict.fromkeys(counts, _BIGINT) | {f"{name}_total": _EXACT}
        case _:
            return {}


def events(key: Key, name: str, aggregate: Aggregate, source: str) -> exp.Select:
    """The events of an aggregate's running sums.

    Args:
        key: the columns of a group.
        name: the aggregate's column.
        aggregate: one of `MEASURED`.
        source: relation of the log of the rows that it reads.
    """
    if aggregate.function == "COUNT":
        return select(
            *columns((*key, "epoch")),
            alias(_counted(aggregate), f"{name}_count"),
            from_=rows_of(source),
        )
    return _added(key, name, aggregate, source)


def _counted(aggregate: Aggregate) -> exp.Expr:
    if aggregate.argument is None:
        return column("weight")
    is_value = is_not_null(column(aggregate.argument))
    return case((is_value, column("weight")), otherwise=small_number(0))


def _added(key: Key, name: str, aggregate: Aggregate, source: str) -> exp.Select:
    """The events of SUM and AVG."""
    assert aggregate.argument is not None, "only COUNT has no argument"
    prepared = select(
        *columns((*key, "epoch", "weight")),
        alias(_addend(aggregate.argument), "addend"),
        from_=rows_of(source),
    )
    is_error = is_null(column("addend"))
    # With a row that comes or goes so often at once, the sum is made of the rows from then on.
    times = exp.Abs(this=column("weight"))
    is_many = times >= small_number(_TOO_MANY_TIMES)
    # `ADDEND` is "i12" or "d1.5" as a literal, or null.
    kind = _substring(column("addend"), 2, small_number(1))
    digits = _substring(column("addend"), 3, exp.Length(this=column("addend")) - small_number(3))
    amount = cast(cast(digits, _ADDEND) * cast(column("weight"), _TIMES), _EXACT)
    inexact = case((is_error, column("weight")), (is_many.copy(), times), otherwise=small_number(0))
    decimals = case((kind.eq(text("d")), column("weight")), otherwise=small_number(0))
    total = case(
        (any_of([is_error.copy(), is_many]), cast(small_number(0), _EXACT)), otherwise=amount
    )
    return select(
        *columns((*key, "epoch")),
        alias(column("weight"), f"{name}_count"),
        alias(inexact, f"{name}_inexact"),
        alias(decimals, f"{name}_decimals"),
        alias(total, f"{name}_total"),
        from_=subquery(prepared, "prepared"),
    )


def _addend(argument: str) -> exp.Expr:
    return value_sql(Call("ADDEND", (Variable(argument),)), frozenset({argument}))


def _substring(string: exp.Expr, start: int, length: exp.Expr) -> exp.Expr:
    return exp.Substring(this=string, start=small_number(start), length=length)


def value(name: str, aggregate: Aggregate, *, always: bool) -> exp.Expr:
    """The term of an aggregate in a segment `s`; `r_<column>` has those that are made of the rows.

    `always`: the group is there without solutions, too.
    """
    if aggregate.function == "COUNT":
        return _integer(column(f"{name}_count", "s"))
    from_rows = column("value", f"r_{name}")
    if aggregate.function not in MEASURED:
        if always and aggregate.function == "GROUP_CONCAT":
            is_empty = column("solutions", "s").eq(small_number(0))
            return case((is_empty, text('""')), otherwise=from_rows)
        return from_rows
    inexact = column(f"{name}_inexact", "s") > 0
    return case((inexact, from_rows), otherwise=_from_sums(name, aggregate))


def _from_sums(name: str, aggregate: Aggregate) -> exp.Expr:
    """SUM or AVG by running sums; the evaluator makes the term, as it does anywhere."""
    is_whole = column(f"{name}_decimals", "s").eq(small_number(0))
    total = case(
        (is_whole, _integer(cast(column(f"{name}_total", "s"), _WHOLE))),
        otherwise=_literal(as_text(column(f"{name}_total", "s")), "decimal"),
    )
    if aggregate.function == "SUM":
        # A sum is in canonical form; the digits that the type of sums has are not.
        return _evaluated("+", total, _zero())
    count = f"{name}_count"
    mean = _evaluated("/", total, _integer(column(count, "s")))
    return case((column(count, "s").eq(small_number(0)), _zero()), otherwise=mean)


def _integer(value: exp.Expr) -> exp.Expr:
    return _literal(as_text(value), "integer")


def _literal(lexical: exp.Expr, datatype: str) -> exp.Expr:
    return concatenated(text('"'), lexical, text(f'"^^<{_XSD}{datatype}>'))


def _zero() -> exp.Expr:
    return text(f'"0"^^<{_XSD}integer>')


def _evaluated(function: str, *terms: exp.Expr) -> exp.Expr:
    names = [f"a{i}" for i in range(len(terms))]
    call = Call(function, tuple(Variable(name) for name in names))
    array = exp.Array(expressions=[*terms])
    return exp.Anonymous(this=EVALUATE, expressions=[text(encode(call, names)), array])
