"""The search for the fewest steps that have an effect."""

from __future__ import annotations

import random

import pytest

from weir.why.fewest import fewest, searched


@pytest.mark.parametrize("last", [1, 2, 3, 7, 64, 100])
def test_the_least_number_of_steps_is_found_if_more_keep_the_effect(last: int) -> None:
    for least in range(1, last + 1):
        assert searched(lambda steps, least=least: steps >= least, last) == least  # type: ignore[misc]


def test_a_number_is_found_that_has_the_effect_with_its_last_step() -> None:
    for seed in range(200):
        rng = random.Random(seed)
        effects = [False, *(rng.random() < 0.4 for _ in range(rng.randint(1, 40))), True]
        steps = searched(effects.__getitem__, len(effects) - 1)
        assert steps is not None
        assert (effects[steps], effects[steps - 1]) == (True, False)


def test_steps_without_an_effect_are_none() -> None:
    assert searched(lambda _: False, 10) is None


def test_few_are_tried_if_the_first_have_the_effect() -> None:
    tried: list[int] = []
    assert searched(lambda steps: tried.append(steps) or steps >= 2, 100_000) == 2  # type: ignore[func-returns-value]
    assert len(tried) < 4


def test_the_fewest_steps_are_those_that_are_needed_together() -> None:
    wanted = {3, 50, 77}

    def shortest(steps: list[int]) -> int | None:
        return searched(lambda number: wanted <= {*steps[:number]}, len(steps))

    needed = fewest([*range(100)], shortest, 10)  # type: ignore[arg-type]
    assert needed is not None
    assert ({*needed.steps}, needed.is_all) == (wanted, True)
