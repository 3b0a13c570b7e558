"""Anti join: the left solutions that have no match; MINUS, NOT EXISTS, and a part of OPTIONAL.

    L antijoin R = segments with left > 0 and matches = 0, weight left

https://www.w3.org/TR/sparql11-query/#defn_algMinus and #defn_evalExists
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import column
from weir.engine.matches import left_rows
from weir.engine.relations import EpochRange
from weir.engine.run import Run
from weir.engine.sweep import differentiate
from weir.engine.two_sides import TwoSides, two_sides
from weir.plan.operators import AntiJoin
from weir.sparql.algebra.expressions import Expression


def delta(node: AntiJoin, run: Run) -> exp.Select:
    """The left rows that have no match."""
    sides = two_sides(node, run)
    return unmatched(sides, run.epochs, node.condition, node.overlapping)


def unmatched(
    sides: TwoSides,
    epochs: EpochRange,
    condition: Expression | None,
    overlapping: tuple[str, ...] = (),
) -> exp.Select:
    """The log of the left rows that have no match within `epochs`, not netted."""
    rows = left_rows(sides, condition, column("matches") <= 0, overlapping=overlapping)
    return differentiate(rows, sides.keys.left, epochs)
