"""Extend: the solutions with one more variable, the value of an expression.

    delta Extend(C) = Extend(delta C)

https://www.w3.org/TR/sparql11-query/#defn_extend
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import alias, columns, select, subquery
from weir.engine.conditions import value_sql
from weir.engine.relations import CHANGE
from weir.engine.run import Run
from weir.plan.operators import Extend


def delta(node: Extend, run: Run) -> exp.Select:
    """The rows of the child with the value, null for an error."""
    own = node.child.variables
    rows = run.with_parameters(run.child(node.child), (*own, *CHANGE), node.expression)
    value = value_sql(node.expression, frozenset(own))
    return select(
        *columns(own),
        alias(value, node.variable),
        *columns(CHANGE),
        from_=subquery(rows, "child"),
    )
