"""Union: the solutions of all children, as a bag.

    delta Union(C1, .., Cn) = delta C1 + .. + delta Cn

https://www.w3.org/TR/sparql11-query/#defn_algUnion
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import columns, padded_columns, select, subquery, union_all
from weir.engine.relations import CHANGE
from weir.engine.run import Run, no_rows
from weir.plan.operators import PlanNode, Union

_FEW = 8
"""Parts of which all are computed by the statement that reads them."""


def delta(node: Union, run: Run) -> exp.Query:
    """The rows of all children in the columns of `node`."""
    changed = [child for child in node.children if not run.is_untouched(child)]
    is_large = len(changed) > _FEW and not run.epochs.from_nothing
    rows = run.part if is_large else run.child
    parts = ((child, rows(child)) for child in changed)
    return union_all(
        [_part(node, child, own) for child, own in parts if own is not None] or [no_rows(node)]
    )


def _part(node: Union, child: PlanNode, rows: exp.Query) -> exp.Select:
    return select(
        *padded_columns(node.variables, child.variables),
        *columns(CHANGE),
        from_=subquery(rows, "child"),
    )
