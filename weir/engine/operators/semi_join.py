"""Semi join: the left solutions that have a match; EXISTS.

    L semijoin R = segments with left > 0 and matches > 0, weight left

https://www.w3.org/TR/sparql11-query/#defn_evalExists
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import column
from weir.engine.matches import left_rows
from weir.engine.run import Run
from weir.engine.sweep import differentiate
from weir.engine.two_sides import two_sides
from weir.plan.operators import SemiJoin


def delta(node: SemiJoin, run: Run) -> exp.Select:
    """The left rows that have a match."""
    rows = left_rows(two_sides(node, run), node.condition, column("matches") > 0)
    return differentiate(rows, node.variables, run.epochs)
