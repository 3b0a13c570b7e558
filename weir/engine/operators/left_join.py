"""Left join: the pairs of a join, and the left solutions that have no match; OPTIONAL.

    delta(L leftjoin R) = delta(L join R) + delta(L antijoin R)

https://www.w3.org/TR/sparql11-query/#defn_algLeftJoin
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import columns, padded_columns, select, subquery, union_all
from weir.engine.operators.anti_join import unmatched
from weir.engine.operators.join import joined
from weir.engine.relations import CHANGE
from weir.engine.run import ProductOf, Run
from weir.engine.two_sides import two_sides
from weir.plan.leaves import MEMBER
from weir.plan.operators import LeftJoin


def delta(node: LeftJoin, run: Run) -> exp.Query:
    """The pairs, and the rest of the left rows with the right side's variables unbound."""
    sides = two_sides(node, run)
    if not {*sides.keys.shared} - {MEMBER}:
        run.products.append(ProductOf((sides.left_intervals, sides.right_intervals)))
    rest = select(
        *padded_columns(node.variables, node.left.variables),
        *columns(CHANGE),
        from_=subquery(unmatched(sides, run.epochs, node.condition), "part"),
    )
    return union_all([joined(sides, node.condition), rest])
