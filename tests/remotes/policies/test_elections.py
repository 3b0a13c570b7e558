"""Elections against the exact oracle, and their laws."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.support.laws import Seeds
from tests.support.refresh.cases import election_case
from tests.support.refresh.laws import broken_laws
from weir.remotes.policies.aggregation import minmax
from weir.remotes.policies.candidates import Candidate, Evaluation
from weir.remotes.policies.election import elect
from weir.remotes.policies.policy_text import policy_of


@pytest.mark.law("elections")
def test_random_elections_agree_with_the_oracle_and_keep_their_laws(seeds: Seeds) -> None:
    seeds.check(lambda seed: broken_laws(election_case(seed)))


def test_random_orders_depend_on_seed_and_instant() -> None:
    candidates = [Candidate(f"k{number:02}", asked_at=0.0) for number in range(30)]

    def order(seed: int, at: float) -> tuple[Candidate, ...]:
        policy = policy_of("RND", {"seed": seed})
        return elect(policy, candidates, Evaluation(at, None, 60), 30)

    assert order(1, 60) == order(1, 60)
    assert order(1, 60) != order(2, 60)
    assert order(1, 60) != order(1, 120)
    assert {*order(1, 60)} == {*candidates}


def test_every_key_has_the_same_chance_in_a_random_order() -> None:
    candidates = [Candidate(f"k{number}", asked_at=0.0) for number in range(4)]
    policy = policy_of("RND")
    first = [elect(policy, candidates, Evaluation(at, None, 60), 1)[0].key for at in range(4000)]
    assert all(900 < first.count(candidate.key) < 1100 for candidate in candidates)


def test_keys_never_asked_get_their_share_while_others_wait() -> None:
    never = [Candidate(f"n{number}") for number in range(9)]
    asked = [Candidate(f"a{number}", asked_at=float(number)) for number in range(9)]

    def shares(budget: int, share: float) -> tuple[int, int]:
        policy = policy_of("LRU", {"first_share": share})
        elected = elect(policy, never + asked, Evaluation(100, None, 60), budget)
        assert [*elected] == sorted(elected, key=lambda candidate: candidate.asked_at is not None)
        first = sum(candidate.asked_at is None for candidate in elected)
        return first, len(elected) - first

    assert shares(6, 0.5) == (3, 3)
    assert shares(7, 0.5) == (3, 4)
    assert shares(1, 0.5) == (1, 0)
    assert shares(6, 0) == (0, 6)
    assert shares(12, 0) == (3, 9)
    assert shares(12, 0.1) == (3, 9)
    assert shares(12, 1) == (9, 3)


def test_keys_never_asked_come_by_tie_then_by_how_long_they_are_needed() -> None:
    keys = [
        Candidate("seen long ago", last_seen=1.0),
        Candidate("just seen", last_seen=9.0),
        Candidate("failed before", last_seen=9.0, tie=1),
    ]
    elected = elect(policy_of("LRU"), keys, Evaluation(10, 60, 60), 3)
    assert [candidate.key for candidate in elected] == [
        "just seen",
        "seen long ago",
        "failed before",
    ]


def test_a_band_elects_keys_of_unknown_distance_after_those_inside() -> None:
    keys = [
        Candidate("unknown", asked_at=0.0, distances=(None,)),
        Candidate("outside", asked_at=1.0, distances=(50.0,)),
        Candidate("inside", asked_at=2.0, distances=(5.0,)),
    ]
    elected = elect(policy_of("LRU.F", {"fdt": 10}), keys, Evaluation(10, None, 60), 3)
    assert [candidate.key for candidate in elected] == ["inside", "unknown"]


def test_a_clock_that_was_set_back_gives_age_zero() -> None:
    keys = [Candidate("later", asked_at=20.0), Candidate("now", asked_at=10.0)]
    elected = elect(policy_of("LRU"), keys, Evaluation(10, None, 60), 2)
    assert [candidate.key for candidate in elected] == ["later", "now"]


def test_sums_that_are_equal_are_ties() -> None:
    """Positions 5 and 2 against 1 and 3: 0.2 * 1 + 0.8 * 3 is 2.6000000000000005 here, not 2.6."""
    positions = [(5, 2), (1, 3), (2, 5), (3, 4), (4, 1)]
    keys = [
        Candidate(f"k{number}", asked_at=5.0 - asked, distances=(5.0 - distance,))
        for number, (distance, asked) in enumerate(positions)
    ]
    policy = policy_of("LRU.F+", {"mode": "positions", "alpha": 0.2})
    elected = elect(policy, keys, Evaluation(10, None, 60), 5)
    assert [candidate.key for candidate in elected] == ["k2", "k3", "k0", "k1", "k4"]


def test_infinite_values_are_the_ends_of_minmax() -> None:
    assert minmax(np.array([1.0, 3.0, math.inf, -math.inf, 2.0])).tolist() == [0, 1, 1, 0, 0.5]
    assert minmax(np.array([5.0, 5.0, -math.inf])).tolist() == [1, 1, 0]
    assert minmax(np.array([5.0, 5.0, math.inf])).tolist() == [0, 0, 1]
    assert minmax(np.array([math.inf, -math.inf])).tolist() == [1, 0]
    assert minmax(np.array([math.inf, math.inf])).tolist() == [1, 1]


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        elect(policy_of("LRU"), [], Evaluation(0, None, 60), -1)


def test_candidates_with_different_filters_are_refused() -> None:
    keys = [Candidate("a", 0.0, distances=(1.0,)), Candidate("b", 0.0)]
    with pytest.raises(ValueError, match="give each one per filter"):
        elect(policy_of("LRU"), keys, Evaluation(0, None, 60), 1)


def test_an_interval_that_is_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="not positive"):
        Candidate("a", interval=0.0)
