"""Values: inline data, which holds from the first epoch on.

https://www.w3.org/TR/sparql11-query/#inline-data
"""

from __future__ import annotations

from sqlglot import exp

from jobs.compute.sql import alias, as_text, null_text, number, select, text, union_all
from jobs.engine.relations import CHANGE, EpochRange
from jobs.engine.run import Run
from jobs.plan.leaves import Values


def delta(node: Values, run: Run) -> exp.Query:
    """All rows in the run that begins with the first epoch, none in any other."""
    rows = node.rows if run.epochs.from_nothing else ()
    if not rows:
        cells = [null_text(name) for name in node.variables]
        return select(*cells, *(alias(number(0), name) for name in CHANGE), where=[exp.false()])
    return union_all([_row(node.variables, row, run.epochs) for row in rows])


def _row(names: tuple[str, ...], row: tuple[str | None, ...], epochs: EpochRange) -> exp.Select:
    terms = (exp.null() if term is None else text(term) for term in row)
    return select(
        *(alias(as_text(term), name) for term, name in zip(terms, names, strict=True)),
        alias(number(epochs.start), "epoch"),
        alias(number(1), "weight"),
    )
