"""Change intervals that are estimated online."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import mean

import numpy as np
import pytest

from weir.remotes.policies.change_rate import Observed, online_intervals, stale_expected


def intervals(keys: Sequence[Observed]) -> list[float]:
    columns = np.array([[key.answers, key.changed, key.seconds] for key in keys], dtype=float)
    seconds: list[float] = online_intervals(*columns.reshape(len(keys), 3).T).tolist()
    return seconds


def test_answers_accumulate_from_the_second_on() -> None:
    observed = Observed().then(10, True)
    assert observed == Observed(10)
    observed = observed.then(70, True).then(190, False)
    assert observed == Observed(190, answers=2, changed=1, seconds=180)
    assert observed.then(100, False) == Observed(100, answers=3, changed=1, seconds=180)


@pytest.mark.parametrize(
    ("interval", "gap"), [(40.0, 60.0), (300.0, 60.0), (5000.0, 60.0), (5000.0, 600.0)]
)
def test_the_interval_of_a_random_process_is_found_on_average(interval: float, gap: float) -> None:
    """Gaps vary by half; no more than four answers of five are changes."""
    estimates = [intervals([_observed(interval, gap, seed)])[0] for seed in range(10)]
    assert mean(estimates) == pytest.approx(interval, rel=0.15)


def _observed(interval: float, gap: float, seed: int) -> Observed:
    pick = random.Random(seed)
    observed, at = Observed().then(0, False), 0.0
    for _ in range(4000):
        step = gap * pick.uniform(0.5, 1.5)
        at += step
        observed = observed.then(at, pick.random() < 1 - math.exp(-step / interval))
    return observed


def test_a_key_without_answers_has_the_interval_of_all_together() -> None:
    often = Observed(0, answers=1000, changed=632, seconds=60_000)
    new, estimate = intervals([Observed(), often])
    assert new == pytest.approx(60, rel=0.02)
    assert estimate == pytest.approx(60, rel=0.02)


def test_keys_that_changed_always_or_never_have_finite_intervals_in_that_order() -> None:
    always = Observed(0, answers=5, changed=5, seconds=300)
    never = Observed(0, answers=5, changed=0, seconds=300)
    half = Observed(0, answers=4, changed=2, seconds=240)
    estimates = intervals([always, half, never])
    assert estimates == sorted(estimates)
    assert all(0 < estimate < math.inf for estimate in estimates)


def test_nothing_is_known_before_the_first_comparison() -> None:
    assert intervals([Observed(), Observed(5.0)]) == [math.inf, math.inf]
    assert intervals([]) == []


def test_expected_staleness_is_the_sum_of_the_chances_of_a_change() -> None:
    age = np.array([0.0, 60.0, math.inf, 60.0, math.inf])
    interval = np.array([60.0, 60.0, 60.0, math.inf, math.inf])
    assert stale_expected(age, interval) == pytest.approx(0 + (1 - math.exp(-1)) + 1 + 0 + 1)
