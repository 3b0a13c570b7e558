"""Join: compatible solutions of two sides, merged.

Bilinear, so its delta is the product rule (001, Section 3, with multiplicities):

    delta(L join R) = delta L join R as before the epoch  +  L as after the epoch join delta R

which costs as much as the delta is long, given the rows of both sides whose keys occur in a delta.
On interval relations `before` the epoch e is since < e <= until, and `after` it since <= e < until.
https://www.w3.org/TR/sparql11-query/#defn_algJoin
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from jobs.compute.sql import column, columns, rows_of, select, union_all
from jobs.engine.compatible import Sides
from jobs.engine.conditions import condition_sql
from jobs.sparql.algebra.expressions import Expression

_LOG = ("epoch", "weight")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sides and their relations, of the rows that the changes touch.

    Logs and intervals are from the state at the beginning of the range on.
    """

    sides: Sides
    left_delta: str
    right_delta: str
    left_log: str
    left_intervals: str
    right_intervals: str


def join_delta(pair: Pair, condition: Expression | None = None) -> exp.Query:
    """The log of the join within the range, where `condition` holds; not netted."""
    both = union_all([_changed_left(pair), _changed_right(pair)])
    if condition is None:
        return both
    names = pair.sides.variables
    return (
        select(*columns((*names, *_LOG)))
        .from_(both.subquery("joined", copy=False), copy=False)
        .where(condition_sql(condition, frozenset(names)), copy=False)
    )


def _changed_left(pair: Pair) -> exp.Select:
    epoch = column("epoch", "d")
    before = exp.and_(column("since", "o") < epoch, epoch.copy() <= column("until", "o"))
    return _changed(pair, pair.left_delta, pair.right_intervals, ("d", "o"), before)


def _changed_right(pair: Pair) -> exp.Select:
    epoch = column("epoch", "d")
    after = exp.and_(column("since", "o") <= epoch, epoch.copy() < column("until", "o"))
    return _changed(pair, pair.right_delta, pair.left_intervals, ("o", "d"), after)


def _changed(
    pair: Pair, delta: str, others: str, left_right: tuple[str, str], holds: exp.Expr
) -> exp.Select:
    left, right = left_right
    weight = column("weight", "d") * column("weight", "o")
    return (
        select(*pair.sides.merged(left, right))
        .select(column("epoch", "d"), weight.as_("weight", quoted=True), copy=False)
        .from_(rows_of(delta).as_("d"), copy=False)
        .join(
            rows_of(others).as_("o"),
            on=exp.and_(*pair.sides.compatible(left, right), holds),
            join_type="inner",
            copy=False,
        )
    )
