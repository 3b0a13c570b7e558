"""Project: the solutions in some of their variables; a bag, so nothing is merged.

    delta Project(C) = Project(delta C)

https://www.w3.org/TR/sparql11-query/#defn_algProjection
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import columns, padded_columns, select, subquery
from weir.engine.relations import CHANGE
from weir.engine.run import Run
from weir.plan.operators import Project


def delta(node: Project, run: Run) -> exp.Select:
    """The rows of the child in the columns of `node`."""
    return select(
        *padded_columns(node.variables, node.child.variables),
        *columns(CHANGE),
        from_=subquery(run.child(node.child), "child"),
    )
