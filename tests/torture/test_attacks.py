"""The short forms of attacks on storage and by time; docs/reliability.md has the long ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.support.laws import first_seed
from tests.torture.lived import Lived, lived
from tests.torture.side_by_side import LEASE, Attack, at_once, zombie
from tests.torture.storage import Storage


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """A short life with everything; what is attacked in it moves with the commit."""
    with lived(tmp_path_factory.mktemp("life"), "short", 4, lease_seconds=LEASE) as life:
        yield life


def test_damage_of_a_log_is_named_or_without_effect_and_loses_nothing(
    life: Lived, tmp_path: Path
) -> None:
    lines: list[str] = []
    storage = Storage(tmp_path, first_seed(), lines.append)
    storage.flip(life, first_seed())
    storage.scenario(life, first_seed())
    assert storage.tally.is_good, "\n".join(lines)


@pytest.mark.parametrize("attack", [zombie, at_once])
def test_neither_zombies_nor_runs_at_once_lose_or_repeat_anything(
    life: Lived, tmp_path: Path, attack: Attack
) -> None:
    for number in count(first_seed()):
        came = attack(life, tmp_path / f"{number}", random.Random(number))
        if came is not None:
            what, wrong = came
            assert not wrong, (number, what, wrong)
            return
