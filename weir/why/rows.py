"""The rows of the log of an answer that are explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from weir.compute.protocol import SqlEngine
from weir.compute.sql import (
    alias,
    any_of,
    bigint,
    column,
    columns,
    number,
    one_of,
    rows_of,
    select,
    sum_of,
    text,
)
from weir.definitions.definition import Definition
from weir.plan.plan import ANSWER
from weir.why.explanation import ChangedRow
from weir.why.worlds import STORED


@dataclass(frozen=True, slots=True)
class Value:
    """What a cell may be.

    Attributes:
        terms: exact terms.
        lexical: a plain literal; literals of any type or language with its text are meant, too.
    """

    terms: Sequence[str]
    lexical: str | None = None


def newest_change(engine: SqlEngine, embeddings: str, base: int) -> int | None:
    """The newest epoch after `base` that changed the answer; None if there is none."""
    newest = select(
        alias(exp.Max(this=column("epoch")), "epoch"),
        from_=rows_of(embeddings),
        where=[column("node").eq(text(ANSWER)), column("epoch") > number(base)],
    )
    ((epoch,),) = engine.rows(newest)
    return None if epoch is None else int(str(epoch))


def changed_rows(
    engine: SqlEngine,
    definition: Definition,
    epoch: int,
    values: Mapping[str, Sequence[Value]],
    most: int,
    instant: int | None,
) -> Sequence[ChangedRow]:
    """The rows of an answer that changed at an epoch; over streams in the order of instants.

    Args:
        engine: has the embeddings as `STORED`.
        definition: whose answer it is.
        epoch: the epoch.
        values: by column, of which a row must have one.
        most: so many rows at most.
        instant: at which they changed; None for any.
    """
    stored = [name for _, name in definition.columns]
    columns_of = dict(definition.columns)
    times = [] if definition.axis.has_states else ["instant"]
    key, weight = [*times, *stored], sum_of(column("weight"))
    rows = (
        select(
            *columns(key),
            alias(bigint(weight), "weight"),
            from_=rows_of(STORED),
            where=[
                column("node").eq(text(ANSWER)),
                column("epoch").eq(number(epoch)),
                *([] if instant is None else [column("instant").eq(number(instant))]),
                *(_is_one_of(columns_of[name], wanted) for name, wanted in values.items()),
            ],
            group_by=columns(key),
            having=weight.neq(number(0)),
        )
        .order_by(*columns(key))
        .limit(most)
    )
    changed = []
    for *cells, by in engine.rows(rows):
        at = int(str(cells.pop(0))) if times else None
        row = tuple(None if cell is None else str(cell) for cell in cells)
        changed.append(ChangedRow(row, int(str(by)), at))
    return changed


def _is_one_of(name: str, values: Sequence[Value]) -> exp.Expr:
    """Whether a column has one of some values."""
    cell = column(name)
    conditions = [one_of(cell, [term for value in values for term in value.terms])]
    for value in values:
        for suffix in () if value.lexical is None else ("^^", "@"):
            begin = text(f"{value.lexical}{suffix}")
            conditions.append(exp.StartsWith(this=cell.copy(), expression=begin))
    return any_of(conditions)
