"""Product: solutions of parts that share no variable.

The delta of a product is the telescoped product rule (000, Algorithm 3): with the parts in a fixed
order, the change of one part meets the earlier parts as they are after the epoch and the later ones
as they were before it,

    delta(Q1 x .. x Qn) = sum over i of  new_1 x .. x new_(i-1) x delta_i x old_(i+1) x .. x old_n

which costs as much as the answer's delta is long, where the sequenced join of whole parts would
build the whole product. On interval relations `new` at epoch e is since <= e < until and `old` is
since < e <= until.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from jobs.compute.sql import column, columns, number, rows_of, select, union_all
from jobs.engine.relations import EpochRange


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a product: its variables, the relation of its delta and that of its intervals."""

    variables: tuple[str, ...]
    delta: str
    intervals: str


def product_delta(parts: Sequence[Part], epochs: EpochRange) -> exp.Query:
    """The log of the product of `parts` within `epochs`, not netted.

    A product without parts is the empty solution, which holds from the first epoch on.
    """
    if not parts:
        once = select(
            number(epochs.start).as_("epoch", quoted=True), number(1).as_("weight", quoted=True)
        )
        return once if epochs.from_nothing else once.where(exp.false(), copy=False)
    return union_all([_term(parts, changed) for changed in range(len(parts))])


def _term(parts: Sequence[Part], changed: int) -> exp.Select:
    """The products of the changes of part `changed` with the others."""
    epoch = column("epoch", "d")
    weight: exp.Expr = column("weight", "d")
    term = select().from_(rows_of(parts[changed].delta).as_("d"), copy=False)
    output: list[exp.Expr] = []
    for i, part in enumerate(parts):
        alias = "d" if i == changed else f"p{i}"
        output += columns(part.variables, alias)
        if i == changed:
            continue
        since, until = column("since", alias), column("until", alias)
        if i < changed:
            holds = exp.and_(since <= epoch.copy(), epoch.copy() < until)
        else:
            holds = exp.and_(since < epoch.copy(), epoch.copy() <= until)
        term = term.join(
            rows_of(part.intervals).as_(alias), on=holds, join_type="inner", copy=False
        )
        weight = weight * column("weight", alias)
    return term.select(*output, epoch.copy(), weight.as_("weight", quoted=True), copy=False)
