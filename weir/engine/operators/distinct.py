"""Distinct: each solution once, for as long as its multiplicity is positive.

    delta Distinct(C) = differentiate( segments of C's touched rows whose running sum is positive )

Touched: the rows that occur in C's delta. https://www.w3.org/TR/sparql11-query/#defn_algDistinct
"""

from __future__ import annotations

from sqlglot import exp

from weir.engine.run import Run
from weir.engine.sweep import differentiate, presence
from weir.plan.operators import Distinct


def delta(node: Distinct, run: Run) -> exp.Select:
    """The rows, each once."""
    return differentiate(
        presence(run.touched_log(node), node.variables), node.variables, run.epochs
    )
