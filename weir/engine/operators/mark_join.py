"""Mark join: all left solutions, with a flag that says whether they have a match.

    L markjoin R = segments with left > 0, flag matches > 0, weight left

The flag is what an EXISTS within an expression reads.
https://www.w3.org/TR/sparql11-query/#defn_evalExists
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import alias, case, column, text
from weir.engine.matches import left_rows
from weir.engine.run import Run
from weir.engine.sweep import differentiate
from weir.engine.terms import FALSE, TRUE
from weir.engine.two_sides import two_sides
from weir.plan.operators import MarkJoin


def delta(node: MarkJoin, run: Run) -> exp.Select:
    """The left rows and their flag."""
    value = case((column("matches") > 0, text(TRUE)), otherwise=text(FALSE))
    flag = alias(value, node.flag)
    rows = left_rows(two_sides(node, run), node.condition, flag=flag)
    return differentiate(rows, node.variables, run.epochs)
