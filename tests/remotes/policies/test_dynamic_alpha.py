"""Dynamic alpha: weights follow the arms that put flipped keys first."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from weir.remotes.policies.candidates import Candidate, Columns, Evaluation, columns_of, tie_order
from weir.remotes.policies.dynamic_alpha import Arms, at_arms, equal_arms, learn, learned
from weir.remotes.policies.election import elect, elected_rows
from weir.remotes.policies.policies import Aggregated, Policy, with_alpha
from weir.remotes.policies.policy_text import policy_of

GRID = (0.1, 0.5, 0.9)
NOW = Evaluation(1000.0, None, 60.0)


def dynamic(**options: object) -> Policy:
    return policy_of("LRU.F+", {"alpha": "dynamic", "grid": list(GRID)} | options)


def columns(seed: int) -> Columns:
    pick = random.Random(seed)
    return columns_of(
        [
            Candidate(f"k{number:02}", float(pick.randrange(1000)), distances=(pick.random(),))
            for number in range(40)
        ]
    )


@pytest.mark.parametrize(("flips_by", "alpha"), [("age", 0.9), ("distance", 0.1)])
@pytest.mark.parametrize("side", ["acqua", "filter"])
def test_weights_move_to_the_arm_that_orders_flips_best(
    flips_by: str, alpha: float, side: str
) -> None:
    policy = dynamic(alpha_on=side)
    arms = equal_arms(policy)
    assert arms.alpha(GRID) == 0.5
    for seed in range(60):
        candidates = columns(seed)
        rows = elected_rows(at_arms(policy, arms), candidates, NOW, 8)
        by = candidates.asked_at if flips_by == "age" else candidates.distances[:, 0]
        flipped = set(rows[np.argsort(by[rows])[:3]].tolist())
        arms = learned(policy, arms, candidates, NOW, rows, flipped)
    assert math.isclose(sum(arms.weights), 1)
    assert arms.alpha(GRID) == pytest.approx(alpha if side == "acqua" else 1 - alpha)


@pytest.mark.parametrize("flipped", [set(), {0, 1, 2}])
def test_nothing_is_learned_if_no_refreshed_key_flipped_or_all_did(flipped: set[int]) -> None:
    policy = dynamic()
    arms = Arms((0.2, 0.3, 0.5))
    assert learned(policy, arms, columns(1), NOW, np.arange(3), flipped) is arms


def test_arms_that_order_the_refreshed_keys_alike_keep_their_relation() -> None:
    """Oldest and nearest at once: every alpha puts the flipped key first."""
    keys = [Candidate(f"k{n}", float(n), distances=(float(n),)) for n in range(5)]
    policy, arms = dynamic(), Arms((1 / 3, 1 / 3, 1 / 3))
    after = learned(policy, arms, columns_of(tie_order(keys)), NOW, np.arange(3), {0})
    assert after.weights == pytest.approx(arms.weights)


def test_learning_by_key_is_learning_by_row() -> None:
    """Candidates in any order; a key that had never been asked has no say."""
    keys = [
        Candidate(f"k{n:02}", float(n * 37 % 11), distances=(float(n * 17 % 13),))
        for n in range(11)
    ]
    policy, arms = dynamic(), equal_arms(dynamic())
    flips = {"k03": True, "k07": False, "k08": True, "new": True}
    by_key = learn(policy, arms, [*keys[::-1], Candidate("new", distances=(1.0,))], NOW, flips)
    rows = np.array([3, 7, 8])
    assert by_key == learned(policy, arms, columns_of(tie_order(keys)), NOW, rows, {3, 8})
    assert by_key != arms


def test_no_weight_is_lost_for_good() -> None:
    policy, arms = dynamic(learning_rate=50), equal_arms(dynamic())
    for seed in range(100):
        candidates = columns(seed)
        rows = elected_rows(at_arms(policy, arms), candidates, NOW, 8)
        flipped = {int(rows[np.argmin(candidates.asked_at[rows])])}
        arms = learned(policy, arms, candidates, NOW, rows, flipped)
    assert min(arms.weights) > 0.003


def test_a_policy_at_an_arm_elects_what_a_fixed_alpha_does() -> None:
    keys = [
        Candidate(f"k{n}", float(n * 37 % 11), distances=(float(n * 17 % 13),)) for n in range(11)
    ]
    for alpha in GRID:
        fixed = policy_of("LRU.F+", {"alpha": alpha})
        assert elect(with_alpha(dynamic(), alpha), keys, NOW, 4) == elect(fixed, keys, NOW, 4)


def test_expired_keys_stay_first_at_every_arm() -> None:
    policy = policy_of("WBM.F*", {"alpha": "dynamic", "fill": False})
    rule = with_alpha(policy, 0.3).rule
    assert isinstance(rule, Aggregated)
    assert (rule.expired_first, rule.fill) == (True, False)


def test_weights_of_another_grid_and_fixed_alphas_are_refused() -> None:
    with pytest.raises(ValueError, match="2 weights for a grid of 3"):
        Arms((0.5, 0.5)).alpha(GRID)
    with pytest.raises(ValueError, match="is not dynamic"):
        with_alpha(policy_of("LRU.F+"), 0.1)
    fixed = policy_of("LRU.F+")
    assert at_arms(fixed, equal_arms(fixed)) is fixed
