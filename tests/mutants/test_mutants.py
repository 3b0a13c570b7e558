"""Every mutant applies to the current code, and some of each area are killed.

`python -m tests.mutants` runs all.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.areas import AREAS
from tests.mutants.mutant import Mutant
from tests.support.laws import FIRST_SEED, Seeds

PROJECT = Path(__file__).parents[2]
MUTANTS = [mutant for mutants in AREAS.values() for mutant in mutants]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_the_current_code(mutant: Mutant) -> None:
    source = (PROJECT / mutant.path).read_text()
    broken = mutant.apply(source)
    assert ast.dump(ast.parse(broken)) != ast.dump(ast.parse(source))


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_tests_that_must_kill_a_mutant_exist(mutant: Mutant) -> None:
    assert mutant.tests
    assert all((PROJECT / test.partition("::")[0]).is_file() for test in mutant.tests)


def test_names_of_mutants_are_unique() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.usefixtures("processes")
@pytest.mark.law("mutants")
def test_a_mutant_of_each_area_is_killed(seeds: Seeds) -> None:
    """Seeds in a row are of one area after the other."""
    seed = seeds.one()
    area = [*AREAS][seed % len(AREAS)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutants", "--of", area, "--most", "1", "--known"],
        cwd=PROJECT,
        env={**os.environ, FIRST_SEED: str(seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
