"""The rows of the log of an answer that are explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
        written: the value as it is written.
        undeclared: the prefix that it begins with, as in `ex:`, if none is declared.
    """

    terms: Sequence[str]
    lexical: str | None = None
    written: str = ""
    undeclared: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which rows of the log of an answer are meant.

    Attributes:
        values: by column, of which a row must have one.
        instant: of an answer over streams, at which they changed; None for any.
    """

    values: Mapping[str, Sequence[Value]] = field(default_factory=dict)
    instant: int | None = None

    @property
    def is_all(self) -> bool:
        """Whether all rows are."""
        return not self.values and self.instant is None


def rows_of_answer(definition: Definition, chosen: Chosen) -> list[exp.Expr]:
    """The conditions of chosen rows in the embeddings of a definition."""
    columns_of, instant = dict(definition.columns), chosen.instant
    return [
        column("node").eq(text(ANSWER)),
        *([] if instant is None else [column("instant").eq(number(instant))]),
        *(is_one_of(columns_of[name], wanted) for name, wanted in chosen.values.items()),
    ]


def key_of(definition: Definition) -> list[str]:
    """The columns of the embeddings that say which row it is, and over streams when."""
    times = [] if definition.axis.has_states else ["instant"]
    return [*times, *(name for _, name in definition.columns)]


def changed_rows(
    engine: SqlEngine,
    definition: Definition,
    epoch: int,
    chosen: Chosen,
    most: int,
) -> Sequence[ChangedRow]:
    """The rows of an answer that changed at an epoch; over streams in the order of instants.

    Args:
        engine: has the embeddings as `STORED`.
        definition: whose answer it is.
        epoch: the epoch.
        chosen: which rows.
        most: so many rows at most.
    """
    key, weight = key_of(definition), sum_of(column("weight"))
    rows = (
        select(
            *columns(key),
            alias(bigint(weight), "weight"),
            from_=rows_of(STORED),
            where=[*rows_of_answer(definition, chosen), column("epoch").eq(number(epoch))],
            group_by=columns(key),
            having=weight.neq(number(0)),
        )
        .order_by(*columns(key))
        .limit(most)
    )
    changed = []
    for *cells, by in engine.rows(rows):
        at = None if definition.axis.has_states else int(str(cells.pop(0)))
        row = tuple(None if cell is None else str(cell) for cell in cells)
        changed.append(ChangedRow(row, int(str(by)), at))
    return changed


def is_one_of(name: str, values: Sequence[Value]) -> exp.Expr:
    """Whether a column has one of some values."""
    cell = column(name)
    conditions = [one_of(cell, [term for value in values for term in value.terms])]
    for value in values:
        for suffix in () if value.lexical is None else ("^^", "@"):
            begin = text(f"{value.lexical}{suffix}")
            conditions.append(exp.StartsWith(this=cell.copy(), expression=begin))
    return any_of(conditions)
