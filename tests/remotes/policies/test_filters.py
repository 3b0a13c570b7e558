"""Filter distances: the least change of values that can flip the answer."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

import pytest

from weir.sparql.algebra.filter_distances import (
    Bound,
    Comparison,
    conjunction_distance,
    least_distance,
    top_k_distances,
)

COMPARISONS: tuple[Comparison, ...] = ("<", "<=", ">", ">=", "=")
HOLDS = {
    "<": lambda value, threshold: value < threshold,
    "<=": lambda value, threshold: value <= threshold,
    ">": lambda value, threshold: value > threshold,
    ">=": lambda value, threshold: value >= threshold,
    "=": lambda value, threshold: value == threshold,
}


def test_one_bound_has_the_distance_of_the_paper() -> None:
    assert conjunction_distance([Bound("x", ">", 100_000)], {"x": 99_950}) == 50
    assert conjunction_distance([Bound("x", "<", 100_000)], {"x": 99_950}) == 50
    assert conjunction_distance([Bound("x", ">", 100_000)], {"x": 100_000}) == 0


def test_if_all_hold_the_nearest_bound_counts_and_otherwise_those_that_fail() -> None:
    bounds = [Bound("x", ">", 10), Bound("y", "<", 5)]
    assert conjunction_distance(bounds, {"x": 13, "y": 4}) == 1
    assert conjunction_distance(bounds, {"x": 3, "y": 4}) == 7
    assert conjunction_distance(bounds, {"x": 3, "y": 9}) == 7


@pytest.mark.parametrize("seed", range(300))
def test_no_smaller_change_flips_the_conjunction_and_a_little_more_does(seed: int) -> None:
    """Every change of at most d on a grid of quarters."""
    pick = random.Random(seed)
    variables = ("x", "y")[: pick.choice((1, 2))]
    bounds = [
        Bound(pick.choice(variables), pick.choice(COMPARISONS), pick.randrange(5))
        for _ in range(pick.choice((1, 2, 3)))
    ]
    used = sorted({bound.variable for bound in bounds})
    values = {variable: float(pick.randrange(-1, 6)) for variable in used}
    distance = conjunction_distance(bounds, values)
    if distance is None:
        assert not _all_hold(bounds, values)
        assert not _flips(bounds, values, 12)
        return
    assert _flips(bounds, values, distance + 0.25)
    assert distance < 0.25 or not _flips(bounds, values, distance - 0.25)


def _all_hold(bounds: Sequence[Bound], values: Mapping[str, float]) -> bool:
    return all(HOLDS[bound.comparison](values[bound.variable], bound.threshold) for bound in bounds)


def _flips(bounds: Sequence[Bound], values: Mapping[str, float], most: float) -> bool:
    steps = [step / 4 for step in range(round(-4 * most), round(4 * most) + 1)]
    names = sorted(values)
    return any(
        _all_hold(bounds, {name: values[name] + by for name, by in zip(names, change, strict=True)})
        != _all_hold(bounds, values)
        for change in itertools.product(steps, repeat=len(names))
    )


def test_missing_values_and_bounds_that_exclude_each_other_have_no_distance() -> None:
    bounds = [Bound("x", ">", 10), Bound("y", "<", 5)]
    assert conjunction_distance(bounds, {"x": 13}) is None
    assert conjunction_distance([Bound("x", ">", 10), Bound("x", "<", 10)], {"x": 3}) is None
    assert conjunction_distance([], {"x": 3}) is None


def test_the_distance_of_a_key_is_that_of_its_nearest_mapping() -> None:
    bounds = [Bound("x", ">", 10)]
    assert least_distance(bounds, [{"x": 3}, {"x": 9}, {}]) == 1
    assert least_distance(bounds, [{}]) is None
    assert least_distance(bounds, []) is None


def test_top_k_measures_the_distance_to_the_kth_value() -> None:
    assert top_k_distances([5, 1, 9, None, 7], 2) == [2, 6, 2, None, 0]
    assert top_k_distances([5, 1, 9, None, 7], 2, descending=False) == [0, 4, 4, None, 2]
    assert top_k_distances([5, 1, None], 2) == [None, None, None]
    with pytest.raises(ValueError, match="at least one row"):
        top_k_distances([5], 0)
