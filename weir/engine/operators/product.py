"""Product: solutions of parts that share no variable.

The delta of a product is the telescoped product rule (000, Algorithm 3): with the parts in a fixed
order, the change of one part meets the earlier parts as they are after the epoch and the later ones
as they were before it,

    delta(Q1 x .. x Qn) = sum over i of  new_1 x .. x new_(i-1) x delta_i x old_(i+1) x .. x old_n

which costs as much as the answer's delta is long, where the sequenced join of whole parts would
build the whole product. On interval relations `new` at epoch e is since <= e < until and `old` is
since < e <= until. Every row of a part is touched as soon as another part changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from weir.compute.sql import (
    alias,
    column,
    columns,
    equal,
    inner_join,
    number,
    rows_of,
    select,
    union_all,
)
from weir.engine.relations import EpochRange
from weir.engine.run import ProductOf, Run
from weir.engine.sweep import integrate
from weir.plan.leaves import MEMBER
from weir.plan.operators import Product


@dataclass(frozen=True, slots=True)
class _Part:
    """One part of a product: its variables, the relation of its delta and that of its intervals."""

    variables: tuple[str, ...]
    delta: str
    intervals: str


def delta(node: Product, run: Run) -> exp.Query:
    """The combinations of a row of each part."""
    parts = [_part(node, run, index) for index in range(len(node.children))]
    intervals = tuple(part.intervals for part in parts)
    run.products.append(ProductOf(intervals, node.correlated))
    if not parts:
        return _empty_solution(run.epochs)
    return union_all([_term(parts, changed) for changed in range(len(parts))])


def _part(node: Product, run: Run, index: int) -> _Part:
    child = node.children[index]
    log = run.log(node, child, part=f"state{index}")
    intervals = run.make(run.name(node, f"intervals{index}"), integrate(log, child.variables))
    return _Part(child.variables, run.stored(child), intervals)


def _empty_solution(epochs: EpochRange) -> exp.Select:
    """A product without parts: the empty solution, which holds from the first epoch on."""
    return select(
        alias(number(epochs.start), "epoch"),
        alias(number(1), "weight"),
        where=[] if epochs.from_nothing else [exp.false()],
    )


def _term(parts: Sequence[_Part], changed: int) -> exp.Select:
    """The products of the changes of part `changed` with the others."""
    epoch = column("epoch", "d")
    weight: exp.Expr = column("weight", "d")
    output: list[exp.Expr] = []
    joins = []
    for i, part in enumerate(parts):
        table = "d" if i == changed else f"p{i}"
        member = tuple(name for name in part.variables if name == MEMBER)
        output += columns((name for name in part.variables if i == 0 or name not in member), table)
        if i == changed:
            continue
        since, until = column("since", table), column("until", table)
        new, old = (since <= epoch, epoch < until), (since < epoch, epoch <= until)
        holds = new if i < changed else old
        joins.append(inner_join(rows_of(part.intervals, table), *equal(member, "d", table), *holds))
        weight = weight * column("weight", table)
    return select(
        *output,
        epoch,
        alias(weight, "weight"),
        from_=rows_of(parts[changed].delta, "d"),
        joins=joins,
    )
