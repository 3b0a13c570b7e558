"""Ask: one solution at every epoch, true or false.

    delta Ask(C) = +true -false where the empty solution appears, -true +false where it vanishes

and false from the first epoch on; C is the set of empty solutions.
In the plan of a group, one solution for each member.
https://www.w3.org/TR/sparql11-query/#ask
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import (
    alias,
    case,
    column,
    columns,
    number,
    rows_of,
    select,
    subquery,
    text,
    union_all,
)
from weir.engine.relations import CHANGE
from weir.engine.run import Run
from weir.engine.sweep import plus_and_minus
from weir.engine.terms import FALSE, TRUE
from weir.plan.operators import Ask


def delta(node: Ask, run: Run) -> exp.Query:
    """`true` while the child has a solution, `false` otherwise."""
    own = node.child.variables
    signed = select(
        *columns((*own, *CHANGE)),
        alias(plus_and_minus(), "sign"),
        from_=subquery(run.child(node.child), "child"),
    )
    truth = case((column("sign").eq(1), text(TRUE)), otherwise=text(FALSE))
    flips = select(
        *columns(own),
        alias(truth, node.variable),
        column("epoch"),
        alias(column("sign") * column("weight"), "weight"),
        from_=subquery(signed, "signed"),
    )
    if not run.epochs.from_nothing:
        return flips
    at_first = select(
        *columns(own),
        alias(text(FALSE), node.variable),
        alias(number(run.epochs.start), "epoch"),
        alias(number(1), "weight"),
        from_=rows_of(run.members) if own else None,
    )
    return union_all([flips, at_first])
