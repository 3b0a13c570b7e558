"""Values: inline data, which holds from the first epoch on.

https://www.w3.org/TR/sparql11-query/#inline-data
"""

from __future__ import annotations

from sqlglot import exp

from jobs.compute.sql import (
    alias,
    as_text,
    column,
    null_text,
    number,
    rows_of,
    select,
    text,
    union_all,
)
from jobs.engine.relations import CHANGE, EpochRange
from jobs.engine.run import Run
from jobs.plan.leaves import MEMBER, MemberValues, Values
from jobs.plan.parameters import column_of, is_parameter


def delta(node: Values, run: Run) -> exp.Query:
    """All rows in the run that begins with the first epoch, none in any other."""
    rows = node.rows if run.epochs.from_nothing else ()
    if not rows:
        cells = [null_text(name) for name in node.variables]
        return select(*cells, *(alias(number(0), name) for name in CHANGE), where=[exp.false()])
    if isinstance(node, MemberValues):
        return union_all([_member_row(node.variables[1:], row, run) for row in rows])
    return union_all([_row(node.variables, row, run.epochs) for row in rows])


def _row(names: tuple[str, ...], row: tuple[str | None, ...], epochs: EpochRange) -> exp.Select:
    return select(*_cells(names, row), *_at_first(epochs))


def _member_row(names: tuple[str, ...], row: tuple[str | None, ...], run: Run) -> exp.Select:
    return select(
        column(MEMBER), *_cells(names, row), *_at_first(run.epochs), from_=rows_of(run.members)
    )


def _cells(names: tuple[str, ...], row: tuple[str | None, ...]) -> list[exp.Expr]:
    return [alias(as_text(_cell(term)), name) for term, name in zip(row, names, strict=True)]


def _cell(term: str | None) -> exp.Expr:
    if term is None:
        return exp.null()
    return column(column_of(term)) if is_parameter(term) else text(term)


def _at_first(epochs: EpochRange) -> list[exp.Expr]:
    return [alias(number(epochs.start), "epoch"), alias(number(1), "weight")]
