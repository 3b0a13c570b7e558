"""Left rows beside the number of their matches, per segment: what semi, anti and mark joins read.

Two measures are swept per left row: how often it is present, and how many compatible right rows
satisfy the condition (the corrected equations of 001, Section 3; fixtures 001-12 and 001-13). A
left row that occurs in the left side's delta, or whose key occurs in the right side's, is touched.
"""

from __future__ import annotations

from sqlglot import exp

from weir.compute.sql import (
    alias,
    all_of,
    any_of,
    column,
    columns,
    greatest,
    inner_join,
    is_not_null,
    least,
    number,
    rows_of,
    select,
    subquery,
    union_all,
)
from weir.engine.relations import INTERVAL
from weir.engine.sweep import ends, sweep
from weir.engine.two_sides import TwoSides
from weir.sparql.algebra.expressions import Expression


def left_rows(
    sides: TwoSides,
    condition: Expression | None,
    *matched: exp.Expr,
    overlapping: tuple[str, ...] = (),
    flag: exp.Alias | None = None,
) -> exp.Select:
    """The intervals of the touched left rows, for as long as they are present.

    Args:
        sides: the sides.
        condition: what a match must satisfy, over the merged solution.
        matched: what must hold of the column `matches`, the number of matches.
        overlapping: variables of which a match must bind one on both sides, if any is named.
        flag: one more column, over `matches`.
    """
    key = sides.keys.left
    present = select(
        *columns((*key, "epoch")),
        alias(column("weight"), "present"),
        alias(number(0), "matches"),
        from_=rows_of(sides.left_log),
    )
    matches = select(
        *columns((*key, "epoch")),
        alias(number(0), "present"),
        alias(column("weight"), "matches"),
        from_=subquery(ends(_matches(sides, condition, overlapping), key), "found"),
    )
    measures = {name: column(name) for name in ("present", "matches")}
    return select(
        *columns((*key, *INTERVAL)),
        alias(column("present"), "weight"),
        *([] if flag is None else [flag]),
        from_=subquery(sweep(union_all([present, matches]), key, measures), "segments"),
        where=[column("present") > 0, *matched],
    )


def _matches(
    sides: TwoSides, condition: Expression | None, overlapping: tuple[str, ...]
) -> exp.Select:
    """The intervals of the pairs that match, in the columns of the left row."""
    keys = sides.keys
    # The condition is about the merged solution, whose columns have the plain names.
    own = keys.left if condition is None else tuple(f"own_{name}" for name in keys.left)
    on = keys.compatible("l", "r")
    if overlapping:
        on.append(any_of([_both_bind(name) for name in overlapping]))
    on.append(column("since", "l") < column("until", "r"))
    on.append(column("since", "r") < column("until", "l"))
    pairs = select(
        *(alias(column(name, "l"), named) for name, named in zip(keys.left, own, strict=True)),
        alias(greatest(column("since", "l"), column("since", "r")), "since"),
        alias(least(column("until", "l"), column("until", "r")), "until"),
        alias(column("weight", "l") * column("weight", "r"), "weight"),
        *([] if condition is None else keys.merged("l", "r")),
        from_=rows_of(sides.left_intervals, "l"),
        joins=[inner_join(rows_of(sides.right_intervals, "r"), *on)],
    )
    if condition is None:
        return pairs
    names = (*own, *INTERVAL, "weight", *keys.variables)
    rows, holds = sides.satisfying(pairs, names, condition)
    return select(
        *(alias(column(named), name) for name, named in zip(keys.left, own, strict=True)),
        *columns((*INTERVAL, "weight")),
        from_=subquery(rows, "pairs"),
        where=[holds],
    )


def _both_bind(name: str) -> exp.Expr:
    return all_of([is_not_null(column(name, "l")), is_not_null(column(name, "r"))])
