"""Filter distances: how far a value is from changing the answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

Comparison = Literal["<", "<=", ">", ">=", "="]


@dataclass(frozen=True, slots=True)
class Bound:
    """A condition `?variable comparison threshold` of a FILTER."""

    variable: str
    comparison: Comparison
    threshold: float


def conjunction_distance(bounds: Sequence[Bound], values: Mapping[str, float]) -> float | None:
    """The least d such that changes of at most d per value can flip the conjunction of the bounds.

    With one bound it is FD (Eq. 1). If all hold, the nearest bound counts, whichever it is; if one
    variable fails, only how far that one has to go; if several do, the farthest of them.
    None if a value is missing or no values satisfy the bounds.
    """
    holds: list[float] = []
    fails: list[float] = []
    for variable in {bound.variable: None for bound in bounds}:
        value = values.get(variable)
        if value is None or not math.isfinite(value):
            return None
        own = [bound for bound in bounds if bound.variable == variable]
        low, high = _interval(own)
        if low > high or (low == high and not all(_holds(bound, low) for bound in own)):
            return None
        if all(_holds(bound, value) for bound in own):
            holds.append(min(value - low, high - value))
        else:
            fails.append(max(low - value, value - high, 0.0))
    if fails:
        return max(fails)
    return min(holds, default=None)


def all_hold(bounds: Sequence[Bound], values: Mapping[str, float]) -> bool:
    """Whether all bounds hold; not where a value is missing."""
    return all(b.variable in values and _holds(b, values[b.variable]) for b in bounds)


def least_distance(
    bounds: Sequence[Bound], mappings: Iterable[Mapping[str, float]]
) -> float | None:
    """The distance of a key: that of its nearest mapping; None if none is known."""
    known = (conjunction_distance(bounds, values) for values in mappings)
    return min((distance for distance in known if distance is not None), default=None)


def top_k_distances(
    values: Sequence[float | None], k: int, descending: bool = True
) -> list[float | None]:
    """Distances to the k-th value of `ORDER BY ... LIMIT k`.

    None for missing values, and for all if no more than k are known: then all are in the answer.

    Raises:
        ValueError: k is not positive.
    """
    if k < 1:
        raise ValueError(f"k is {k}; a top-k query has at least one row")
    known = sorted((value for value in values if value is not None), reverse=descending)
    if len(known) <= k:
        return [None] * len(values)
    return [None if value is None else abs(value - known[k - 1]) for value in values]


def _interval(bounds: Sequence[Bound]) -> tuple[float, float]:
    """The least and the largest value that the bounds of a variable leave, ends included."""
    low, high = -math.inf, math.inf
    for bound in bounds:
        if bound.comparison in (">", ">=", "="):
            low = max(low, bound.threshold)
        if bound.comparison in ("<", "<=", "="):
            high = min(high, bound.threshold)
    return low, high


def _holds(bound: Bound, value: float) -> bool:
    match bound.comparison:
        case "<":
            return value < bound.threshold
        case "<=":
            return value <= bound.threshold
        case ">":
            return value > bound.threshold
        case ">=":
            return value >= bound.threshold
        case "=":
            return value == bound.threshold
        case _:
            assert_never(bound.comparison)
