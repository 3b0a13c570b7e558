"""Filter: the solutions for which a condition is true.

    delta Filter(C) = Filter(delta C)

https://www.w3.org/TR/sparql11-query/#defn_algFilter
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import columns, select, subquery
from weir.engine.conditions import condition_sql
from weir.engine.relations import CHANGE
from weir.engine.run import Run
from weir.plan.operators import Filter


def delta(node: Filter, run: Run) -> exp.Select:
    """The rows of the child that satisfy the condition."""
    names = (*node.variables, *CHANGE)
    rows = run.with_parameters(run.child(node.child), names, node.condition)
    return select(
        *columns(names),
        from_=subquery(rows, "child"),
        where=[condition_sql(node.condition, frozenset(node.variables))],
    )
