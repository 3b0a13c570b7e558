"""Dynamic alpha: exponential weights over a fixed grid, moved by what refreshes find.

The paper leaves it to future work (section 7). A refreshed key *flips* if its new value passes the
filter and its old one did not, or the other way round: the flips are what the budget is for. An arm
is a value of alpha; its reward is the share of pairs, a key that flipped and one that did not,
which its order puts right. Only refreshed keys are compared, with each other: which of the other
keys would have flipped is unknown, and a reward by the position among all of them would favour
the alpha that elected the keys.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weir.remotes.policies.candidates import (
    Candidate,
    Columns,
    Evaluation,
    Rows,
    columns_of,
    tie_order,
)
from weir.remotes.policies.election import order
from weir.remotes.policies.policies import Policy, with_alpha

SHARED = 0.01
"""Part of all weight that is spread evenly after each step: an arm that was bad for a year can be
good again within a day."""


@dataclass(frozen=True, slots=True)
class Arms:
    """The weight of each alpha of a grid; weights add up to 1. Stored from one run to the next."""

    weights: tuple[float, ...]

    def alpha(self, grid: tuple[float, ...]) -> float:
        """The median of the grid under the weights: an arm, and no outlier moves it.

        Raises:
            ValueError: the weights belong to another grid.
        """
        if len(grid) != len(self.weights):
            raise ValueError(f"{len(self.weights)} weights for a grid of {len(grid)}; start over")
        below, half = 0.0, sum(self.weights) / 2 * (1 - 1e-9)
        for alpha, weight in sorted(zip(grid, self.weights, strict=True)):
            below += weight
            if below >= half:
                return alpha
        raise AssertionError("the weights add up to less than half of them")


def equal_arms(policy: Policy) -> Arms:
    """Where learning starts."""
    grid = () if policy.learning is None else policy.learning.grid
    return Arms(tuple(1 / len(grid) for _ in grid))


def at_arms(policy: Policy, arms: Arms) -> Policy:
    """The policy at the alpha that the arms have learned; itself if its alpha is fixed."""
    if policy.learning is None:
        return policy
    return with_alpha(policy, arms.alpha(policy.learning.grid))


def learn(
    policy: Policy,
    arms: Arms,
    candidates: Sequence[Candidate],
    evaluation: Evaluation,
    flips: Mapping[str, bool],
) -> Arms:
    """The weights after a refresh; see `learned`.

    Args:
        candidates: as they were when the keys were elected; those never asked have no say.
        flips: of each key that was elected and answered, whether its answer flipped.
    """
    ordered = tie_order([candidate for candidate in candidates if candidate.asked_at is not None])
    rows = [row for row, candidate in enumerate(ordered) if candidate.key in flips]
    flipped = {row for row in rows if flips[ordered[row].key]}
    refreshed = np.array(rows, dtype=np.intp)
    return learned(policy, arms, columns_of(ordered), evaluation, refreshed, flipped)


def learned(
    policy: Policy,
    arms: Arms,
    candidates: Columns,
    evaluation: Evaluation,
    refreshed: Rows,
    flipped: Collection[int],
) -> Arms:
    """`learn` over columns: each weight is multiplied by exp(rate * (reward - mean reward)).

    Args:
        candidates: those that had been asked before, as they were when the keys were elected.
        refreshed: rows of `candidates` that were elected and answered.
        flipped: those of them whose answer flipped.
    """
    pairs = len(flipped) * (len(refreshed) - len(flipped))
    if policy.learning is None or not pairs:
        return arms
    rewards = []
    for alpha in policy.learning.grid:
        best_first = order(with_alpha(policy, alpha).rule, candidates, evaluation)
        rewards.append(_concordance(best_first, refreshed, flipped) / pairs)
    return _multiplied(arms, rewards, policy.learning.rate)


def _concordance(best_first: Rows, refreshed: Rows, flipped: Collection[int]) -> int:
    """Pairs of refreshed rows, one that flipped and one that did not, with the former first.

    Rows that an arm would never elect come after all others.
    """
    place = {int(row): index for index, row in enumerate(best_first)}
    places = sorted(
        (place.get(int(row), len(place)), int(row) in flipped)  # equal places: no pair
        for row in refreshed
    )
    return sum(
        sum(1 for later, flips in places if later > at and not flips)
        for at, flips_too in places
        if flips_too
    )


def _multiplied(arms: Arms, rewards: list[float], rate: float) -> Arms:
    mean = math.fsum(rewards) / len(rewards)
    moved = np.array(arms.weights) * np.exp(rate * (np.array(rewards) - mean))
    shared = (1 - SHARED) * moved / moved.sum() + SHARED / len(rewards)
    return replace(arms, weights=tuple(float(weight) for weight in shared))
