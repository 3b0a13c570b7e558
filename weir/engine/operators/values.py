"""Values: inline data, which holds from the first epoch on.

https://www.w3.org/TR/sparql11-query/#inline-data
"""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from weir.compute.sql import (
    alias,
    as_text,
    column,
    columns,
    inner_join,
    number,
    rows_of,
    select,
    subquery,
    text,
    union_all,
)
from weir.engine.relations import EpochRange
from weir.engine.run import Run, no_rows
from weir.plan.leaves import MEMBER, MemberValues, Values
from weir.plan.parameters import column_of, is_parameter


def delta(node: Values, run: Run) -> exp.Query:
    """All rows in the run that begins with the first epoch, none in any other.

    They are a relation: the text of a statement does not grow with them.
    """
    is_of_members = isinstance(node, MemberValues)
    names = node.variables[1:] if is_of_members else node.variables
    if not (run.epochs.from_nothing and node.rows):
        return no_rows(node)
    terms = (term for row in node.rows for term in row if term is not None)
    if not names or any(map(is_parameter, terms)):
        return union_all([_row(names, row, run, of_members=is_of_members) for row in node.rows])
    cells = [pa.array(values, pa.string()) for values in zip(*node.rows, strict=True)]
    given = rows_of(run.load(run.name(node, "given"), pa.table(cells, [*names])))
    return select(
        *columns(node.variables),
        *_at_first(run.epochs),
        from_=given,
        joins=[inner_join(subquery(_member(run), "m"))] if is_of_members else (),
    )


def _row(
    names: tuple[str, ...], row: tuple[str | None, ...], run: Run, *, of_members: bool
) -> exp.Select:
    cells = (*_cells(names, row), *_at_first(run.epochs))
    if not of_members:
        return select(*cells)
    return select(column(MEMBER), *cells, from_=rows_of(run.members))


def _member(run: Run) -> exp.Select:
    return select(column(MEMBER), from_=rows_of(run.members))


def _cells(names: tuple[str, ...], row: tuple[str | None, ...]) -> list[exp.Expr]:
    return [alias(as_text(_cell(term)), name) for term, name in zip(row, names, strict=True)]


def _cell(term: str | None) -> exp.Expr:
    if term is None:
        return exp.null()
    return column(column_of(term)) if is_parameter(term) else text(term)


def _at_first(epochs: EpochRange) -> list[exp.Expr]:
    return [alias(number(epochs.start), "epoch"), alias(number(1), "weight")]
