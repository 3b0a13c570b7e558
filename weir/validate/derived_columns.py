"""Columns of a change that depend on the other changes of the same row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from weir.compute.sql import (
    alias,
    anti_join,
    bigint,
    column,
    columns,
    equal,
    hash_of,
    number,
    over,
    rows_of,
    select,
    semi_join,
    subquery,
)

_HASH = "key_hash"


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

    Window functions sort whole rows of text, which is slow, and so is an aggregation by them. Most
    rows change once in a range: no other one has the hash of their key. Only the others are sorted,
    and the few whose hashes are equal by chance. Subqueries that are read more than once are common
    table expressions, so that DuckDB computes each once.
    """
    hashed = select(
        *columns((*key, *others)), alias(hash_of(columns(key)), _HASH), from_=subquery(changes, "c")
    )
    shared = select(
        column(_HASH),
        from_=rows_of("hashed"),
        group_by=[column(_HASH)],
        having=exp.Count(this=exp.Star()) > number(1),
    )
    single = select(
        *columns((*key, *others)),
        *(alias(bigint(added.single), added.name) for added in derived),
        from_=rows_of("hashed", "h"),
        joins=[anti_join(rows_of("shared", "s"), *equal((_HASH,), "h", "s"))],
    )
    repeated = select(
        *columns((*key, *others)),
        from_=rows_of("hashed", "h"),
        joins=[semi_join(rows_of("shared", "s"), *equal((_HASH,), "h", "s"))],
    )
    windows = select(
        *columns((*key, *others)),
        *(alias(bigint(added.window), added.name) for added in derived),
        from_=subquery(repeated, "repeated"),
    )
    rows = exp.union(single, windows, distinct=False, copy=False)
    return rows.with_("hashed", as_=hashed).with_("shared", as_=shared)
