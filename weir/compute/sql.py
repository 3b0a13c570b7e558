"""Builders of SQL as sqlglot trees, for Spark and DuckDB.

sqlglot's own builders parse names and copy their arguments, and a plan has thousands of both. The
functions here do neither: an argument becomes part of the result, so pass an expression only once.
Python's operators on expressions (`<`, `*`, `.eq`) copy their operands.

Columns and aliases are quoted; names of relations are quoted where necessary.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from sqlglot import exp


def select(
    *expressions: exp.Expr | Literal["*"],
    from_: exp.Expr | None = None,
    joins: Sequence[exp.Join] = (),
    where: Sequence[exp.Expr] = (),
    group_by: Sequence[exp.Expr] = (),
    having: exp.Expr | None = None,
    distinct: bool = False,
    order_by: Sequence[exp.Expr] = (),
    limit: int | None = None,
) -> exp.Select:
    """A SELECT; `*` means all columns.

    Args:
        expressions: what is selected.
        from_: a relation (`rows_of`) or a subquery (`subquery`).
        joins: `inner_join`, `left_join`, `semi_join` or `anti_join` of further relations.
        where: conditions, all of which must hold.
        group_by: the grouping keys; none for no GROUP BY.
        having: condition on a group.
        distinct: whether equal rows are merged.
        order_by: `ascending` and `descending` keys.
        limit: most rows.
    """
    query = exp.Select(expressions=[exp.Star() if e == "*" else e for e in expressions])
    if from_ is not None:
        query.set("from_", exp.From(this=from_))
    if joins:
        query.set("joins", [*joins])
    if where:
        query.set("where", exp.Where(this=all_of(where)))
    if group_by:
        query.set("group", exp.Group(expressions=[*group_by]))
    if having is not None:
        query.set("having", exp.Having(this=having))
    if distinct:
        query.set("distinct", exp.Distinct())
    if order_by:
        query.set("order", exp.Order(expressions=[*order_by]))
    if limit is not None:
        query.set("limit", exp.Limit(expression=exp.Literal.number(limit)))
    return query


def rows_of(name: str, alias: str | None = None) -> exp.Table:
    """A relation by its name."""
    return exp.Table(this=exp.to_identifier(name), alias=_table_alias(alias))


def subquery(query: exp.Query, alias: str | None = None) -> exp.Subquery:
    """A query as a relation, or as a value if it has one row."""
    return exp.Subquery(this=query, alias=_table_alias(alias))


def inner_join(relation: exp.Expr, *on: exp.Expr) -> exp.Join:
    """An inner join: the pairs of rows that meet all conditions."""
    return exp.Join(this=relation, kind="INNER", on=all_of(on))


def left_join(relation: exp.Expr, *on: exp.Expr) -> exp.Join:
    """A left join: also left rows without a match, with null in the right columns."""
    return exp.Join(this=relation, side="LEFT", on=all_of(on))


def semi_join(relation: exp.Expr, *on: exp.Expr) -> exp.Join:
    """A semi-join: the left rows that have a match."""
    return exp.Join(this=relation, kind="SEMI", on=all_of(on))


def anti_join(relation: exp.Expr, *on: exp.Expr) -> exp.Join:
    """An anti-join: the left rows that have no match."""
    return exp.Join(this=relation, kind="ANTI", on=all_of(on))


def union_all(selects: Sequence[exp.Query]) -> exp.Query:
    """The rows of all `selects`, which have the same columns."""
    whole, *others = selects
    for query in others:
        whole = exp.Union(this=whole, expression=query, distinct=False)
    return whole


def column(name: str, table: str | None = None) -> exp.Column:
    """A column."""
    qualifier = None if table is None else exp.Identifier(this=table, quoted=True)
    return exp.Column(this=exp.Identifier(this=name, quoted=True), table=qualifier)


def columns(names: Iterable[str], table: str | None = None) -> list[exp.Expr]:
    """Several columns."""
    return [column(name, table) for name in names]


def padded_columns(names: Iterable[str], available: Collection[str]) -> list[exp.Expr]:
    """Several columns of terms; missing columns are unbound."""
    return [column(name) if name in available else null_text(name) for name in names]


def alias(expression: exp.Expr, name: str) -> exp.Alias:
    """An expression as a column with a name."""
    return exp.Alias(this=expression, alias=exp.Identifier(this=name, quoted=True))


def text(value: str) -> exp.Expr:
    """A string literal with the same value on both engines.

    Spark reads backslashes in a literal as escapes, DuckDB does not; sqlglot writes it for each.
    """
    return exp.Literal.string(value)


def number(value: int) -> exp.Expr:
    """A BIGINT literal."""
    return bigint(exp.Literal.number(value))


def small_number(value: int) -> exp.Expr:
    """An integer literal of the engine's own type."""
    return exp.Literal.number(value)


def null_text(name: str) -> exp.Expr:
    """A null column of string type."""
    return alias(as_text(exp.null()), name)


def null_time(name: str) -> exp.Expr:
    """A null column of time type."""
    return alias(cast(exp.null(), exp.DType.TIMESTAMPTZ), name)


def bigint(expression: exp.Expr) -> exp.Expr:
    """An expression cast to BIGINT: sums have a wider type on DuckDB than on Spark."""
    return cast(expression, exp.DType.BIGINT)


def as_text(expression: exp.Expr) -> exp.Expr:
    """An expression cast to a string."""
    return cast(expression, exp.DType.TEXT)


def cast(expression: exp.Expr, to: exp.DType | exp.DataType) -> exp.Expr:
    """An expression cast to another type."""
    kind = to.copy() if isinstance(to, exp.DataType) else exp.DataType(this=to, nested=False)
    return exp.Cast(this=expression, to=kind)


def time_of(instant: exp.Expr) -> exp.Expr:
    """The time of an instant: microseconds since 1970-01-01T00:00:00Z."""
    return exp.UnixToTime(this=instant, scale=exp.UnixToTime.MICROS)


def sum_of(expression: exp.Expr) -> exp.Expr:
    """The sum over a group or a window."""
    return exp.Sum(this=expression)


def greatest(first: exp.Expr, *others: exp.Expr) -> exp.Expr:
    """The greatest of some values that are not null."""
    return exp.Greatest(this=first, expressions=[*others], ignore_nulls=True) if others else first


def least(first: exp.Expr, *others: exp.Expr) -> exp.Expr:
    """The least of some values that are not null."""
    return exp.Least(this=first, expressions=[*others], ignore_nulls=True) if others else first


def coalesce(first: exp.Expr, *others: exp.Expr) -> exp.Expr:
    """The first value that is not null."""
    return exp.Coalesce(this=first, expressions=[*others])


def concatenated(first: exp.Expr, *others: exp.Expr) -> exp.Expr:
    """The concatenation of strings; null if one is null (CONCAT of DuckDB would skip it)."""
    whole = first
    for part in others:
        whole = exp.DPipe(this=whole, expression=part)
    return whole


def case(*cases: tuple[exp.Expr, exp.Expr], otherwise: exp.Expr | None = None) -> exp.Case:
    """The value of the first case whose condition holds; else `otherwise`, by default null."""
    ifs = [exp.If(this=condition, true=value) for condition, value in cases]
    return exp.Case(ifs=ifs, default=otherwise)


def each_of(first: exp.Expr, last: exp.Expr) -> exp.Expr:
    """A row for each integer from `first` to `last`, both included; `first` <= `last`."""
    return exp.Explode(this=exp.GenerateSeries(start=first, end=last))


def quotient(dividend: exp.Expr, divisor: int) -> exp.Expr:
    """The quotient rounded down (both engines round towards zero); `divisor` is positive."""
    whole = exp.Paren(this=dividend)
    below = exp.Paren(this=number(divisor - 1) - whole)
    return exp.Paren(
        this=case(
            (whole.copy() >= number(0), divided(whole, divisor)),
            otherwise=-divided(below, divisor),
        )
    )


def divided(dividend: exp.Expr, divisor: int) -> exp.Expr:
    """The quotient rounded towards zero."""
    return bigint(exp.IntDiv(this=dividend, expression=number(divisor)))


def all_of(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """The conjunction of `conditions`; true if there are none."""
    return exp.and_(*conditions, copy=False) if conditions else exp.true()


def any_of(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """The disjunction of `conditions`; false if there are none."""
    return exp.or_(*conditions, copy=False) if conditions else exp.false()


def negated(condition: exp.Expr) -> exp.Expr:
    """The negation of a condition; null stays null."""
    return exp.not_(condition, copy=False)


def is_null(expression: exp.Expr) -> exp.Expr:
    """Whether a value is null."""
    return exp.Is(this=expression, expression=exp.null())


def is_not_null(expression: exp.Expr) -> exp.Expr:
    """Whether a value is not null."""
    return exp.Not(this=is_null(expression))


def one_of(expression: exp.Expr, values: Iterable[str]) -> exp.Expr:
    """Whether a string is one of `values`."""
    return exp.In(this=expression, expressions=[text(value) for value in values])


def matches(value: exp.Expr, pattern: str) -> exp.Expr:
    """Whether a string contains a match of a regular expression."""
    return exp.RegexpLike(this=value, expression=text(pattern))


def extracted(value: exp.Expr, pattern: str) -> exp.Expr:
    """The first group of the first match of a regular expression; empty without a match."""
    return exp.RegexpExtract(this=value, expression=text(pattern), group=small_number(1))


HASH = "XXHASH64"
"""A hash of 64 bits, as Spark calls it; DuckDB has a macro of this name (`weir.compute.duck`)."""


def hash_of(values: Sequence[exp.Expr]) -> exp.Expr:
    """A hash of some values; that of an engine differs from that of the other."""
    return exp.Anonymous(this=HASH, expressions=[exp.Struct(expressions=[*values])])


def same_row(
    names: Iterable[str], left: str, right: str, certain: Collection[str] = ()
) -> list[exp.Expr]:
    """Conditions for equal rows of `left` and `right`; unbound equals unbound.

    `certain` names columns that are never null: `=` compares them, so that they can be hashed.
    """
    return [
        _compare(exp.EQ if name in certain else exp.NullSafeEQ, name, left, right) for name in names
    ]


def equal(names: Iterable[str], left: str, right: str) -> list[exp.Expr]:
    """Conditions for rows of `left` and `right` equal in these columns, which are never null."""
    return [_compare(exp.EQ, name, left, right) for name in names]


def over(
    function: exp.Expr,
    partition_by: Sequence[exp.Expr],
    order_by: Sequence[exp.Expr] = (),
    *,
    rows_before: bool = False,
) -> exp.Window:
    """A window function over the rows of a partition, in the order of `order_by`.

    With `rows_before`, only over the rows before the current one; null for the first row.
    """
    frame = exp.WindowSpec(
        kind="ROWS",
        start="UNBOUNDED",
        start_side="PRECEDING",
        end=small_number(1),
        end_side="PRECEDING",
    )
    return exp.Window(
        this=function,
        partition_by=[*partition_by] or None,
        order=exp.Order(expressions=[*order_by]) if order_by else None,
        spec=frame if rows_before else None,
    )


def row_number(partition_by: Sequence[exp.Expr], order_by: Sequence[exp.Expr]) -> exp.Window:
    """The position of a row in the order of its partition, from 1."""
    return over(exp.RowNumber(), partition_by, order_by)


def ascending(expression: exp.Expr) -> exp.Expr:
    """An ascending key of ORDER BY."""
    return exp.Ordered(this=expression)


def descending(expression: exp.Expr) -> exp.Expr:
    """A descending key of ORDER BY."""
    return exp.Ordered(this=expression, desc=True)


def _compare(operator: type[exp.Binary], name: str, left: str, right: str) -> exp.Expr:
    return operator(this=column(name, left), expression=column(name, right))


def _table_alias(name: str | None) -> exp.TableAlias | None:
    return None if name is None else exp.TableAlias(this=exp.to_identifier(name))
