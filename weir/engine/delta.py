"""The delta of each operator over a range of epochs: the table of contents of the engine.

The one rule (docs/concepts.md):

    delta of an operator over (after, last]
        = differentiate( sequenced operator( children restricted to what the changes touch ) )

Why this is exact. `differentiate` looks only at ends of intervals within the range. A row of an
operator's result has such an end only if one of the rows it is made from has: a triple (for a
segment), or a row of a child with the same key (for an operator with memory). So leaving out rows
of untouched keys loses no end; and rows of touched keys are complete, from the beginning on, so
every end that is found is where it belongs. Complete means: with all that decides on the row. For
OPTIONAL, MINUS and EXISTS that is every match of a touched left row, with any key: compatible
rows need not be compatible with each other. Row-wise operators are linear and map their child's
delta.

* A segment reads the graph: its touched rows are the neighbourhood of the changes.
* An operator with memory reads the stored logs of its children, restricted to the keys that occur
  in their deltas. Its module has its equation and its keys.
"""

from __future__ import annotations

from typing import assert_never

from sqlglot import exp

from weir.engine.operators import (
    anti_join,
    ask,
    closure,
    component,
    distinct,
    extend,
    filter,
    group,
    instantiate,
    join,
    left_join,
    mark_join,
    product,
    project,
    semi_join,
    slice,
    union,
    values,
)
from weir.engine.run import Run
from weir.plan import leaves, operators
from weir.plan.operators import PlanNode


def delta(node: PlanNode, run: Run) -> exp.Query:
    """The log of `node` within the range of `run`, not netted."""
    match node:
        case leaves.Component():
            return component.delta(node, run)
        case leaves.Values():
            return values.delta(node, run)
        case operators.Product():
            return product.delta(node, run)
        case operators.Join():
            return join.delta(node, run)
        case operators.LeftJoin():
            return left_join.delta(node, run)
        case operators.SemiJoin():
            return semi_join.delta(node, run)
        case operators.AntiJoin():
            return anti_join.delta(node, run)
        case operators.MarkJoin():
            return mark_join.delta(node, run)
        case operators.Union():
            return union.delta(node, run)
        case operators.Filter():
            return filter.delta(node, run)
        case operators.Extend():
            return extend.delta(node, run)
        case operators.Project():
            return project.delta(node, run)
        case operators.Distinct():
            return distinct.delta(node, run)
        case operators.Group():
            return group.delta(node, run)
        case operators.Slice():
            return slice.delta(node, run)
        case operators.Closure():
            return closure.delta(node, run)
        case operators.Ask():
            return ask.delta(node, run)
        case operators.Instantiate():
            return instantiate.delta(node, run)
        case _:
            assert_never(node)
