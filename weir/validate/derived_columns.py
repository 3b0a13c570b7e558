"""Columns of a change that depend on the other changes of the same row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from weir.compute.sql import alias, bigint, column, columns, number, over, rows_of, same_row, select


@dataclass(frozen=True, slots=True)
class DerivedColumn:
    """A BIGINT column of a change, computed from the changes of the same row.

    Attributes:
        single: its value if the row changes once.
        window: its value in general, by window functions.
    """

    name: str
    single: exp.Expr
    window: exp.Expr


def changes_at_epoch(key: tuple[str, ...]) -> DerivedColumn:
    """The column `at_epoch`: how often the row, identified by `key`, changes at the epoch."""
    count = over(exp.Count(this=exp.Star()), columns((*key, "epoch")))
    return DerivedColumn("at_epoch", number(1), count)


def with_derived_columns(
    changes: exp.Query,
    key: tuple[str, ...],
    others: tuple[str, ...],
    derived: Sequence[DerivedColumn],
) -> exp.Query:
    """`changes`, which has the columns `key` and `others`, with the derived columns added.

    Window functions sort whole rows of text, which is slow. Most rows change once in a range: for
    them, an aggregation by the key is enough. Only the others are sorted. Subqueries that are read
    more than once are common table expressions, so that DuckDB computes each once.
    """
    grouped = (
        select(
            *columns(key),
            exp.Count(this=exp.Star()).as_("times"),
            *(exp.Min(this=column(name)).as_(name, quoted=True) for name in others),
        )
        .from_(rows_of("changes"))
        .group_by(*columns(key))
    )
    single = (
        select(
            *columns((*key, *others)),
            *(alias(bigint(added.single), added.name) for added in derived),
        )
        .from_(rows_of("grouped"))
        .where(column("times").eq(1))
    )
    repeated_keys = select(*columns(key)).from_(rows_of("grouped")).where(column("times") > 1)
    repeated = (
        select(*columns((*key, *others), "changes"))
        .from_(rows_of("changes"))
        .join(
            repeated_keys.subquery("repeated_keys"),
            on=exp.and_(*same_row(key, "changes", "repeated_keys")),
        )
    )
    windows = select(
        *columns((*key, *others)), *(alias(bigint(added.window), added.name) for added in derived)
    ).from_(repeated.subquery("repeated"))
    rows = exp.union(single, windows, distinct=False, copy=False)
    return rows.with_("changes", as_=changes).with_("grouped", as_=grouped)
