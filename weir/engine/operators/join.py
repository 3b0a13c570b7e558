"""Join: compatible solutions of two sides, merged.

Bilinear, so its delta is the product rule (001, Section 3, with multiplicities):

    delta(L join R) = delta L join R as before the epoch  +  L as after the epoch join delta R

which costs as much as the delta is long, given the rows of both sides whose keys occur in a delta.
On interval relations `before` the epoch e is since < e <= until, and `after` it since <= e < until.
https://www.w3.org/TR/sparql11-query/#defn_algJoin
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import (
    alias,
    all_of,
    column,
    columns,
    inner_join,
    rows_of,
    select,
    subquery,
    union_all,
)
from weir.engine.relations import CHANGE
from weir.engine.run import Run
from weir.engine.two_sides import TwoSides, two_sides
from weir.plan.operators import Join
from weir.sparql.algebra.expressions import Expression


def delta(node: Join, run: Run) -> exp.Query:
    """The pairs of compatible rows."""
    return joined(two_sides(node, run))


def joined(sides: TwoSides, condition: Expression | None = None) -> exp.Query:
    """The log of the join within the range, where `condition` holds; not netted."""
    both = union_all([_changed_left(sides), _changed_right(sides)])
    if condition is None:
        return both
    names = (*sides.keys.variables, *CHANGE)
    rows, holds = sides.satisfying(both, names, condition)
    return select(*columns(names), from_=subquery(rows, "joined"), where=[holds])


def _changed_left(sides: TwoSides) -> exp.Select:
    epoch, since, until = column("epoch", "d"), column("since", "o"), column("until", "o")
    before = (since < epoch, epoch <= until)
    return _changed(sides, sides.left_delta, sides.right_intervals, ("d", "o"), before)


def _changed_right(sides: TwoSides) -> exp.Select:
    epoch, since, until = column("epoch", "d"), column("since", "o"), column("until", "o")
    after = (since <= epoch, epoch < until)
    return _changed(sides, sides.right_delta, sides.left_intervals, ("o", "d"), after)


def _changed(
    sides: TwoSides,
    delta: str,
    others: str,
    left_right: tuple[str, str],
    holds: tuple[exp.Expr, exp.Expr],
) -> exp.Select:
    left, right = left_right
    return select(
        *sides.keys.merged(left, right),
        column("epoch", "d"),
        alias(column("weight", "d") * column("weight", "o"), "weight"),
        from_=rows_of(delta, "d"),
        joins=[
            inner_join(rows_of(others, "o"), *sides.keys.compatible(left, right), all_of(holds))
        ],
    )
