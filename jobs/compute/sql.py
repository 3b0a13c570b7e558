"""Builder of SQL as sqlglot trees, which Spark and DuckDB run alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sqlglot import exp


# sqlglot's own builders parse every name and copy every argument; a plan has hundreds of both.
def select(*expressions: exp.Expr | Literal["*"]) -> exp.Select:
    """A SELECT of expressions that belong to nothing else; `*` is all columns."""
    return exp.Select(expressions=[exp.Star() if e == "*" else e for e in expressions])


def rows_of(name: str) -> exp.Table:
    """A relation by its name."""
    return exp.Table(this=exp.to_identifier(name))


def column(name: str, table: str | None = None) -> exp.Column:
    """A column, quoted."""
    qualifier = None if table is None else exp.Identifier(this=table, quoted=True)
    return exp.Column(this=exp.Identifier(this=name, quoted=True), table=qualifier)


def text(value: str) -> exp.Expr:
    """A string literal that means the same on both engines.

    Spark reads backslashes in a plain literal as escapes and DuckDB does not; sqlglot writes the
    literal for each.
    """
    return exp.Literal.string(value)


def number(value: int) -> exp.Expr:
    """A BIGINT literal."""
    bigint = exp.DataType(this=exp.DType.BIGINT, nested=False)
    return exp.Cast(this=exp.Literal.number(value), to=bigint)


def null_text(name: str) -> exp.Expr:
    """A column that is null, of string type."""
    string = exp.DataType(this=exp.DType.TEXT, nested=False)
    null = exp.Cast(this=exp.null(), to=string)
    return exp.Alias(this=null, alias=exp.Identifier(this=name, quoted=True))


def columns(names: tuple[str, ...], table: str | None = None) -> list[exp.Expr]:
    """Several columns."""
    return [column(name, table) for name in names]


def same_row(
    names: tuple[str, ...], left: str, right: str, certain: frozenset[str] = frozenset()
) -> list[exp.Expr]:
    """Conditions under which rows of `left` and `right` agree; unbound equals unbound."""
    conditions: list[exp.Expr] = []
    for name in names:
        if name in certain:
            conditions.append(column(name, left).eq(column(name, right)))
        else:
            conditions.append(
                exp.NullSafeEQ(this=column(name, left), expression=column(name, right))
            )
    return conditions


def union_all(selects: Sequence[exp.Query]) -> exp.Query:
    """The rows of all `selects`, which have the same columns."""
    whole = selects[0]
    for select in selects[1:]:
        whole = exp.union(whole, select, distinct=False, copy=False)
    return whole
