"""Union: the solutions of all children, as a bag.

    delta Union(C1, .., Cn) = delta C1 + .. + delta Cn

https://www.w3.org/TR/sparql11-query/#defn_algUnion
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import columns, padded_columns, select, subquery, union_all
from weir.engine.relations import CHANGE
from weir.engine.run import Run
from weir.plan.operators import PlanNode, Union


def delta(node: Union, run: Run) -> exp.Query:
    """The rows of all children in the columns of `node`."""
    return union_all([_part(node, child, run) for child in node.children])


def _part(node: Union, child: PlanNode, run: Run) -> exp.Select:
    return select(
        *padded_columns(node.variables, child.variables),
        *columns(CHANGE),
        from_=subquery(run.child(child), "child"),
    )
