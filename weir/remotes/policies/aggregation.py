"""Aggregation of rankings by Borda's method (section 2.2, Eq. 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import assert_never

import numpy as np

from weir.remotes.policies.candidates import Numbers
from weir.remotes.policies.policies import Mode
from weir.remotes.policies.rankings import Ranked, by_value

DIGITS: dict[Mode, int] = {"positions": 6, "minmax": 14}
"""Decimals of an aggregated score. Sums that are equal differ by less in floating point; they are
ties, so that the tie order decides between them."""


def aggregate(weighted: Sequence[tuple[float, Ranked]], mode: Mode) -> Ranked:
    """By the weighted sum of scores.

    A ranking of weight 0 has no say; a single one that has weight keeps its order.
    """
    having = [(weight, ranking) for weight, ranking in weighted if weight > 0]
    if len(having) == 1:
        return having[0][1]
    total: Numbers = np.zeros(len(having[0][1].order))
    for weight, ranking in having:
        total += weight * score(ranking, mode)
    return by_value(np.round(total, DIGITS[mode]))


def score(ranking: Ranked, mode: Mode) -> Numbers:
    """What a ranking gives each row."""
    match mode:
        case "positions":
            return positions(ranking)
        case "minmax":
            return minmax(ranking.value)
        case _:
            assert_never(mode)


def positions(ranking: Ranked) -> Numbers:
    """n - k for the row at position k, from 0, of n."""
    count = len(ranking.order)
    scores = np.empty(count)
    scores[ranking.order] = np.arange(count, 0, -1)
    return scores


def minmax(value: Numbers) -> Numbers:
    """Values scaled to [0, 1]; 1 if all are equal.

    Infinite values are 0 and 1, and the finite ones are scaled among themselves.
    """
    if not len(value):
        return value
    low, high = float(value.min()), float(value.max())
    if low == high:
        return np.ones(len(value))
    if math.isinf(low) or math.isinf(high):
        return _with_infinite(value, high)
    scaled: Numbers = (value - low) / (high - low)
    return scaled


def _with_infinite(value: Numbers, high: float) -> Numbers:
    finite = value[np.isfinite(value)]
    least, most = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    if least < most:
        return np.clip((value - least) / (most - least), 0.0, 1.0)
    # Equal finite values are the best, unless there are infinite ones above them.
    best = value > least if high == math.inf else value >= least
    return best.astype(np.float64)
