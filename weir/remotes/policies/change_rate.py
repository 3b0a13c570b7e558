"""How often a key changes, estimated from what its refreshes found.

A refresh sees whether a key changed since the one before, not how often. For changes at rate r that
are independent of each other, P(changed within d seconds) = 1 - exp(-r d); so from n answers after
a mean gap g, of which x found a change, r = -ln(1 - x/n) / g. All keys together are one more answer
of each key: without it a key that changed always, or never yet, would have no finite interval.

The paper does not say where WBM's change rates come from; its authors' program counted the changes
of the whole trace, later ones included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weir.remotes.policies.candidates import Numbers


@dataclass(frozen=True, slots=True)
class Observed:
    """What the refreshes of one key found.

    Attributes:
        asked_at: of the latest, seconds; None: never asked.
        answers: refreshes after the first one, which has nothing to compare with.
        changed: those of them that found another answer than the one before.
        seconds: the sum of their gaps.
    """

    asked_at: float | None = None
    answers: int = 0
    changed: int = 0
    seconds: float = 0.0

    def then(self, asked_at: float, changed: bool) -> Observed:
        """After one more answer. A gap is at least 0, even if the clock was set back."""
        if self.asked_at is None:
            return Observed(asked_at)
        gap = max(asked_at - self.asked_at, 0.0)
        return Observed(asked_at, self.answers + 1, self.changed + changed, self.seconds + gap)


def online_intervals(answers: Numbers, changed: Numbers, seconds: Numbers) -> Numbers:
    """Mean seconds between changes per key, from the columns of `Observed`, one entry per key.

    Infinite for all keys until one of them has been asked twice.
    """
    total_answers, total_seconds = float(answers.sum()), float(seconds.sum())
    if not total_seconds > 0:
        return np.full(len(answers), np.inf)
    pooled = -math.log1p(-(float(changed.sum()) + 0.5) / (total_answers + 1))
    rate = pooled * total_answers / total_seconds
    mean_gap = total_seconds / total_answers
    gap = np.where(seconds > 0, seconds, mean_gap) / np.where(seconds > 0, answers, 1.0)
    share = (changed - np.expm1(-rate * gap)) / (answers + 1)
    return np.asarray(-gap / np.log1p(-np.minimum(share, 1 - 1e-12)), dtype=np.float64)


def stale_expected(age: Numbers, interval: Numbers) -> float:
    """How many keys are expected to have changed since they were asked: sum of 1 - exp(-age / I).

    Keys not known to change count 0; keys that were never asked (infinite age) 1.
    """
    with np.errstate(invalid="ignore"):
        exponent = np.where(np.isinf(age), np.inf, age / interval)
    return float(-np.expm1(-exponent).sum()) + 0.0  # not -0.0
