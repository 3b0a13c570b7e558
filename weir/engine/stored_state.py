"""The stored state of a plan's nodes at the beginning of a range, of the rows that are touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from weir.compute.sql import (
    alias,
    bigint,
    column,
    columns,
    number,
    rows_of,
    select,
    semi_join,
    subquery,
    sum_of,
    text,
)
from weir.engine.relations import EpochRange
from weir.engine.sweep import Key


@dataclass(frozen=True, slots=True)
class TouchedKeys:
    """Which stored rows are touched: those that satisfy `conditions` with a row of `relation`.

    In the conditions the stored rows are `s`, the keys `k`.
    """

    relation: exp.Query
    conditions: Sequence[exp.Expr]


def stored_state(
    embeddings: str, node: str, row: Key, epochs: EpochRange, keys: TouchedKeys | None = None
) -> exp.Select:
    """The state of a stored node before a range: a row per solution, at epoch `after`.

    It is the only statement that reads the whole stored log of a node.

    Args:
        embeddings: relation of the stored logs (node, v0, .., epoch, weight).
        node: the node's id.
        row: the node's columns.
        epochs: the range.
        keys: which rows; all if None.
    """
    stored = select(
        *columns((*row, "weight"), "s"),
        from_=rows_of(embeddings, "s"),
        joins=[] if keys is None else [semi_join(subquery(keys.relation, "k"), *keys.conditions)],
        where=[
            column("node", "s").eq(text(node)),
            column("epoch", "s") <= number(epochs.after),
        ],
    )
    return select(
        *columns(row),
        alias(number(epochs.after), "epoch"),
        alias(bigint(sum_of(column("weight"))), "weight"),
        from_=subquery(stored, "stored"),
        group_by=columns(row),
        having=sum_of(column("weight")).neq(0),
    )
